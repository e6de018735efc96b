#!/usr/bin/env python3
"""Rehearse a port on this machine: run a training script against stand-ins of the vendor's software.

    python3 rehearse.py --target ipu -- train.py --epochs 1
    python3 rehearse.py --target ipu --twin original.py -- train.py --epochs 1
    python3 rehearse.py --target ipu --project port --twin original -- train.py --epochs 1

The stand-ins compute on the CPU with the PyTorch that is installed, and keep the vendor's rules. A script of TensorFlow is followed with a
stand-in that computes nothing; with --twin it runs on the TensorFlow that is installed. At the end there is a list of the
contracts the script met and of those it broke, with file and line. With --twin the original is run as well, from the same weights with the
same data, and both are compared step by step. Exit status: 0 all met (and the two equal), 1 some broken (or the two differ) or the script
failed, 2 the command line is wrong or a package is missing. In the place of the script may stand the command that a launch script starts
it with.
"""

import argparse
import importlib.util
import os
import pathlib
import re
import runpy
import sys
import textwrap
import traceback

from twins import launched

# A program may have a module of this name.
for _own in ("twins.launched", "twins"):
    del sys.modules[_own]

KIT = pathlib.Path(__file__).resolve().parent

# Target → folders with the vendor's modules, in the order of import, and the accelerator that torch has.
TARGETS = {
    "cpu": ([], "cpu"),
    "hpu": (["gaudi"], "hpu"),
    "lightning-hpu": (["gaudi"], "hpu"),
    "tensorflow-hpu": (["gaudi", "tf"], "hpu"),
    "ipu": (["ipu"], "cpu"),
    "popdist": (["ipu", "popdist"], "cpu"),
    "rdu": (["rdu"], "cpu"),
    "xpu": (["xpu"], "xpu"),
    "tensorflow-ipu": (["tf", "tf_ipu", "popdist"], "cpu"),
}

# Samples of a data set of torchvision or Keras where all data is made up.
FAKE_SAMPLES = 2048

# What Jupyter starts.
KERNEL = "ipykernel_launcher.py"
INSTALL = "PyTorch is not installed for this Python: install it with `python3 -m pip install torch` (and torchvision, lightning or the script's other dependencies)."

NO_TENSORFLOW = ("TensorFlow is not installed for this Python: install it with `python3 -m pip install tensorflow` (2.16 or newer, and the "
                 "script's other dependencies).")
SEVERAL = "for TensorFlow programs only one instance is compared; omit --instances."


def whole(least, most):
    """A whole number with these bounds, for the command line."""
    def read(text):
        if not text[text.startswith("-"):].isdecimal() or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"{text} is not a whole number from {least} to {most}")
        return int(text)
    return read


def arguments(argv):
    # The script's own arguments follow: `--batch` of a script is no abbreviation of `--batches`.
    parser = argparse.ArgumentParser(prog="rehearse.py", description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("--target", required=True, choices=TARGETS)
    parser.add_argument("--steps", type=whole(0, 100_000), metavar="N", help="stop after N steps on the accelerator; 0: never (default 64; of a Jupyter kernel 0)")
    parser.add_argument("--batches", type=whole(0, 1_000_000), metavar="N", help="batches per pass over a loader; 0: all (default 4; of a Jupyter kernel 0)")
    parser.add_argument("--fake-data", type=whole(0, 10_000_000), nargs="?", const=1000, default=0, metavar="N",
                        help="generate fake torchvision and Keras data sets with N training samples (default 1000)")
    parser.add_argument("--no-data", action="store_true",
                        help="make up samples for data that is not there, of shapes that the original's training step takes (with --twin)")
    parser.add_argument("--fake-images", action="append", default=[], metavar="FOLDER[=CLASSES]",
                        help="generate a folder of fake images with one subfolder per class (10) at the path that the program reads")
    parser.add_argument("--twin", metavar="ORIGINAL",
                        help="also run the original and compare both step by step; with --project, the original's project folder")
    parser.add_argument("--project", metavar="FOLDER", help="the port's project folder, which contains the script; both runs start in their project folders")
    parser.add_argument("--on", choices=("cuda", "cpu"), help="run both programs with CUDA (computed by the CPU) or on the CPU, to see that a port for several devices works there, too")
    parser.add_argument("--twin-args", metavar="ARGS", help="the original's arguments, as one string (default: the port's)")
    parser.add_argument("--port-args", metavar="ARGS", help="arguments of the port only, as one string, placed before those of both")
    parser.add_argument("--batch-size", type=whole(1, 131072), metavar="N", help="batch size for targets that need it at startup (rdu)")
    parser.add_argument("--first", action="append", default=[], metavar="ARGS",
                        help="first start the port with these arguments, in the same folder (SambaFlow: compile …)")
    parser.add_argument("--twin-steps", type=whole(1, 100_000), metavar="K", help="number of steps to compare (default 16; with --no-data 4)")
    parser.add_argument("--seed", type=whole(0, 2**32 - 1), default=20, help="seed of both runs (default 20)")
    parser.add_argument("--precision", choices=("float32", "target"), default="float32", help="precision of both runs: float32, or that of the programs (default float32)")
    parser.add_argument("--report", metavar="FILE", help="the port's report (portolan port --format json), for recipe names")
    parser.add_argument("--json", metavar="FILE", help="write the result of the comparison as JSON")
    parser.add_argument("--html", metavar="FILE", help="write the result as an HTML page with both loss curves")
    parser.add_argument("--sdk", metavar="VERSION", help="the release of Gaudi's software: from 1.18 on `import torch` loads the bridge")
    parser.add_argument("--instances", type=whole(1, 64), default=1, metavar="N", help="number of processes of the port (popdist: instances); a twin run starts them all (default 1)")
    parser.add_argument("--instance", type=whole(0, 63), default=0, metavar="I", help="popdist: index of this instance (default 0)")
    parser.add_argument("--replicas", type=whole(1, 1024), default=1, metavar="N", help="popdist: total number of replicas (default: one per instance)")
    parser.add_argument("script", help="the script, followed by its arguments; or a complete launch command, including its launcher")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    options = parser.parse_args(argv)
    options.environment = {}
    for words in ([options.script, *options.arguments], options.arguments):
        if launched.is_command(words):
            read_command(parser, options, words)
            break
    options.program = options.script
    if options.twin_steps is None:
        # Made-up data shows in a few steps what it can show.
        options.twin_steps = 4 if options.no_data else 16
    if options.no_data and not options.fake_data:
        options.fake_data = FAKE_SAMPLES
    is_kernel = os.path.basename(options.script) == KERNEL
    if options.steps is None:
        options.steps = 0 if is_kernel else 64
    if options.batches is None:
        options.batches = 0 if is_kernel else 4
    if is_kernel:
        os.environ["STAND_IN_KERNEL"] = "1"
    if options.project is not None:
        if not os.path.isdir(options.project):
            parser.error(f"--project: no such folder: {options.project}")
        if options.twin is not None and not os.path.isdir(options.twin):
            parser.error(f"--twin: with --project this is the original's project folder; no such folder: {options.twin}")
        if os.path.isabs(options.script):
            parser.error(f"{options.script}: with --project, the script's path must be relative to the project")
        options.script = os.path.join(options.project, options.program)
    if not os.path.isfile(options.script):
        parser.error(f"no such file: {options.script}")
    for name, file in (("--report", options.report), ("--twin", options.twin if options.project is None else None)):
        if file is not None and not os.path.isfile(file):
            parser.error(f"{name}: no such file: {file}")
    if options.fake_images and options.twin is None:
        parser.error("--fake-images requires --twin, whose runs use separate folders")
    if options.no_data and options.twin is None:
        parser.error("--no-data requires --twin")
    if options.no_data and not hasattr(os, "fork"):
        parser.error("--no-data needs Linux, macOS or WSL: it divides a process, which Windows can't")
    if options.twin is not None and options.twin_steps < 1:
        parser.error("--twin-steps must be at least 1")
    if options.instances < 1 or not 0 <= options.instance < options.instances:
        parser.error(f"instance {options.instance} is out of range for {options.instances} instances")
    if options.instances > 1 and max(options.replicas, options.instances) % options.instances:
        parser.error(f"{options.replicas} replicas cannot be divided among {options.instances} instances")
    return options


def read_command(parser, options, words):
    """Takes script, arguments and numbers out of a launch script's command."""
    try:
        command = launched.read(words)
    except ValueError as problem:
        parser.error(str(problem))
    options.script, options.arguments, options.environment = command.program, command.arguments, command.environment
    if options.target == "popdist":
        options.instances = command.processes or options.instances
        options.replicas = command.replicas or options.replicas
    elif command.processes > 1:
        print(f"rehearsal: the command starts {command.processes} processes; only one is started here")


def instance(options, index=None):
    """What the launcher tells a process."""
    if options.target != "popdist":
        return {"RANK": str(index), "LOCAL_RANK": str(index), "WORLD_SIZE": str(options.instances)}
    replicas = max(options.replicas, options.instances)
    local = replicas // options.instances
    return {
        "POPDIST_NUM_TOTAL_REPLICAS": str(replicas), "POPDIST_NUM_LOCAL_REPLICAS": str(local),
        "POPDIST_REPLICA_INDEX_OFFSET": str((options.instance if index is None else index) * local), "POPDIST_NUM_IPUS_PER_REPLICA": "1",
    }


def uses_tensorflow(script, project=None):
    """Whether a script imports TensorFlow or Keras, or a file of its project does."""
    return imports(r"tensorflow|keras", script, project)


def imports(modules, script, project=None):
    """Whether a script imports one of the modules, or a file of its project does."""
    statement = re.compile(rf"^\s*(import|from)\s+({modules})\b", re.MULTILINE)
    files = [pathlib.Path(script), *(pathlib.Path(project).rglob("*.py") if project else ())]
    return any(statement.search(file.read_text(encoding="utf-8", errors="replace")) for file in files)


def prepare(options):
    """Puts the stand-ins on the path and says in the environment what the machine has."""
    folders, machine = TARGETS[options.target]
    if uses_tensorflow(options.script):
        # A stand-in with arrays of its own, which do not go with the NumPy that PyTorch's programs have.
        folders = [*dict.fromkeys(("tf", "tf_ipu", *folders))]
    os.environ["STAND_IN_MACHINE"] = machine
    os.environ["STAND_IN_STEPS"] = str(options.steps)
    for name in [name for name in os.environ if name.startswith("POPDIST_")]:
        del os.environ[name]
    if options.target == "popdist":
        os.environ.update(instance(options))
    if options.sdk:
        os.environ["STAND_IN_SDK"] = options.sdk
    if options.fake_data:
        os.environ["STAND_IN_FAKE_DATA"] = str(options.fake_data)
    os.environ.update(options.environment)
    paths = [KIT / folder for folder in ("recorder", *reversed(folders), "base")]
    sys.path[:0] = [str(pathlib.Path(options.script).resolve().parent), *map(str, paths)]
    sys.path[:] = [path for path in sys.path if path not in ("", str(KIT))]


def shorten_loaders(batches):
    """Every pass over a torch loader ends after so many batches."""
    import itertools

    from torch.utils.data import DataLoader  # torch itself may not be through with its import.

    whole = DataLoader.__iter__
    DataLoader.__iter__ = lambda loader: itertools.islice(whole(loader), batches)


def run(options):
    """Runs the script; gives the error it died of, or None."""
    sys.argv = [options.script, *options.arguments]
    try:
        if options.batches:
            from on_import import when_imported

            when_imported("torch", lambda: shorten_loaders(options.batches))
        runpy.run_path(options.script, run_name="__main__")
    except SystemExit as end:
        return None if end.code in (None, 0) else end
    except KeyboardInterrupt:
        return SystemExit("interrupted")
    except Exception as error:
        traceback.print_exc()
        return error
    return None


# The packages that a port brings into a script.
VENDORS = ("habana_frameworks", "poptorch", "popdist", "sambaflow", "lightning_habana")


# Rules that are those of one framework, by their first word: a script without it has nothing to do with them.
RULES_OF = {"lightning": "lightning", "tf-hpu": "tensorflow", "tf-ipu": "tensorflow"}


def looked_for(target):
    """The rules that a run for this target can meet or break."""
    import contracts

    folders, machine = TARGETS[target]
    rules = {*contracts.known(folders), *(rule for rule in contracts.known(["recorder"], machine) if rule.partition(".")[0] in (machine, "torch"))}
    return sorted(rule for rule in rules if RULES_OF.get(rule.partition(".")[0], "torch") in sys.modules)


def report(error, target):
    """Prints what was met, what was broken and what did not come up; true when all is well."""
    import contracts
    from lacking import lacking, place

    rules = contracts.report()
    met = [rule for rule in rules if not rule["broken"]]
    faults = [(rule["rule"], fault) for rule in rules for fault in rule["broken"]]
    print(f"\nrehearsal: {len(met)} contracts met, {len(rules) - len(met)} broken")
    for rule in met:
        print(f"  met     {rule['rule']} ({rule['kept']}×)")
    for rule, fault in faults:
        print(f"  BROKEN  {rule}  {os.path.relpath(fault['file'])}:{fault['line']}\n          {fault['why']}")
    seen = {rule["rule"] for rule in rules}
    others = [rule for rule in looked_for(target) if rule not in seen]
    if others:
        line = "not exercised by this run: " + ", ".join(others)
        print(textwrap.fill(line, 110, initial_indent="  ", subsequent_indent=" " * 10, break_on_hyphens=False))
    missing = error and lacking(error)
    if missing:
        print(f"  THE STAND-IN lacks {missing}, used at {place(error)}.\n"
              "          The rehearsal stops there. If the real software has it, the port is not at fault; later code was not checked.")
    elif error is not None and not isinstance(error, contracts.ContractBroken):
        print(f"  the script ended with {type(error).__name__}: {error}")
    if not rules and error is None:
        loaded = [name for name in VENDORS if name in sys.modules]
        if loaded:
            print(f"  the script imported {', '.join(loaded)} but used nothing that has a contract: this shows only that it runs to the end")
        else:
            print("  the script did not use the vendor's software: was it ported and started in the right mode?")
    return not faults and error is None


def main(argv=None):
    argv = list(sys.argv[1:] if argv is None else argv)
    if "--" in argv:
        argv.remove("--")
    options = arguments(argv)
    if importlib.util.find_spec("torch") is None and not uses_tensorflow(options.script, options.project):
        print(f"rehearse.py: {INSTALL}", file=sys.stderr)
        return 2
    if options.twin:
        return twin(options)
    prepare(options)
    import contracts  # noqa: F401  (its report is written at exit, after the script's own)
    import stand_in_start  # noqa: F401

    print(f"rehearsal: {options.target}, {computed_by(options.script)}")
    return 0 if report(run(options), options.target) else 1


def computed_by(script):
    """Which PyTorch there is, without importing it."""
    from importlib.metadata import PackageNotFoundError, version

    if uses_tensorflow(script):
        return "with a stand-in for TensorFlow"
    try:
        return f"PyTorch {version('torch')} on the CPU"
    except PackageNotFoundError:
        return "PyTorch on the CPU"


def twin(options):
    """Runs the original and the port, and tells how far they agree."""
    import json

    from twins import page, ran, text

    # A program that imports both frameworks chooses one of them when it is started.
    chooses = imports("torch", options.script) and importlib.util.find_spec("torch") is not None
    if uses_tensorflow(options.script) and not chooses:
        missing = NO_TENSORFLOW if importlib.util.find_spec("tensorflow") is None else SEVERAL if options.instances > 1 else None
        if missing:
            print(f"rehearse.py: {missing}", file=sys.stderr)
            return 2
    try:
        result = twin_result(options)
    except ValueError as problem:
        print(f"rehearse.py: {problem}", file=sys.stderr)
        return 2
    if options.on == "cpu" and result.failed.startswith("the original"):
        print(f"twin: not compared on the CPU: {result.failed}")
        return 0
    print(text.told(result), end="")
    start = start_of(options)
    table = {**text.table(result), "ran": ran.ran(options, result, result.arguments or start.arguments), "files": result.files}
    for name, written in ((options.json, lambda: json.dumps(table, indent=1) + "\n"), (options.html, lambda: page.page(table))):
        if name:
            pathlib.Path(name).write_text(written(), encoding="utf-8")
    return 0 if result.ok else 1


def start_of(options):
    """How the port is started."""
    from twins import runs, starts

    first = [runs.words(words) for words in options.first]
    return starts.of(options.on or options.target, options.arguments, runs.words(options.port_args), options.batch_size, first)


def twin_result(options, home=None):
    """Of both runs, started in `home` or in the present folder. A ValueError says what can't be run."""
    from twins import images, ported, ran, runs
    from twins import twin as twins

    folders, machine = ([], options.on) if options.on else TARGETS[options.target]
    original = options.twin if options.project is None else os.path.join(options.twin, options.program)
    if not os.path.isfile(original):
        raise ValueError(f"no such file: {original}")
    projects = [] if options.project is None else [options.twin, options.project]
    root = options.twin if projects else os.path.dirname(os.path.abspath(original))
    environment = instance(options) if options.target == "popdist" and not options.on else {}
    if machine == "hpu":
        environment["PT_HPU_LAZY_MODE"] = options.environment.get("PT_HPU_LAZY_MODE", os.environ.get("PT_HPU_LAZY_MODE", "0"))
    if options.sdk:
        environment["STAND_IN_SDK"] = options.sdk
    report = ported.read(options.report, root) if options.report else None
    made_up = [images.Wanted(asked) for asked in options.fake_images]
    there = next((wanted.path for wanted in made_up for base in (".", *projects) if os.path.exists(os.path.join(base, wanted.path))), None)
    if there is not None:
        raise ValueError(f"--fake-images {there}: already exists and would be used unchanged")
    runner = runs.Runner(
        options.twin_steps, options.seed, options.precision, options.fake_data, made_up, projects=projects, environment=options.environment,
        home=home, no_data=options.no_data)
    start = start_of(options)
    files = ran.files(original, options.script, projects, report)
    result = twins.run(
        runner, options.on or options.target, machine, list(reversed(folders)), original, options.script, start.arguments,
        original_arguments=start.original if options.twin_args is None else runs.words(options.twin_args), environment=environment,
        instances=[instance(options, index) for index in range(options.instances)] if options.instances > 1 and not options.on else (),
        before=start.before, report=report, elsewhere=options.on)
    result.files = files
    return result


if __name__ == "__main__":
    sys.exit(main())
