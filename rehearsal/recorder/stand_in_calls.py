"""Writes down what the program called."""

import atexit
import json
import os

CALLS = []
# Above 0 while what is called is part of something that is written down as a whole.
silent = [0]
MACHINE = os.environ.get("STAND_IN_MACHINE", "cpu")
# Whether torch has a device of a port's, beside the CPU.
PORTED = MACHINE in ("hpu", "xpu")


def plain(value):
    if isinstance(value, (str, int, float, bool)) or value is None:
        return value
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    return str(value) if type(value).__str__ is not object.__str__ else type(value).__name__


def record(name, **details):
    if silent[0]:
        return
    CALLS.append((name, {key: plain(value) for key, value in details.items()}))


def dump():
    path = os.environ.get("STAND_IN_CALLS")
    if path:
        with open(path, "w", encoding="utf-8") as out:
            for call in CALLS:
                out.write(json.dumps(call) + "\n")


atexit.register(dump)
