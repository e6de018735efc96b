"""Contracts of the vendors' software: which ones a program met, and where it broke one.

A stand-in says `kept(rule)` where the program did right, `broken(rule, why)` where the real software would go on in silence with
something else than the author meant, and `raise refused(rule, why)` where the real software raises too. The place is the line of the
*program*, not of the stand-in.

`STAND_IN_CONTRACTS=FILE`: at exit one JSON object a line: rule, kept (how often), broken (a list of {why, file, line}).
"""

import atexit
import dis
import json
import os
import re
import sys

KIT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LIBRARIES = tuple({os.path.join(os.path.dirname(os.path.abspath(module.__file__)), "") for module in (os, json)}) + ("<frozen",)

_kept, _broken = {}, {}


class ContractBroken(RuntimeError):
    """What the real software would say, in our words."""


def place():
    """File and line of the program's own code that led here."""
    frame = sys._getframe(1)
    while frame is not None:
        if is_of_the_program(frame.f_code.co_filename):
            return frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back
    return "?", 0


def is_of_the_program(file):
    """Whether code of this file is the program's, and none of a library's or of the kit's."""
    is_of_kit = file.startswith(KIT) and not file.startswith(os.path.join(KIT, "tests"))
    is_installed = any(f"{os.sep}{folder}{os.sep}" in file for folder in ("site-packages", "dist-packages"))
    return not file.startswith(LIBRARIES) and not is_of_kit and not is_installed


def result_is_dropped():
    """Whether the program throws away what this call gives back: `net.train()` as a statement of its own."""
    frame = sys._getframe(2)
    instructions = [i for i in dis.get_instructions(frame.f_code) if i.opname != "CACHE"]
    following = next((i for i in instructions if i.offset > frame.f_lasti), None)
    return following is not None and following.opname == "POP_TOP"


def kept(rule):
    _kept[rule] = _kept.get(rule, 0) + 1


def broken(rule, why):
    """Writes a fault down, once for each place."""
    file, line = place()
    fault = {"why": why, "file": file, "line": line}
    faults = _broken.setdefault(rule, [])
    if fault not in faults:
        faults.append(fault)
        if os.environ.get("STAND_IN_KERNEL"):
            # Seen in the cell that runs; what is printed at the end of a kernel, nobody sees.
            print(f"rehearsal: BROKEN {rule}: {why}", file=sys.stderr)


def refused(rule, why):
    """The fault as an exception to raise."""
    broken(rule, why)
    return ContractBroken(f"[{rule}] {why}")


def require(rule, condition, why):
    """Raises unless the condition holds."""
    if not condition:
        raise refused(rule, why)
    kept(rule)


def expect(rule, condition, why):
    """Writes a fault down unless the condition holds: the real software would go on."""
    if condition:
        kept(rule)
    else:
        broken(rule, why)


def is_broken(rule):
    return rule in _broken


def known(folders, machine="cpu"):
    """The rules that the modules in these folders look for on a machine, by name."""
    found = set()
    for folder in folders:
        for root, _, files in os.walk(os.path.join(KIT, folder)):
            for file in (os.path.join(root, file) for file in files if file.endswith(".py")):
                with open(file, encoding="utf-8") as source:
                    rules = re.findall(r"(?:kept|broken|refused|require|expect)\(\s*f?\"([a-z-]+|\{MACHINE\})(\.[a-z-]+)\"", source.read())
                found.update(owner.replace("{MACHINE}", machine) + rule for owner, rule in rules)
    return sorted(found)


def report():
    """Every rule that came up, in order of its name."""
    return [{"rule": rule, "kept": _kept.get(rule, 0), "broken": _broken.get(rule, [])} for rule in sorted({*_kept, *_broken})]


def dump():
    path = os.environ.get("STAND_IN_CONTRACTS")
    if path:
        with open(path, "w", encoding="utf-8") as out:
            for line in report():
                out.write(json.dumps(line) + "\n")


atexit.register(dump)


class RehearsalOver(SystemExit):
    """Enough steps were seen."""

    def __init__(self):
        super().__init__(0)


_steps = [0, int(os.environ.get("STAND_IN_STEPS", "0"))]


def count_step():
    """One step on the accelerator; ends the program when the rehearsal has a limit and it is reached."""
    _steps[0] += 1
    if _steps[1] and _steps[0] > _steps[1]:
        raise RehearsalOver()
