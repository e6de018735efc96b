#!/usr/bin/env python3
"""Checks whether a port of a Keras script to the IPU behaves correctly.

    python3 tensorflow_ipu.py BEFORE AFTER -- PROGRAM… [-- IPUS]

BEFORE and AFTER are two folders, PROGRAM… the script and its arguments, IPUS the number of IPUs that the port was made for (1).
The port is read, and both are run against the stand-ins of `rehearsal/`. One line per assertion; exit status 1 if one fails.
"""

import ast
import collections
import sys

from checkout import Checkout, Report, called, calls, text
from rehearsed import Run


def all_of(checkout, kind):
    return [(path, node) for path, tree in checkout.files.items() for node in ast.walk(tree) if isinstance(node, kind)]


def import_faults(after):
    """The module for the IPU is imported once, after TensorFlow."""
    found = [(path, node) for path, node in all_of(after, (ast.Import, ast.ImportFrom)) if "tensorflow.python" in text(node) and "ipu" in text(node)]
    if len(found) != 1:
        return [f"{len(found)} imports of tensorflow.python.ipu"]
    path, own = found[0]
    later = [node for p, node in all_of(after, (ast.Import, ast.ImportFrom)) if p == path and node is not own and node.lineno > own.lineno
             and ("keras" in text(node) or "tensorflow" in text(node))]
    return [f"{path}:{own.lineno} stands before {text(later[0])}"] if later else []


def scopes(after):
    return [(path, node) for path, node in all_of(after, ast.With) if any(text(item.context_expr).endswith(".scope()") for item in node.items)]


def cut_faults(after, run):
    """Data have whole batches, before a model is created."""
    faults = run.lost("tf-ipu.static-shapes")
    first = {path: min(node.lineno for p, node in scopes(after) if p == path) for path, _ in scopes(after)}
    for path, node in all_of(after, ast.Assign):
        cut = isinstance(node.value, ast.Subscript) and isinstance(node.value.slice, ast.Slice) and "//" in text(node.value.slice)
        if cut and node.col_offset == 0 and path in first and node.lineno > first[path]:
            faults.append(f"{path}:{node.lineno} cuts data behind the model")
    return faults


def layers(checkout):
    """The layers that are built: their calls, with arguments."""
    own = {cls.name for cls in checkout.classes.values() if any("Layer" in text(b) or "Model" in text(b) for b in cls.bases)}
    own |= {a.asname or a.name for _, node in all_of(checkout, ast.ImportFrom) if (node.module or "").endswith("layers") for a in node.names}
    found = (text(call) for _, call in all_of(checkout, ast.Call))
    return collections.Counter(t for t in found if ".layers." in t.split("(")[0] or t.split("(")[0] in own)


def keywords(checkout, names):
    """Batch sizes and epochs that are passed."""
    found = [(k.arg, text(k.value)) for _, call in all_of(checkout, ast.Call) if called(call) in ("fit", "evaluate", "predict")
             for k in call.keywords if k.arg in names]
    return collections.Counter(found)


def same_training(before, after, home, run):
    faults = []
    for what, find in (("layers", layers), ("batches and epochs", lambda c: keywords(c, ("batch_size", "epochs")))):
        old, new = find(before), find(after)
        if set(old) - set(new):
            faults.append(f"{what}: {sorted(map(str, set(old) - set(new)))[0]} is gone")
    told = lambda r, name, *keys: {tuple(details[k] for k in keys) for details in r.details(name)}
    for name, keys in (("keras.compile", ("optimizer", "loss")), ("keras.fit", ("epochs",))):
        if told(home, name, *keys) != told(run, name, *keys):
            faults.append(f"{name} was {sorted(told(home, name, *keys))} and is {sorted(told(run, name, *keys))}")
    return faults


def check(before_root, after_root, program, ipus=1):
    before, after = Checkout(before_root), Checkout(after_root)
    home, run = Run(before.root, program, "tensorflow"), Run(after.root, program, "tensorflow-ipu")
    report = Report()
    fitted = run.count("keras.fit")
    report.say("run", [run.error] if run.error else [] if fitted else ["nothing was trained"], f"fit {fitted} times")
    report.say("a", import_faults(after), "the IPU's module is imported once")
    report.say("b", cut_faults(after, run), "whole batches, before a model is made")
    report.say("c", run.lost("tf-ipu.configure-first"), "configured before the strategy is made")
    report.say("d", run.lost("tf-ipu.scope") + ([] if scopes(after) else ["no strategy.scope()"]), "made, compiled and run in the scope")
    report.say("e", same_training(before, after, home, run), "layers, batches, epochs, optimizer and loss are as before")
    words = [f"{path}: {word}" for path in sorted(after.root.rglob("*.py")) for word in ("Todo", "TODO") if word in path.read_text(encoding="utf-8")]
    report.say("f", words, "nothing is left to do")
    configured = [details["ipus"] for details in run.details("ipu.configure")]
    report.say("IPUs", [] if configured == [ipus] else [f"configured for {configured}"], f"{ipus} IPUs")
    bare = [f"{path}:{call.lineno} compile without steps_per_execution" for path, call in all_of(after, ast.Call)
            if called(call) == "compile" and "steps_per_execution" not in {k.arg for k in call.keywords} and len(call.args) + len(call.keywords) > 1]
    report.say("replicated", (bare if ipus > 1 else []) + run.faults("tf-ipu.steps-per-execution", "tf-ipu.replicas"), "executions fit the replicas")
    staged = any(called(call) == "PipelineStage" for _, call in all_of(after, ast.Call))
    report.say("pipeline", run.lost("tf-ipu.pipeline") if staged else run.faults("tf-ipu.pipeline"), "stages and their options, before compile")
    report.say("all", [f"{rule}: {fault['why']}" for rule, faults in run.broken.items() for fault in faults], "every contract is met")
    return report


def main(arguments):
    if arguments.count("--") not in (1, 2) or arguments.index("--") != 2:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    rest = arguments[3:]
    cut = rest.index("--") if "--" in rest else len(rest)
    report = check(arguments[0], arguments[1], rest[:cut], *map(int, rest[cut + 1 :]))
    print("\n".join(report.lines))
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
