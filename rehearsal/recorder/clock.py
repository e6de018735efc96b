"""Numbers that come from the clock carry a mark where they are printed, so that two runs are not compared by them."""

import functools
import time

# Invisible, and in no text that a program writes.
MARK = "\u2063"
READ = ("time", "perf_counter", "monotonic", "process_time")
COMPUTED = ("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "floordiv", "rfloordiv", "mod", "neg", "abs", "round")


class Elapsed(float):
    """A time, or what is computed from one."""

    __slots__ = ()

    def __repr__(self):
        return MARK + float.__repr__(self)

    __str__ = __repr__

    def __format__(self, spec):
        if not spec:
            return repr(self)
        text = float.__format__(self, spec)
        number = text.lstrip(" ")
        return text[: len(text) - len(number)] + MARK + number

    def __reduce__(self):
        return float, (float(self),)


def _computed(name):
    of_float = getattr(float, name)

    @functools.wraps(of_float)
    def computed(*values):
        result = of_float(*values)
        return Elapsed(result) if type(result) is float else result

    return computed


for _name in COMPUTED:
    setattr(Elapsed, f"__{_name}__", _computed(f"__{_name}__"))


def install():
    for name in READ:
        setattr(time, name, _elapsed(getattr(time, name)))


def _elapsed(read):
    @functools.wraps(read)
    def elapsed():
        return Elapsed(read())

    return elapsed
