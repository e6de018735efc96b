#!/usr/bin/env python3
"""Rehearse a port on this machine: run a training script against stand-ins of the vendor's software.

    python3 rehearse.py --target ipu -- train.py --epochs 1

The stand-ins compute nothing on an accelerator; they keep its rules. At the end there is a list of the contracts the script met and of
those it broke, with file and line. Exit status: 0 all met, 1 some broken or the script failed, 2 the command line is wrong.
"""

import argparse
import importlib.util
import os
import pathlib
import runpy
import sys
import textwrap
import traceback

KIT = pathlib.Path(__file__).resolve().parent

# Target → folders with the vendor's modules, in the order of import, and the accelerator that torch has.
TARGETS = {
    "cpu": ([], "cpu"),
    "hpu": (["tf", "gaudi", "lightning"], "hpu"),
    "lightning-hpu": (["gaudi", "lightning"], "hpu"),
    "tensorflow-hpu": (["gaudi", "tf"], "hpu"),
    "ipu": (["tf", "tf_ipu", "ipu"], "cpu"),
    "popdist": (["tf", "tf_ipu", "ipu", "popdist"], "cpu"),
    "rdu": (["rdu"], "cpu"),
    "tensorflow-ipu": (["tf", "tf_ipu", "popdist"], "cpu"),
}

# Frameworks → folder with their stand-in.
FRAMEWORKS = {"lightning": "lightning", "pytorch_lightning": "lightning", "tensorflow": "tf", "keras": "tf"}


def arguments(argv):
    parser = argparse.ArgumentParser(prog="rehearse.py", description=__doc__.splitlines()[0])
    parser.add_argument("--target", required=True, choices=TARGETS)
    parser.add_argument("--steps", type=int, default=64, metavar="N", help="stop after N steps on the accelerator; 0: never (default 64)")
    parser.add_argument("--batches", type=int, default=4, metavar="N", help="batches a loader gives in one pass; 0: all (default 4)")
    parser.add_argument("--torch", choices=("auto", "real", "stand-in"), default="auto", help="which torch (default: yours if it is installed)")
    parser.add_argument("--instances", type=int, default=1, metavar="N", help="popdist: of how many instances this is one (default 1)")
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


def which_torch(options):
    """True for the torch that is installed. On Gaudi's targets tensors are put on a device that no other torch has."""
    installed = importlib.util.find_spec("torch") is not None
    on_device = TARGETS[options.target][1] != "cpu"
    if options.torch == "real" and (on_device or not installed):
        raise SystemExit("rehearse.py: " + ("torch without Gaudi has no device hpu: use --torch stand-in" if on_device else "torch is not installed"))
    return installed and not on_device and options.torch != "stand-in"


def prepare(options):
    """Puts the stand-ins on the path and says in the environment what the machine has."""
    folders, machine = TARGETS[options.target]
    # What a script is written with beside torch: what is installed, or else a stand-in.
    missing = {folder for module, folder in FRAMEWORKS.items() if importlib.util.find_spec(module) is None}
    folders = [*sorted(missing.difference(folders)), *folders]
    os.environ["STAND_IN_MACHINE"] = machine
    os.environ["STAND_IN_STEPS"] = str(options.steps)
    for name in [name for name in os.environ if name.startswith("POPDIST_")]:
        del os.environ[name]
    if options.target == "popdist":
        replicas = max(options.replicas, options.instances)
        local = replicas // options.instances
        os.environ.update({
            "POPDIST_NUM_TOTAL_REPLICAS": str(replicas), "POPDIST_NUM_LOCAL_REPLICAS": str(local),
            "POPDIST_REPLICA_INDEX_OFFSET": str(options.instance * local), "POPDIST_NUM_IPUS_PER_REPLICA": "1",
        })
    real = which_torch(options)
    paths = [KIT / folder for folder in ("recorder", *reversed(folders), *([] if real else ["base"]))]
    sys.path[:0] = [str(pathlib.Path(options.script).resolve().parent), *map(str, paths)]
    sys.path[:] = [path for path in sys.path if path not in ("", str(KIT))]
    return real


def shorten_loaders(batches):
    """Every pass over a torch loader ends after so many batches."""
    import itertools

    import torch

    whole = torch.utils.data.DataLoader.__iter__
    torch.utils.data.DataLoader.__iter__ = lambda loader: itertools.islice(whole(loader), batches)


def run(options):
    """Runs the script; gives the error it died of, or None."""
    sys.argv = [options.script, *options.arguments]
    try:
        if options.batches and importlib.util.find_spec("torch") is not None:
            shorten_loaders(options.batches)
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
    rules = {*contracts.known(folders), *(rule for rule in contracts.known(["base"]) if machine == "hpu" or not rule.startswith("hpu."))}
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
    real = prepare(options)
    import contracts  # noqa: F401  (its report is written at exit, after the script's own)
    import habits  # noqa: F401

    print(f"rehearsal: {options.target}, {'the torch that is installed' if real else 'a stand-in for torch'}")
    return 0 if report(run(options), options.target) else 1


if __name__ == "__main__":
    sys.exit(main())
