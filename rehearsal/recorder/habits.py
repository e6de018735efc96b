"""What programs expect of the Python around them, where the one that rehearses differs from the one they were written for."""

import builtins
import dataclasses
import os
import shlex
import sys


class _Shell:
    """Notebooks and their exports call `get_ipython()` without importing it. Settings of the environment are made and files written;
    other magics and lines for a shell are not run."""

    def run_line_magic(self, name, line):
        name_of, equals, value = line.partition("=")
        if name in ("env", "set_env") and equals:
            os.environ[name_of.strip()] = value.strip()
        elif name in ("run", "cd", "load_ext", "pip", "conda"):
            print(f"rehearsal: not run: %{name} {line}".rstrip())

    def run_cell_magic(self, name, line, cell):
        if name in ("writefile", "file") and line.strip():
            try:
                *options, path = shlex.split(line)
            except ValueError:
                *options, path = line.split()
            path = os.path.expanduser(path)
            # A notebook imports from the folder that it runs in; here its program is in another one.
            for place in {path, os.path.join(os.path.dirname(os.path.abspath(sys.argv[0])), path)}:
                if os.path.isdir(os.path.dirname(os.path.abspath(place))):
                    with open(place, "a" if {"-a", "--append"} & set(options) else "w", encoding="utf-8") as out:
                        out.write(cell)
            return
        if name not in ("html", "javascript", "latex", "markdown", "svg"):
            print(f"rehearsal: not run: the cell %%{name} {line}".rstrip())

    def system(self, line):
        print(f"rehearsal: not run: !{line}")

    def run_cell(self, code, **options):
        print(f"rehearsal: not run: {code.strip()}")

    def getoutput(self, line, **options):
        self.system(line)
        return []

    def __getattr__(self, name):
        return lambda *arguments, **options: None


builtins.get_ipython = _Shell
# Another builtin of notebooks.
builtins.display = lambda *objects, **options: print(*objects)

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
