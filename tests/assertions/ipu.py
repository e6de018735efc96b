#!/usr/bin/env python3
"""Checks whether a port to the IPU behaves correctly.

    python3 ipu.py BEFORE AFTER -- HOME… -- IPU…

BEFORE and AFTER are two checkouts of one project; HOME… is the program and its arguments on a machine without IPUs, IPU… the same for a
training run on IPUs with at least one validation and one step of the scheduler. The port is read, and run against the stand-ins of
`rehearsal/`: it is judged by its behaviour, not by its text. One line per assertion; exit status 1 if one fails.
"""

import ast
import sys

from checkout import Checkout, Report, called, calls, text
from common import every_port, mode_faults, other_modes, unguarded
from rehearsed import Run, at_home, command_line

MODE, MODULES = "IPU", ("poptorch", "popdist", "popart")
KINDS = ("SGD", "Adam", "AdamW", "RMSprop", "LAMB")


def all_calls(checkout):
    for path, tree in checkout.files.items():
        for call in calls(tree):
            yield path, call


def keywords_of_optimizers(checkout):
    """Kind → the constant keyword arguments passed to it anywhere."""
    found = {}
    for _, call in all_calls(checkout):
        if called(call) in KINDS:
            given = {k.arg: text(k.value) for k in call.keywords if isinstance(k.value, ast.Constant)}
            found.setdefault(called(call), []).append(given)
    return found


def optimizer_faults(before, after, home, run):
    configured = [details["kind"] for details in at_home(before.root, tuple(home)).details("optimizer")]
    handed = [details["kind"] for details in run.details("poptorch.setOptimizer")]
    faults = run.lost("ipu.optimizer-given", "ipu.optimizer-kind", "ipu.optimizer-parameters")
    if configured and handed and handed[0] != configured[0]:
        faults.append(f"{configured[0]} is configured and {handed[0]} is handed over")
    was, now = keywords_of_optimizers(before), keywords_of_optimizers(after)
    for kind, all_given in was.items():
        for name in sorted({name for given in all_given for name in given}):
            without = lambda constructions: sum(name not in given for given in constructions)
            if without(now.get(kind, [{}])) > without(all_given):
                faults.append(f"{kind} loses {name} somewhere")
    return faults


def same_alone(before, after):
    """A forward with the argument x can still be called with x alone: added parameters have a default."""
    faults = []
    for key, was in before.functions.items():
        now = after.functions.get(key)
        if now is None or not key[1].endswith(".forward"):
            continue
        old, new = was.node.args, now.node.args
        required = lambda a: len(a.args) - len(a.defaults)
        if [a.arg for a in old.args] != [a.arg for a in new.args][: len(old.args)] or required(new) > required(old):
            faults.append(f"{now.at()} {key[1]} cannot be called as before")
    return faults


def lost_items(before, after):
    faults = []
    for key, was in before.functions.items():
        now = after.functions.get(key)
        count = lambda function: sum(called(c) == "item" and not c.args for c in calls(function.node))
        if now is not None and count(now) < count(was):
            faults.append(f"{now.at()} {key[1]} logs a tensor without .item()")
    return faults


def check(before_root, after_root, home, command):
    before, after = Checkout(before_root), Checkout(after_root)
    run = Run(after.root, command, "ipu")
    report = Report()
    trained = run.count("poptorch.train")
    report.say("run", [run.error] if run.error else [] if trained else ["nothing was trained on the IPU"], f"{trained} calls of a training model")
    report.say("I1", mode_faults(before, after, MODE), "the compute mode is there")
    report.say("I2", unguarded(after, MODULES), "poptorch is imported where it is")
    wrapped = {name for _, call in all_calls(after) if (name := called(call)) in ("trainingModel", "inferenceModel")}
    report.say("I3", [f"{name} is never called" for name in ("trainingModel", "inferenceModel") if name not in wrapped], "one wrapper to train, one to infer")
    report.say("I4", run.lost("ipu.loss-in-forward") + run.faults("ipu.identity-loss", "ipu.loss-returned"), "the loss is in the model, and marked")
    report.say("I5", same_alone(before, after), "forward(x) alone is as before")
    faults = run.faults("ipu.backward", "ipu.optimizer-step", "ipu.optimizer-zero-grad", "ipu.no-autocast")
    report.say("I6", faults or [f"{run.count(name)} calls of {name}" for name in ("backward", "zero_grad", "optimizer.step") if run.count(name)],
               "no backward pass and no step on the host")
    report.say("I7", run.faults("ipu.wrapper-lost", "ipu.static-types"), "the wrapper stays where it is")
    report.say("I8", optimizer_faults(before, after, home, run), "the configured optimizer is handed over")
    scheduled = any(called(c) == "step" and "sched" in text(c.func) for _, c in all_calls(before))
    sets = run.count("poptorch.setOptimizer")
    report.say("I9", run.faults("ipu.set-optimizer") or (["setOptimizer is never called in the loop"] if scheduled and sets < 2 else []),
               f"setOptimizer {sets} times")
    report.say("I10", run.faults("ipu.one-device", "ipu.mode-at-wrap", "ipu.inference-options", "ipu.attach"), "training and validation share the device")
    report.say("I11", other_modes(before, after, MODE, home), "the other modes are as before")
    report.say("I12", lost_items(before, after), "metrics are numbers when they are logged")
    every_port(report, before, after, MODE, home)
    rest = {rule: faults for rule, faults in run.broken.items()}
    report.say("all", [f"{rule}: {fault['why']}" for rule, faults in rest.items() for fault in faults], "every contract is met")
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
