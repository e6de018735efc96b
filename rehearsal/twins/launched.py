"""The command of a launch script: which program it starts, with what arguments and variables, and how many processes.

    poprun --num-instances 2 --num-replicas 4 python3 train.py --epochs 1
    PT_HPU_LAZY_MODE=1 mpirun -n 8 python3 -u train.py

A launcher's options are not all known, so the program is the first word behind it that names a Python file, launchers' own apart.
"""

import os
import re

ASSIGNED = re.compile(r"[A-Za-z_]\w*=")
PYTHON = re.compile(r"python(\d(\.\d+)?)?(\.exe)?")

# Launcher → its options for processes (on one machine), machines and replicas. Each follows its own documentation.
LAUNCHERS = {
    "poprun": (("--num-instances",), (), ("--num-replicas",)),
    "mpirun": (("-n", "-np", "--np", "-c", "--n"), (), ()),
    "mpiexec": (("-n", "-np", "--np", "--n"), (), ()),
    "srun": (("-n", "--ntasks"), (), ()),
    "torchrun": (("--nproc-per-node", "--nproc_per_node"), ("--nnodes",), ()),
    "torch.distributed.run": (("--nproc-per-node", "--nproc_per_node"), ("--nnodes",), ()),
    "torch.distributed.launch": (("--nproc-per-node", "--nproc_per_node"), ("--nnodes",), ()),
    "gaudi_spawn.py": (("--world_size", "--world-size"), (), ()),
    "deepspeed": (("--num_gpus", "--num_accelerators"), ("--num_nodes",), ()),
    "accelerate": (("--num_processes", "--num-processes"), (), ()),
}


class Command:
    """A command, read. `processes` and `replicas` are 0 where it does not say."""

    def __init__(self, program, arguments, environment, processes, replicas):
        self.program, self.arguments, self.environment = program, arguments, environment
        self.processes, self.replicas = processes, replicas


def is_command(words):
    """Whether words are a command, and not a script with its arguments: behind assignments a launcher or Python comes first."""
    first = next((os.path.basename(word) for word in words if not ASSIGNED.match(word) and word != "env"), "")
    return PYTHON.fullmatch(first) is not None or first in LAUNCHERS


def read(words):
    """The `Command` of these words; a ValueError says what is missing."""
    words, environment = list(words), {}
    while words and (ASSIGNED.match(words[0]) or words[0] == "env"):
        name, _, value = words.pop(0).partition("=")
        if name != "env":
            environment[name] = value
    place = next((number for number, word in enumerate(words) if _is_program(word)), None)
    if place is None:
        raise ValueError("this command does not start a Python file: " + " ".join(words))
    front = words[:place]
    processes = machines = replicas = 0
    for number, word in enumerate(front):
        options = LAUNCHERS.get(os.path.basename(word))
        if options:
            processes, machines, replicas = (_number(front[number + 1 :], names) for names in options)
    return Command(words[place], words[place + 1 :], environment, processes * max(machines, 1), replicas)


def _is_program(word):
    return word.endswith(".py") and not word.startswith("-") and os.path.basename(word) not in LAUNCHERS


def _number(words, names):
    """The value of an option, as `--name 2` or `--name=2`; 0 where it is not given as a number."""
    for word, following in zip(words, [*words[1:], ""]):
        name, joined, value = word.partition("=")
        if name in names:
            value = value if joined else following
            return int(value) if value.isdigit() else 0
    return 0
