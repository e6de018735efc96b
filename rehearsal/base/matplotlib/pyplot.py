"""`matplotlib.pyplot`."""

from .drawing import Drawing, __getattr__  # noqa: F401


def subplots(nrows=1, ncols=1, squeeze=True, **_):
    """A figure and its axes: one, a row of them or a table, as the real one gives them."""
    shape = [n for n in (nrows, ncols) if n != 1 or not squeeze]
    return Drawing(), Drawing(shape or (1,))


def savefig(file, **options):
    Drawing().savefig(file, **options)
