"""Runs a function once a module has been imported."""

import importlib.util
import sys

_waiting = {}


class _Loader:
    """A module's own loader, with something to do behind it."""

    def __init__(self, loader, name):
        self._loader, self._name = loader, name

    def __getattr__(self, attribute):
        return getattr(self._loader, attribute)

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        module.__spec__.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        for function in _waiting.pop(self._name):
            function()


class _Finder:
    looking = False

    def find_spec(self, name, path=None, target=None):
        if name not in _waiting or self.looking:
            return None
        self.looking = True
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self.looking = False
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, name)
        return spec


def when_imported(name, function):
    """Calls the function when the module of this name is there: now, or behind its import."""
    if name in sys.modules:
        function()
    else:
        _waiting.setdefault(name, []).append(function)


sys.meta_path.insert(0, _Finder())
