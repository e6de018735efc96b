"""What programs expect of the Python around them, where the one that rehearses differs from the one they were written for."""

import builtins
import dataclasses


class _Shell:
    """Notebook exports call `get_ipython()` without importing it."""

    def run_line_magic(self, name, line):
        return None

    def system(self, line):
        return None


builtins.get_ipython = _Shell

# Up to Python 3.10, which the vendors' kits run on, a field may have an instance of another dataclass as its default; from 3.11 on
# such an instance is refused, because it has no hash. Configurations written for Hydra 1.1 are full of them.
_decorate = dataclasses.dataclass


def _dataclass(cls=None, **options):
    if cls is None:
        return lambda given: _dataclass(given, **options)
    for name in cls.__dict__.get("__annotations__", {}):
        kind = type(cls.__dict__.get(name))
        if dataclasses.is_dataclass(kind) and kind.__hash__ is None:
            kind.__hash__ = object.__hash__
    return _decorate(cls, **options)


dataclasses.dataclass = _dataclass
