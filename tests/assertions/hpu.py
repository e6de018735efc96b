#!/usr/bin/env python3
"""Checks whether a port to HPU is a correct port of a project with compute modes.

    python3 hpu.py BEFORE AFTER [-- HOME…]

BEFORE and AFTER are two checkouts of one project; HOME… is the program and its arguments on a machine without Gaudi: with it the list
ends with the requirements for every port, and both are run. The project's names are not known: the enum of compute modes is the one with
members CPU and GPU, a training step is a function that calls `.backward()`, and so on. Functions are compared *reduced to one compute
mode*: tests of the mode are evaluated, branches not taken are dropped, and the rest is either equal to the original or reported.

One line per assertion; exit status 1 if one fails.
"""

import ast
import re
import sys

from checkout import Checkout, Report, called, calls, changed_for, is_no_grad, lost_statements, neutral, parents_of, returned, text
from common import every_port

TARGET = "HPU"


# ---------------------------------------------------------------------------------------------- questions about code


def habana_imports(node):
    for n in ast.walk(node):
        names = [a.name for a in n.names] if isinstance(n, ast.Import) else [n.module or ""] if isinstance(n, ast.ImportFrom) else []
        if any(name.split(".")[0] == "habana_frameworks" for name in names):
            yield n
        elif isinstance(n, ast.Call) and called(n) == "import_module" and "habana_frameworks" in text(n):
            yield n


def imported(node):
    if isinstance(node, ast.Import):
        return " ".join(a.name for a in node.names)
    if isinstance(node, ast.ImportFrom):
        return f"{node.module} " + " ".join(f"{node.module}.{a.name}" for a in node.names)
    return text(node)


def sets_lazy(node):
    """Statements that put PT_HPU_LAZY_MODE into the environment."""
    for n in ast.walk(node):
        if isinstance(n, ast.Assign) and any("PT_HPU_LAZY_MODE" in text(t) and "environ" in text(t) for t in n.targets):
            yield n
        elif isinstance(n, ast.Call) and called(n) in ("setdefault", "update", "putenv") and "PT_HPU_LAZY_MODE" in text(n):
            yield n


def optimizers(checkout):
    """Names of optimizers: assigned from a class of torch.optim, or created with the `.parameters()` of something."""
    names = set()
    for tree in checkout.files.values():
        for n in ast.walk(tree):
            if isinstance(n, ast.Assign) and isinstance(n.value, ast.Call):
                callee = text(n.value.func)
                if re.search(r"\boptim\.[A-Z]\w*$", callee) and "lr_scheduler" not in callee:
                    names |= {text(t) for t in n.targets}
    return names


# ---------------------------------------------------------------------------------------------- the assertions


def check(before_root, after_root, home=()):
    before = before_root if isinstance(before_root, Checkout) else Checkout(before_root)
    after, report = Checkout(after_root), Report()
    if before.enum is None:
        raise SystemExit("no enum with members CPU and GPU in the original: these assertions are for projects with compute modes")
    old_members = before.enum[2]
    others = list(old_members)

    # A1: the enum has the target, and all previous members.
    path, node, members = after.enum or before.enum
    faults = []
    if TARGET not in members:
        faults.append(f"{path}: {node.name} has no member {TARGET}")
    else:
        values = [text(v) for v in members.values()]
        if values.count(text(members[TARGET])) != 1:
            faults.append(f"{path}: {node.name}.{TARGET} = {text(members[TARGET])} is taken")
    faults += [f"{m} changed" for m, v in old_members.items() if m not in members or text(members[m]) != text(v)]
    report.say("A1", faults, f"{path}: {node.name}.{TARGET} = {text(members.get(TARGET, node.bases[0]))}")

    # A2: next to the mode, a switch for lazy mode.
    switch = None
    for (path, name), cls in after.classes.items():
        fields = [s for s in cls.body if isinstance(s, ast.AnnAssign)]
        if any(text(f.annotation).split(".")[-1] == node.name for f in fields):
            for f in fields:
                if "lazy" in text(f.target) and text(f.annotation) == "bool":
                    switch = f"{path}:{f.lineno}: {text(f)}"
    report.say("A2", [] if switch else ["no `lazy_mode: bool` beside the compute mode"], switch)

    # Device choosers and device contexts: functions that depend on the mode and return torch.device / torch.cuda.device.
    choosers, contexts = [], []
    for key, function in before.functions.items():
        if "device" not in function.text:
            continue
        gpu = returned(before.seen_by(function.node, "GPU"))
        cpu = returned(before.seen_by(function.node, "CPU"))
        if gpu and gpu != cpu:
            if any(re.match(r"(torch\.)?device\(", r) for r in gpu):
                choosers.append(key)
            elif any("cuda.device(" in r for r in gpu):
                contexts.append(key)

    # A3
    faults = [] if choosers else ["no function of the original chooses a torch.device by mode"]
    for key in choosers:
        now = after.functions.get(key)
        if now is None:
            faults.append(f"{key[1]} is gone")
            continue
        got = returned(after.seen_by(now.node, TARGET))
        if not got or not all(re.fullmatch(r"(torch\.)?device\(['\"]hpu(:0)?['\"]\)", r) for r in got):
            faults.append(f"{now.at()} {key[1]} gives {sorted(got) or 'nothing'} for {TARGET}")
        for mode in others:
            was, gives = (returned(c.seen_by(c.functions[key].node, mode)) for c in (before, after))
            if was != gives:
                faults.append(f"{now.at()} {key[1]} gave {sorted(was)} for {mode}, now {sorted(gives)}")
    report.say("A3", faults, ", ".join(f"{p}: {n}" for p, n in choosers))

    # A4, A5: mark_step in the training steps.
    training = {k: f for k, f in after.functions.items() if any(called(c) == "backward" for c in calls(f.node))}
    held = optimizers(after)
    faults4, faults5, good = [], [], []
    if not training:
        faults4.append("no function calls .backward()")
    for key, function in training.items():
        seen = after.seen_by(function.node, TARGET)
        up = parents_of(function.node)
        up_seen = parents_of(seen)
        marks = sorted((c for c in calls(function.node) if called(c) == "mark_step"), key=lambda c: c.lineno)
        seen_marks = sorted((c for c in calls(seen) if called(c) == "mark_step"), key=lambda c: c.lineno)
        backward = [c for c in calls(seen) if called(c) == "backward"]
        steps = [
            c for c in calls(seen)
            if called(c) == "step" and isinstance(c.func, ast.Attribute)
            and (text(c.func.value) in held or any(text(a) in held for a in c.args))
        ]
        measures = [c for c in calls(seen) if "metric" in called(c) and "." in text(c.func)]

        def loop(node, up=up_seen):
            while node in up and not isinstance(node, (ast.For, ast.While)):
                node = up[node]
            return node if isinstance(node, (ast.For, ast.While)) else None

        if len(marks) != 2 or len(seen_marks) != 2:
            faults4.append(f"{function.at()} {key[1]} has {len(marks)} mark_step calls, {len(seen_marks)} for {TARGET}, not 2")
            continue
        first, second = seen_marks
        if not backward or not all(b.lineno < first.lineno for b in backward):
            faults4.append(f"{function.at(first)} the first mark_step is not behind backward")
        elif loop(first) is not loop(backward[0]):
            faults4.append(f"{function.at(first)} the first mark_step is not in the loop of backward")
        early = [m for m in measures if max(b.lineno for b in backward) < m.lineno < first.lineno]
        if early:
            faults4.append(f"{function.at(early[0])} metrics are computed between backward and mark_step")
        if not steps or not all(s.lineno < second.lineno for s in steps):
            faults4.append(f"{function.at(second)} the second mark_step is not behind every optimizer step")
        elif loop(second) is not loop(steps[-1]):
            faults4.append(f"{function.at(second)} the second mark_step is in another loop than the optimizer step")
        for mark in marks:
            for mode in others:
                if any(called(c) == "mark_step" and c.lineno == mark.lineno for c in calls(after.seen_by(function.node, mode))):
                    faults5.append(f"{function.at(mark)} mark_step runs for {mode}")
                    break
            node_up, lazily = mark, False
            while node_up in up:
                node_up = up[node_up]
                lazily |= isinstance(node_up, (ast.If, ast.IfExp)) and "lazy" in text(node_up.test)
            if not lazily:
                faults5.append(f"{function.at(mark)} mark_step does not ask for lazy mode")
        good.append(f"{function.path}:{first.lineno},{second.lineno}")
    report.say("A4", faults4, ", ".join(good))
    report.say("A5", faults5 or ([] if good else ["there is no mark_step to judge"]), "both under the target and lazy mode")

    # A6: validation under no_grad.
    faults, good = [], []
    for key, function in after.functions.items():
        if not re.search(r"val|eval|test", key[1].split(".")[-1], re.I):
            continue
        if not any(called(c) == "eval" for c in calls(function.node)):
            continue
        if not any("torch" in imported(n) for n in ast.walk(after.files[key[0]]) if isinstance(n, (ast.Import, ast.ImportFrom))):
            continue
        seen = after.seen_by(function.node, TARGET)
        up = parents_of(seen)
        if any(is_no_grad(d) or text(d) == "torch.no_grad" for d in seen.decorator_list):
            good.append(function.at())
            continue
        wanted = [c for c in calls(seen) if re.search(r"forward|loss|crit|metric", called(c)) and called(c) not in ("item",)]
        for c in wanted:
            place = c
            while place in up and not (isinstance(place, ast.With) and any(is_no_grad(i.context_expr) for i in place.items)):
                place = up[place]
            if not isinstance(place, ast.With):
                faults.append(f"{function.at(c)} {text(c.func)} runs with gradients")
        if wanted:
            good.append(function.at())
    report.say("A6", faults or ([] if good else ["no validation step found"]), ", ".join(good))

    # A7: habana is imported where it is needed, or under try.
    faults, good = [], []
    for path, tree in after.files.items():
        up = parents_of(tree)
        for n in habana_imports(tree):
            place, guarded = n, False
            while place in up:
                inner, place = place, up[place]
                if isinstance(place, ast.Try) and inner in place.body and place.handlers:
                    guarded |= any(
                        h.type is None or re.search(r"ImportError|ModuleNotFoundError|Exception", text(h.type)) for h in place.handlers
                    )
                guarded |= isinstance(place, (ast.If, ast.FunctionDef))
            (good if guarded else faults).append(f"{path}:{n.lineno} {text(n)}")
    report.say("A7", [f + " at top level, unguarded" for f in faults], f"{len(good)} imports, none at top level")

    # A8: PT_HPU_LAZY_MODE first.
    def prepared(function, line, depth=0, mode=TARGET):
        """Whether the function sets the environment variable before that line, directly or through a function that it calls."""
        seen = after.seen_by(function.node, mode)
        if any(n.lineno < line for n in sets_lazy(seen)):
            return True
        if depth > 2:
            return False
        for c in calls(seen):
            if c.lineno >= line:
                continue
            name = called(c)
            for (_, other), candidate in after.functions.items():
                same_class = name != "__init__" or (function.owner is not None and candidate.owner is not None and any(
                    text(b).split(".")[-1] == candidate.owner.name for b in function.owner.bases))
                if other.split(".")[-1] == name and candidate.node is not function.node and same_class:
                    if prepared(candidate, 10**9, depth + 1):
                        return True
        return False

    faults, good = [], []
    for path, tree in after.files.items():
        inside = {n: f for f in after.functions.values() if f.path == path for n in ast.walk(f.node)}
        top = [n.lineno for n in sets_lazy(tree) if n not in inside]
        for n in habana_imports(tree):
            if "tensorflow" in imported(n):
                continue
            function = inside.get(n)
            ok = any(line < n.lineno for line in top) or (function is not None and prepared(function, n.lineno))
            (good if ok else faults).append(f"{path}:{n.lineno} {text(n)}")
    report.say(
        "A8", [f + " before PT_HPU_LAZY_MODE is set" for f in faults] or ([] if good else ["habana is never imported"]), ", ".join(good)
    )

    # A9: every other mode is unchanged.
    faults = changed_for(before, after, others, before.functions) + lost_statements(before, after)
    report.say("A9", faults, f"{len(before.functions)} functions, unchanged for {', '.join(others)}")

    # A10: the device context is an instance, for every mode.
    faults = [] if contexts else ["no function of the original gives torch.cuda.device by mode"]
    for key in contexts:
        now = after.functions.get(key)
        for mode in [TARGET, *others] if now else []:
            got = returned(after.seen_by(now.node, mode))
            bad = [r for r in got if not r.endswith(")") or (mode != "GPU" and "cuda" in r)]
            if bad or not got:
                faults.append(f"{now.at()} {key[1]} gives {bad or 'nothing'} for {mode}")
    report.say("A10", faults, ", ".join(f"{p}: {n}" for p, n in contexts))

    # B1, B2, B3: the process group.
    groups = {k: f for k, f in after.functions.items() if any(called(c) == "init_process_group" for c in calls(f.node))}
    one, two, three, good = [], [], [], []
    if not groups:
        one.append("no function calls init_process_group")
        two, three = list(one), list(one)
    for key, function in groups.items():
        seen = after.seen_by(function.node, TARGET)
        inits = [c for c in calls(seen) if called(c) == "init_process_group"]
        hccl = [n for n in habana_imports(seen) if "hccl" in imported(n)]
        if not inits:
            one.append(f"{function.at()} no process group for {TARGET}")
            continue
        if not hccl:
            one.append(f"{function.at()} hccl is not imported for {TARGET}")
        elif min(n.lineno for n in hccl) > inits[0].lineno:
            one.append(f"{function.at(hccl[0])} hccl is imported behind init_process_group")
        for mode in others:
            other = after.seen_by(function.node, mode)
            if list(habana_imports(other)):
                one.append(f"{function.at()} habana is imported for {mode}")
            if re.search(r"['\"]hccl['\"]", text(other)):
                two.append(f"{function.at()} hccl is the backend for {mode}")
        for c in inits:
            value = next((k.value for k in c.keywords if k.arg == "backend"), c.args[0] if c.args else None)
            values = {text(value)} if value is not None else set()
            if isinstance(value, ast.Name):
                values = {
                    text(n.value) for n in ast.walk(seen) if isinstance(n, ast.Assign) and text(n.targets[0]) == value.id
                }
            if values != {"'hccl'"}:
                two.append(f"{function.at(c)} the backend for {TARGET} is {sorted(values) or 'not given'}")
        good.append(function.at())
        was = before.functions.get(key)
        if was is not None:
            three += changed_for(before, after, others, {key: was})
            old = next((c for c in calls(was.node) if called(c) == "init_process_group"), None)
            if old is not None:
                lost = {k.arg for k in old.keywords} - {k.arg for k in inits[0].keywords} - {"init_method"}
                if lost:
                    three.append(f"{function.at(inits[0])} {', '.join(sorted(lost))} is dropped for {TARGET}")
    report.say("B1", one, "hccl is imported for the target alone, before the process group")
    report.say("B2", two, "hccl for the target alone")
    report.say("B3", three, ", ".join(good) + ": the other modes' call is untouched")

    # B4: torch.cuda only for the GPU.
    faults = []
    quiet = {"is_available", "device_count", "manual_seed", "manual_seed_all"}

    def cuda_work(node):
        return {
            text(c.func) for c in calls(node)
            if (re.search(r"\btorch\.cuda\.", text(c.func)) and called(c) not in quiet)
            or (called(c) == "cuda" and isinstance(c.func, ast.Attribute))
        }

    for key, function in after.functions.items():
        if function.node.name == "cuda" or "cuda" not in function.text:  # a module's own method for moving to the card, called explicitly
            continue
        for what in sorted(cuda_work(after.seen_by(function.node, TARGET))):
            faults.append(f"{function.at()} {key[1]} calls {what} for {TARGET}")
        if key in before.functions:
            for mode in others:
                if mode == "GPU":
                    continue
                new = cuda_work(after.seen_by(function.node, mode)) - cuda_work(before.seen_by(before.functions[key].node, mode))
                faults += [f"{function.at()} {key[1]} now calls {what} for {mode}" for what in sorted(new)]
    report.say("B4", faults, "torch.cuda is called for the GPU alone")

    # B5: the local rank is the launcher's.
    faults = []
    for path, tree in after.files.items():
        for n in ast.walk(tree):
            if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Mod) and isinstance(n.right, ast.Constant) and "rank" in text(n.left).lower():
                faults.append(f"{path}:{n.lineno} {text(n)}")
            if isinstance(n, ast.Subscript) and text(n) == "os.environ['ID']" and isinstance(n.ctx, ast.Store):
                faults.append(f"{path}:{n.lineno} sets the obsolete variable ID")
    report.say("B5", faults, "no rank modulo a number")

    # B6, B7: TensorFlow's bridge is only in TensorFlow files, under the test for the target, and is run there.
    six, seven, good = [], [], []
    for path, tree in after.files.items():
        bridges = [n for n in habana_imports(tree) if "tensorflow" in imported(n)]
        is_tensorflow = any(
            imported(n).split()[0].split(".")[0] == "tensorflow" for n in ast.walk(tree) if isinstance(n, (ast.Import, ast.ImportFrom))
        )
        six += [f"{path}:{n.lineno} {text(n)} in a file of PyTorch" for n in bridges if not is_tensorflow]
    for key, function in after.functions.items():
        if any("tensorflow" in imported(n) for n in habana_imports(function.node)):
            seven += [f"{function.at()} the bridge is loaded for {mode}" for mode in others
                      if any("tensorflow" in imported(n) for n in habana_imports(after.seen_by(function.node, mode)))]
            if not any(called(c) == "load_habana_module" for c in calls(after.seen_by(function.node, TARGET))):
                seven.append(f"{function.at()} the bridge is imported and not loaded for {TARGET}")
            good.append(function.at())
    trains = [path for path, tree in after.files.items() if re.search(r"\b(tf|tensorflow)\.keras\.(Model|Sequential|optimizers)", text(tree))
              and any(after.member(n) for n in ast.walk(tree))]
    missing = [path for path in trains if not any(path == at.rsplit(":", 1)[0] for at in good)]
    report.say("B6", six, "no bridge of TensorFlow in files of PyTorch")
    report.say("B7", seven + [f"{path} never loads the bridge" for path in missing], ", ".join(good) or "no trainer of TensorFlow knows the modes")

    # B8: requirements.
    faults, good = [], []
    vendor = {"torch", "tensorflow", "torchvision", "torchaudio", "tensorflow-gpu"}
    for old in sorted(before.root.rglob("requirements*.txt")):
        relative = old.relative_to(before.root)
        new = after.root / relative
        if not new.exists():
            faults.append(f"{relative} is gone")
            continue
        left = new.read_text(encoding="utf-8").splitlines()
        for line in old.read_text(encoding="utf-8").splitlines():
            name = re.split(r"[\s<>=!~;\[]", line.strip(), maxsplit=1)[0].lower()
            if name in vendor and line not in left and any(l.lstrip().startswith("#") and line.strip() in l for l in left):
                good.append(line.strip())
            elif name in ("torch", "tensorflow"):
                faults.append(f"{relative}: {line.strip()} is not commented out")
            elif line not in left:
                faults.append(f"{relative}: {line.strip()!r} is changed")
    report.say("B8", faults or ([] if good else ["no requirement to comment out"]), "commented: " + ", ".join(good))
    if home:
        every_port(report, before, after, TARGET, home)
    return report


def main(arguments):
    home = arguments[3:] if arguments[2:3] == ["--"] else []
    if len(arguments) != 2 and not home:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    report = check(*arguments[:2], home)
    print("\n".join(report.lines))
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
