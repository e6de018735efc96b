"""Whether a program stopped because the kit has less than the software it stands in for. That says nothing of the program."""

import linecache
import os
import re
import sys
import traceback
import types

from contracts import KIT

# What in the stand-ins' own lines is a gap or a slip of theirs, unless a `raise` stands there.
SLIPS = (AttributeError, IndexError, KeyError, NameError, TypeError, ZeroDivisionError)


def _is_kit(file):
    return bool(file) and file.startswith(KIT + os.sep) and not file.startswith(os.path.join(KIT, "tests"))


def _module_is_kit(name):
    return name != "__main__" and _is_kit(getattr(sys.modules.get(name), "__file__", None))


def _attribute(error):
    """Owner and name of an attribute that is not there; before Python 3.10 the message alone says."""
    owner, name = getattr(error, "obj", None), getattr(error, "name", None)
    told = re.match(r"module '([\w.]+)' has no attribute '(\w+)'", str(error))
    if owner is None and told:
        owner, name = sys.modules.get(told.group(1)), told.group(2)
    if name is None or owner is None:
        return None
    if isinstance(owner, types.ModuleType):
        # A module that says what the real one has not either.
        known_absent = name in owner.__dict__.get("ABSENT", ())
        return f"{owner.__name__}.{name}" if _is_kit(getattr(owner, "__file__", None)) and not known_absent else None
    kind = owner if isinstance(owner, type) else type(owner)
    home = ".".join(part for part in kind.__module__.split(".") if not part.startswith("_"))
    return f"{home}.{kind.__qualname__}.{name}" if _module_is_kit(kind.__module__) else None


def _imported(error):
    if isinstance(error, ModuleNotFoundError):
        name = error.name or ""
        return name if "." in name and _module_is_kit(name.partition(".")[0]) else None
    name = re.match(r"cannot import name '(\w+)'", str(error))
    return f"{error.name}.{name.group(1)}" if name and _is_kit(error.path) else None


def _argument(error):
    """`Linear.__init__() got an unexpected keyword argument 'x'`, where that function is the kit's."""
    told = re.match(r"([\w.]+)\(\) got an unexpected keyword argument '(\w+)'", str(error))
    if not told:
        return None
    owner, _, _ = told.group(1).rpartition(".__init__")
    for module in [module for name, module in sys.modules.items() if _module_is_kit(name)]:
        found = module
        for part in (owner or told.group(1)).split("."):
            found = getattr(found, part, None)
        if found is not None and getattr(found, "__module__", None) == module.__name__:
            return f"the argument {told.group(2)} of {module.__name__}.{owner or told.group(1)}"
    return None


def lacking(error):
    """What the kit lacks, in words for the report; None when the error is the program's own or the vendor's."""
    if isinstance(error, ImportError):
        return _imported(error)
    if isinstance(error, AttributeError) and _attribute(error):
        return _attribute(error)
    if isinstance(error, TypeError) and _argument(error):
        return _argument(error)
    frames = traceback.extract_tb(error.__traceback__)
    if not frames or not isinstance(error, SLIPS):
        return None
    last = frames[-1]
    if _is_kit(last.filename) and not linecache.getline(last.filename, last.lineno).strip().startswith("raise "):
        return f"what it takes to go on ({os.path.relpath(last.filename, KIT)}:{last.lineno}: {type(error).__name__}: {error})"
    return None


def place(error):
    """The program's own line that led there."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not _is_kit(frame.filename)]
    own = [frame for frame in frames if not frame.filename.startswith(("<frozen", os.path.dirname(os.__file__), os.path.join(KIT, "rehearse")))]
    return f"{os.path.relpath(own[-1].filename)}:{own[-1].lineno}" if own else "the script"
