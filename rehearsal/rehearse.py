#!/usr/bin/env python3
"""Rehearse a port on this machine: run a training script against stand-ins of the vendor's software.

    python3 rehearse.py --target ipu -- train.py --epochs 1
    python3 rehearse.py --target ipu --twin original.py -- train.py --epochs 1

The stand-ins compute on the CPU with the PyTorch that is installed, and keep the vendor's rules. At the end there is a list of the
contracts the script met and of those it broke, with file and line. With --twin the original is run as well, from the same weights with the
same data, and both are compared step by step. Exit status: 0 all met (and the two equal), 1 some broken (or the two differ) or the script
failed, 2 the command line is wrong.
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

INSTALL = "PyTorch is not installed for this Python: install it with `python3 -m pip install torch` (and torchvision, lightning or what else the script imports)."


def arguments(argv):
    parser = argparse.ArgumentParser(prog="rehearse.py", description=__doc__.splitlines()[0])
    parser.add_argument("--target", required=True, choices=TARGETS)
    parser.add_argument("--steps", type=int, default=64, metavar="N", help="stop after N steps on the accelerator; 0: never (default 64)")
    parser.add_argument("--batches", type=int, default=4, metavar="N", help="batches a loader gives in one pass; 0: all (default 4)")
    parser.add_argument("--fake-data", type=int, nargs="?", const=1000, default=0, metavar="N",
                        help="make up torchvision's data sets, with N samples for training (default 1000)")
    parser.add_argument("--twin", metavar="ORIGINAL", help="run the original too, and compare the two step by step")
    parser.add_argument("--twin-args", metavar="ARGS", help="the original's arguments, as one word (default: the port's)")
    parser.add_argument("--first", action="append", default=[], metavar="ARGS",
                        help="start the port with these arguments before, in the same folder (SambaFlow: compile …)")
    parser.add_argument("--twin-steps", type=int, default=16, metavar="K", help="steps that are compared (default 16)")
    parser.add_argument("--seed", type=int, default=20, help="seed of both runs (default 20)")
    parser.add_argument("--precision", choices=("float32", "target"), default="float32", help="both in float32, or as they say (default float32)")
    parser.add_argument("--report", metavar="FILE", help="the port's report (portolan port --format json), to name recipes")
    parser.add_argument("--json", metavar="FILE", help="write the result of the comparison as JSON")
    parser.add_argument("--html", metavar="FILE", help="write it as a page with the two curves")
    parser.add_argument("--sdk", metavar="VERSION", help="the release of Gaudi's software: from 1.18 on `import torch` loads the bridge")
    parser.add_argument("--instances", type=int, default=1, metavar="N", help="popdist: of how many instances this is one; a twin run starts them all (default 1)")
    parser.add_argument("--instance", type=int, default=0, metavar="I", help="popdist: which one (default 0)")
    parser.add_argument("--replicas", type=int, default=1, metavar="N", help="popdist: replicas in all (default: one an instance)")
    parser.add_argument("script", help="the script, and behind it its own arguments")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    options = parser.parse_args(argv)
    if not os.path.isfile(options.script):
        parser.error(f"there is no file {options.script}")
    if options.instances > 1 and max(options.replicas, options.instances) % options.instances:
        parser.error(f"{options.replicas} replicas cannot be divided among {options.instances} instances")
    return options


def instance(options, index=None):
    """What `poprun` tells an instance."""
    replicas = max(options.replicas, options.instances)
    local = replicas // options.instances
    return {
        "POPDIST_NUM_TOTAL_REPLICAS": str(replicas), "POPDIST_NUM_LOCAL_REPLICAS": str(local),
        "POPDIST_REPLICA_INDEX_OFFSET": str((options.instance if index is None else index) * local), "POPDIST_NUM_IPUS_PER_REPLICA": "1",
    }


def uses_tensorflow(script):
    """Whether a script imports TensorFlow or Keras."""
    text = pathlib.Path(script).read_text(encoding="utf-8", errors="replace")
    return re.search(r"^\s*(import|from)\s+(tensorflow|keras)\b", text, re.MULTILINE) is not None


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
        line = "these did not come up, so nothing is known of them: " + ", ".join(others)
        print(textwrap.fill(line, 110, initial_indent="  ", subsequent_indent=" " * 10, break_on_hyphens=False))
    missing = error and lacking(error)
    if missing:
        print(f"  THE STAND-IN lacks {missing}, asked for at {place(error)}.\n"
              "          The rehearsal ends there: that is no fault of the port if the real software has it, and what follows was not looked at.")
    elif error is not None and not isinstance(error, contracts.ContractBroken):
        print(f"  the script ended with {type(error).__name__}: {error}")
    if not rules and error is None:
        loaded = [name for name in VENDORS if name in sys.modules]
        if loaded:
            print(f"  the script ran with {', '.join(loaded)}, of which it used nothing that has a contract: this shows that it ends, no more")
        else:
            print("  the script did not touch the vendor's software: was it ported, and started in the right mode?")
    return not faults and error is None


def main(argv=None):
    argv = list(sys.argv[1:] if argv is None else argv)
    if "--" in argv:
        argv.remove("--")
    options = arguments(argv)
    if importlib.util.find_spec("torch") is None and not uses_tensorflow(options.script):
        raise SystemExit(f"rehearse.py: {INSTALL}")
    if options.twin:
        return twin(options)
    prepare(options)
    import contracts  # noqa: F401  (its report is written at exit, after the script's own)
    import stand_in_start  # noqa: F401

    print(f"rehearsal: {options.target}{version()}")
    return 0 if report(run(options), options.target) else 1


def version():
    """Which PyTorch there is, without importing it."""
    import importlib.metadata

    try:
        return f", PyTorch {importlib.metadata.version('torch')} on the CPU"
    except importlib.metadata.PackageNotFoundError:
        return ""


def twin(options):
    """Runs the original and the port, and tells how far they agree."""
    import json

    from twins import page, text

    result = twin_result(options)
    print(text.told(result), end="")
    table = text.table(result)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")
    if options.html:
        pathlib.Path(options.html).write_text(page.page(table, options.twin, options.script), encoding="utf-8")
    return 0 if result.ok else 1


def twin_result(options, home=None):
    """Of both runs, started in `home` or in the present folder."""
    from twins import ported, runs
    from twins import twin as twins

    if not os.path.isfile(options.twin):
        raise SystemExit(f"rehearse.py: there is no file {options.twin}")
    folders, machine = TARGETS[options.target]
    environment = instance(options) if options.target == "popdist" else {}
    if machine == "hpu":
        environment["PT_HPU_LAZY_MODE"] = os.environ.get("PT_HPU_LAZY_MODE", "0")
    if options.sdk:
        environment["STAND_IN_SDK"] = options.sdk
    root = os.path.dirname(os.path.abspath(options.twin))
    runner = runs.Runner(options.twin_steps, options.seed, options.precision, options.fake_data, home=home)
    return twins.run(
        runner, options.target, machine, list(reversed(folders)), options.twin, options.script, options.arguments,
        original_arguments=runs.words(options.twin_args) if options.twin_args is not None else None, environment=environment,
        instances=[instance(options, index) for index in range(options.instances)] if options.target == "popdist" and options.instances > 1 else (),
        before=[runs.words(first) for first in options.first], report=ported.read(options.report, root) if options.report else None)


if __name__ == "__main__":
    sys.exit(main())
