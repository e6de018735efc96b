"""The behaviour of programs when they are run, with stand-ins for the modules that they import.

One request per line on standard input, `{"texts": [...], "modes": [...]}`; the answer, one line of JSON, contains for each mode and each text
the calls and the output, in order; null if the text is not a program. A module of `STAND_INS` has members that can be called, entered, looped over and computed with;
any other that is not in `OWN` is not installed.
"""

import builtins
import contextlib
import dataclasses
import enum
import functools
import json
import math
import os
import signal
import sys
import types
import typing

OWN = {module.__name__: module for module in (contextlib, dataclasses, functools, math, typing)}
STAND_INS = ("torch", "numpy", "os", "sys", "logging", "time", "argparse", "random", "torchvision")
MOST = 400
SAFE = [
    "ArithmeticError AttributeError Exception False ImportError IndexError KeyError ModuleNotFoundError NameError None NotImplemented "
    "NotImplementedError OSError RuntimeError StopIteration True TypeError ValueError __build_class__ abs all any bool bytes callable "
    "classmethod dict divmod enumerate filter float format frozenset getattr hasattr hash int isinstance issubclass iter len list map "
    "max min next object property range repr reversed round set setattr slice sorted staticmethod str sum super tuple type zip"
]


class Modes(enum.EnumMeta):
    """Enumerations in which a port finds the same members as the original when it iterates over them: a program that iterates over its
    compute modes would otherwise find the one that the port adds, as intended."""

    ORIGINAL = set()
    is_original = True

    def __new__(cls, name, *rest, **more):
        made = super().__new__(cls, name, *rest, **more)
        if Modes.is_original:
            Modes.ORIGINAL.update((name, member) for member in made._member_map_)
        return made

    def __iter__(cls):
        return (member for member in super().__iter__() if (cls.__name__, member.name) in Modes.ORIGINAL)

    def __reversed__(cls):
        return reversed(list(cls))

    def __len__(cls):
        return sum(1 for _ in cls)

    @property
    def __members__(cls):
        own = super().__members__.items()
        return types.MappingProxyType({name: member for name, member in own if (cls.__name__, name) in Modes.ORIGINAL})


class Enum(enum.Enum, metaclass=Modes):
    pass


class IntEnum(enum.IntEnum, metaclass=Modes):
    pass


class StrEnum(getattr(enum, "StrEnum", enum.Enum), metaclass=Modes):
    pass


OWN["enum"] = types.SimpleNamespace(**{**vars(enum), "Enum": Enum, "IntEnum": IntEnum, "StrEnum": StrEnum})


class TooLong(BaseException):
    """The program does not terminate."""


class Names(dict):
    """The built-in names; undefined names are recorded."""

    def __missing__(self, name):
        self.trace.say(f"no name {name}")
        raise KeyError(name)


class Trace(list):
    def say(self, text):
        if len(self) > MOST:
            raise TooLong
        self.append(text[:200])


def shown(value, depth=0):
    if isinstance(value, StandIn):
        return object.__getattribute__(value, "_name")
    if depth < 3 and isinstance(value, (list, tuple, set)):
        return f"{type(value).__name__}({', '.join(shown(one, depth + 1) for one in list(value)[:9])})"
    if depth < 3 and isinstance(value, dict):
        return "{" + ", ".join(f"{shown(k, depth + 1)}: {shown(v, depth + 1)}" for k, v in list(value.items())[:9]) + "}"
    if isinstance(value, (str, int, float, bytes, type(None), enum.Enum)):
        return repr(value)
    return type(value).__name__


class StandIn:
    """Anything: operations on it are recorded under its name."""

    def __init__(self, name, trace):
        object.__setattr__(self, "_name", name[-80:])
        object.__setattr__(self, "_trace", trace)

    def _made(self, name):
        return StandIn(f"{object.__getattribute__(self, '_name')}{name}", object.__getattribute__(self, "_trace"))

    def _say(self, text):
        object.__getattribute__(self, "_trace").say(f"{object.__getattribute__(self, '_name')}{text}")

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self._made("." + name)

    def __setattr__(self, name, value):
        self._say(f".{name} = {shown(value)}")
        object.__setattr__(self, name, value)

    def __call__(self, *args, **kwargs):
        given = [shown(one) for one in args] + [f"{name}={shown(one)}" for name, one in kwargs.items()]
        self._say(f"({', '.join(given)})")
        return self._made("()")

    def __iter__(self):
        return iter([self._made("[0]"), self._made("[1]")])

    def __getitem__(self, key):
        return self._made(f"[{shown(key)}]")

    def __setitem__(self, key, value):
        self._say(f"[{shown(key)}] = {shown(value)}")

    def __enter__(self):
        self._say(" entered")
        return self._made(" entered")

    def __exit__(self, *_):
        self._say(" left")

    def __len__(self):
        return 2

    def __bool__(self):
        return True

    def __index__(self):
        return 2

    def __float__(self):
        return 0.5

    def __repr__(self):
        return object.__getattribute__(self, "_name")

    def __eq__(self, other):
        return self is other

    def __hash__(self):
        return 1

    def __neg__(self):
        return self._made("-")

    def __lt__(self, other):
        return False

    __gt__ = __le__ = __ge__ = __lt__
    __add__ = __sub__ = __mul__ = __truediv__ = __mod__ = __matmul__ = __pow__ = lambda self, other: self._made("+" + shown(other))
    __radd__ = __rsub__ = __rmul__ = __rtruediv__ = __add__


class Module:
    """A stand-in for a class that programs derive from."""

    def __call__(self, *args):
        return self.forward(*args)

    def cuda(self, *args):
        self.TRACE.say(f"{type(self).__name__}.cuda({', '.join(map(shown, args))})")
        return self

    def to(self, *args):
        self.TRACE.say(f"{type(self).__name__}.to({', '.join(map(shown, args))})")
        return self

    def train(self, *args):
        self.TRACE.say(f"{type(self).__name__}.train({', '.join(map(shown, args))})")
        return self

    def parameters(self):
        return [1.0]


def did(text, mode):
    """The behaviour of a program in this mode."""
    trace = Trace()
    stand_in = functools.partial(StandIn, trace=trace)
    torch = stand_in("torch")
    object.__setattr__(torch, "nn", stand_in("torch.nn"))
    object.__setattr__(torch.nn, "Module", type("Module", (Module,), {"TRACE": trace}))
    # Environment variables do not count: a port may set variables that only the vendor's software reads.
    system = stand_in("os")
    object.__setattr__(system, "environ", {})

    def bring(name, globals=None, locals=None, fromlist=(), level=0):
        top = name.split(".")[0]
        if name in OWN:
            return OWN[name]
        if level or top not in STAND_INS:
            raise ModuleNotFoundError(f"No module named {name!r}")
        found = {"torch": torch, "os": system}.get(top) or stand_in(top)
        for part in name.split(".")[1:] if fromlist else []:
            found = getattr(found, part)
        return found

    own = Names((name, getattr(builtins, name)) for name in " ".join(SAFE).split())
    own.trace = trace
    own.update(__import__=bring, print=lambda *args, **_: trace.say("printed " + " ".join(map(shown, args))))
    names = {"__builtins__": own, "__name__": "__main__", "MODE": mode}
    try:
        code = compile(text, "program", "exec")
    except (SyntaxError, ValueError):
        return None
    LATE.clear()
    signal.setitimer(signal.ITIMER_REAL, 2, 0.1)
    try:
        exec(code, names)
    except TooLong:
        trace.append("does not end")
    except RecursionError:
        trace.append("does not end")
    except BaseException as error:  # an error is behaviour, too
        trace.append(f"{type(error).__name__}: {error}")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return list(trace)


LATE = []


def late(*_):
    # A program may catch even this, and continue.
    LATE.append(1)
    if len(LATE) > 20:
        os._exit(1)
    raise TooLong


signal.signal(signal.SIGALRM, late)
for line in sys.stdin:
    asked = json.loads(line)
    answer = []
    for mode in asked["modes"]:
        Modes.ORIGINAL.clear()
        answer.append([])
        for text in asked["texts"]:
            Modes.is_original = not answer[-1]
            answer[-1].append(did(text, mode))
    print(json.dumps(answer), flush=True)
