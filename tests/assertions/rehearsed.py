"""A checkout run against the kit's stand-ins: its calls, and the contracts that it broke."""

import functools
import json
import os
import pathlib
import sys
import tempfile

KIT = pathlib.Path(__file__).resolve().parents[2] / "rehearsal"
sys.path.append(str(KIT / "tests"))

from programs import run  # noqa: E402

# The original machine's accelerator: `cpu`, or `cuda` to check the GPU's path.
MACHINE = os.environ.get("STAND_IN_MACHINE", "cpu")
MODULES = {
    "home": [], "ipu": ["ipu"], "popdist": ["ipu", "popdist"], "rdu": ["rdu"],
    "tensorflow": ["tf"], "tensorflow-ipu": ["popdist", "tf_ipu", "tf"],
}


def poprun(instance=0, instances=2, local=2):
    return {
        "POPDIST_NUM_TOTAL_REPLICAS": str(instances * local), "POPDIST_NUM_LOCAL_REPLICAS": str(local),
        "POPDIST_REPLICA_INDEX_OFFSET": str(instance * local), "POPDIST_NUM_IPUS_PER_REPLICA": "1",
    }


def lines(path):
    """One JSON value per line; the file does not exist if the program imported nothing that writes it."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


class Run:
    """`broken`: rule → faults; `kept`: rules; `calls`: (name, details); `error`: the last line, if the program failed."""

    def __init__(self, root, command, target="home", folder=None, env=None):
        program, *arguments = command
        root = pathlib.Path(root).resolve()
        with tempfile.TemporaryDirectory() as own:
            self.folder = pathlib.Path(folder or own)
            paths = ["recorder", "base", *MODULES[target]]
            environment = {
                **{k: v for k, v in os.environ.items() if not k.startswith("POPDIST_")},
                "STAND_IN_MACHINE": MACHINE if target == "home" else "cpu", "STAND_IN_CONTRACTS": str(pathlib.Path(own) / "contracts"),
                "STAND_IN_CALLS": str(pathlib.Path(own) / "calls"), **(env or {}),
            }
            status, errors = run([str(root / program), *arguments], self.folder, environment, [str(KIT / path) for path in paths])
            self.error = (errors.strip().splitlines() or ["?"])[-1] if status else ""
            rules = lines(pathlib.Path(own) / "contracts")
            self.broken = {rule["rule"]: rule["broken"] for rule in rules if rule["broken"]}
            self.kept = {rule["rule"] for rule in rules if rule["kept"]}
            self.calls = [tuple(call) for call in lines(pathlib.Path(own) / "calls")]

    def count(self, name):
        return sum(called == name for called, _ in self.calls)

    def details(self, name):
        return [details for called, details in self.calls if called == name]

    def faults(self, *rules):
        """Messages of the violations of these rules."""
        return [f"{pathlib.Path(f['file']).name}:{f['line']} {f['why']}" for rule in rules for f in self.broken.get(rule, [])]

    def lost(self, *rules):
        """The violations, or that the rule was not exercised."""
        return self.faults(*rules) or [f"{rule} never came up{': ' + self.error if self.error else ''}" for rule in rules if rule not in self.kept]


@functools.lru_cache(maxsize=None)
def at_home(root, command):
    """A run on a machine without the vendor's software."""
    return Run(root, command)


def same_calls(before, after):
    """Where the calls of two runs differ; gradients in validation may be missing."""
    told = [[(name, {k: v for k, v in details.items() if k != "grad"}) for name, details in run.calls] for run in (before, after)]
    if before.error or after.error:
        return [] if before.error == after.error else [f"it ended with {after.error or 'nothing'}, and with {before.error or 'nothing'} before"]
    if told[0] == told[1]:
        return []
    at = next((i for i, (a, b) in enumerate(zip(*told)) if a != b), min(map(len, told)))
    return [f"call {at} was {told[0][at:at + 1]} and is {told[1][at:at + 1]}"]


def command_line(arguments, usage):
    """BEFORE AFTER -- HOME… -- TARGET…: two folders, the command on the original machine and on the target, which may contain further `--`; None for any other form."""
    if arguments.count("--") < 2 or arguments.index("--") != 2:
        print(usage.strip(), file=sys.stderr)
        return None
    rest = arguments[3:]
    cut = rest.index("--")
    return arguments[0], arguments[1], rest[:cut], rest[cut + 1 :]
