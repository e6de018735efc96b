"""The requirements for every port, for all targets: its compute mode, its imports, its other modes (V1 to V6)."""

import ast
import pathlib
import re
import subprocess

from checkout import changed_for, lost_statements, neutral, text
from rehearsed import at_home, same_calls

NUMBERS = {"HPU": 4, "IPU": 5, "RDU": 6}


def mode_faults(before, after, mode):
    """The enum has the mode, once, with a number of its own."""
    if before.enum is None:
        return []
    if after.enum is None:
        return ["the enum of compute modes is gone"]
    members = after.enum[2]
    if mode not in members:
        return [f"{after.enum[0]}: {after.enum[1].name} has no member {mode}"]
    values = [text(value) for value in members.values()]
    return [f"{mode} = {text(members[mode])} is taken"] if values.count(text(members[mode])) != 1 else []


def unguarded(after, modules):
    """Imports of the vendor's modules that would run on every machine."""
    faults = []
    for path, tree in after.files.items():
        stack = [(node, False) for node in tree.body]
        while stack:
            node, guarded = stack.pop()
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                continue
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            if not guarded and any(name.split(".")[0] in modules for name in names):
                faults.append(f"{path}:{node.lineno} {text(node)} without a guard")
            stack += [(child, guarded or isinstance(node, (ast.Try, ast.If))) for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt)]
    return faults


def other_modes(before, after, mode, home):
    """Changes for the other modes, and a run on the original machine with different calls."""
    modes = [name for name in before.enum[2] if name != mode] if before.enum else []
    faults = changed_for(before, after, modes, before.functions) + lost_statements(before, after)
    return faults + same_calls(at_home(before.root, tuple(home)), at_home(after.root, tuple(home)))


def tokens(after, words):
    """Places with a word that must not be there."""
    found = []
    for path in sorted(after.root.rglob("*.py")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            found += [f"{path.name}:{number} {word}" for word in words if re.search(rf"\b{re.escape(word)}\b", line)]
    return found


def every_port(report, before, after, mode, home):
    """V1 to V6 of the list, except V4: that a second port changes nothing is checked by the engine."""
    report.say("V1", [], f"{len(after.files)} files parse")
    ran = at_home(after.root, tuple(home))
    report.say("V2", same_calls(at_home(before.root, tuple(home)), ran), f"as before at home: {len(ran.calls)} calls")
    numbers = [f"{name} = {text(value)}, not {NUMBERS[name]}" for name, value in (after.enum[2] if after.enum else {}).items()
               if name in NUMBERS and name not in before.enum[2] and text(value) != str(NUMBERS[name])
               and str(NUMBERS[name]) not in map(text, before.enum[2].values())]
    report.say("V3", numbers + mode_faults(before, after, mode), "numbers of the modes are their own")
    report.say("V5", tokens(after, ["TRUE", "from re import I", "lorem"]), "no left-overs")
    faults = []
    for script in sorted(pathlib.Path(after.root).rglob("*.sh")):
        if subprocess.run(["bash", "-n", str(script)], capture_output=True).returncode:
            faults.append(f"{script.name} is no shell script")
        faults += [f"{script.name}: a home folder" for line in script.read_text().splitlines() if re.search(r"/home/\w+|/Users/\w+", line)]
    report.say("V6", faults, "launch scripts are in order")
