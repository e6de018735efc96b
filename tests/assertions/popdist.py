#!/usr/bin/env python3
"""Checks whether a port to PopDist behaves correctly.

    python3 popdist.py BEFORE AFTER -- HOME… -- IPU…

Like ipu.py; the command on the IPU is run as instance 0 and 1 of two under poprun, in one folder, and once without poprun. One line per
assertion; exit status 1 if one fails.
"""

import ast
import pathlib
import sys
import tempfile

from checkout import Checkout, Report, called, calls, parents_of, text
from common import every_port, mode_faults, other_modes, unguarded
from rehearsed import Run, command_line, poprun

MODE, MODULES = "IPU", ("poptorch", "popdist", "popart")
WEIGHTS = (".ckpt", ".pt", ".pth", ".bin")


def weights_in(folder):
    """Files with weights and those next to them, such as a list of checkpoints, and when they were written."""
    beside = {path.parent for path in pathlib.Path(folder).rglob("*") if path.suffix in WEIGHTS} - {pathlib.Path(folder)}
    files = [path for path in pathlib.Path(folder).rglob("*") if path.suffix in WEIGHTS or path.parent in beside and path.is_file()]
    return {path: path.stat().st_mtime_ns for path in files}


def written_twice(after, command):
    """Runs both instances in one folder; returns them, and the files that both wrote."""
    with tempfile.TemporaryDirectory() as folder:
        first = Run(after.root, command, "popdist", folder, poprun(0))
        one = weights_in(folder)
        second = Run(after.root, command, "popdist", folder, poprun(1))
        two = weights_in(folder)
    return first, second, [path.name for path in one if two.get(path) != one[path]]


def shards(after):
    """Where the data are divided: by PopTorch's loader, or by arithmetic, slices and arguments with the index of the instance."""
    found = []
    for path, tree in after.files.items():
        above = parents_of(tree)
        index = {text(target) for node in ast.walk(tree) if isinstance(node, ast.Assign) and asks_index(node.value) for target in node.targets}
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and text(node.func) == "poptorch.DataLoader":
                found.append(f"{path}:{node.lineno}")
            if asks_index(node) or (isinstance(node, (ast.Name, ast.Attribute)) and text(node) in index):
                up = above.get(node)
                told = isinstance(up, ast.Call) and called(up) in ("print", "format", "info", "debug", "warning", "str", "randomSeed")
                if isinstance(up, (ast.BinOp, ast.Slice, ast.Subscript, ast.Call, ast.keyword)) and not told and up is not node:
                    found.append(f"{path}:{node.lineno}")
    return found


def asks_index(node):
    return isinstance(node, ast.Call) and called(node) == "getInstanceIndex"


def check(before_root, after_root, home, command):
    before, after = Checkout(before_root), Checkout(after_root)
    first, second, twice = written_twice(after, command)
    alone = Run(after.root, command, "popdist")
    report = Report()
    failed = [f"instance {i}: {run.error}" for i, run in enumerate((first, second)) if run.error]
    report.say("run", failed + ([] if first.count("poptorch.train") else ["nothing was trained on the IPU"]), "both instances ran")
    report.say("I1", mode_faults(before, after, MODE), "the compute mode is there")
    report.say("I2", unguarded(after, MODULES), "the vendor's modules are imported where they are")
    inits = [run.count("popdist.init") for run in (first, second, alone)]
    report.say("P1", first.faults("popdist.init") + alone.faults("popdist.init") + ([f"init ran {inits} times"] if inits != [1, 1, 0] else []),
               "init once, and only under poprun")
    options = first.count("popdist.poptorch.Options")
    report.say("P2", first.faults("popdist.replication") or ([] if options else ["the options under poprun are not PopDist's"]), "poprun says the replicas")
    seeds = [[details["seed"] for details in run.details("popdist.seed")] for run in (first, second)]
    report.say("P3", [] if seeds[0] and seeds[0] == seeds[1] else [f"seeds of the instances: {seeds}"], f"one seed: {seeds[0][:1]}")
    unknown = [run.error for run in (first, second, alone) if any(word in run.error for word in ("Key ", "AttributeError", "NameError"))]
    report.say("P4", unknown, "every name and key exists")
    report.say("P5", [f"{name} is written by both instances" for name in twice], "no file of a checkpoint is written twice")
    report.say("P6", [] if shards(after) else ["every instance reads all data"], "data are divided: " + ", ".join(shards(after)[:1]))
    bare = [f"{path}:{call.lineno}" for path, tree in after.files.items() for call in calls(tree)
            if called(call) == "inferenceModel" and len(call.args) < 2 and "options" not in [k.arg for k in call.keywords]]
    report.say("P7", [f"{place} inferenceModel without options" for place in bare], "inference has options, too")
    report.say("I11", other_modes(before, after, MODE, home), "the other modes are as before")
    every_port(report, before, after, MODE, home)
    faults = [f"{rule}: {fault['why']}" for run in (first, second, alone) for rule, all_of in run.broken.items() for fault in all_of]
    report.say("all", sorted(set(faults)), "every contract is met")
    return report


def main(arguments):
    given = command_line(arguments, __doc__)
    if given is None:
        return 2
    report = check(*given)
    print("\n".join(report.lines))
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
