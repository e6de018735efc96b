"""A stand-in for matplotlib: whatever is drawn is drawn nowhere, and no file is written."""

from .drawing import Drawing

rcParams = {}


def use(backend, **_):
    """Any backend will do."""


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return Drawing()
