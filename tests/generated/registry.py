"""All habits, by the dimension of a program that each decides."""

import importlib
import pkgutil

# In the order in which they write; the first habit of each is the plain one.
DIMENSIONS = {}
ORDER = (
    "structure", "settings", "seed", "device", "model", "loss", "data", "batch", "loader", "parts", "optimizer", "order", "accumulation",
    "precision", "clipping", "schedule", "extra", "metrics", "evaluation", "checkpoint", "report",
)


class Habit:
    def __init__(self, dimension, write, fits):
        self.dimension, self.name, self.write, self.fits = dimension, write.__name__, write, fits


def habit(dimension, fits=lambda chosen: True):
    """Registers a function that writes one habit into a draft. `fits` tells whether it goes with the habits chosen so far, by dimension;
    a dimension that is not chosen yet has none, so it asks with `chosen.get`."""
    def register(write):
        DIMENSIONS.setdefault(dimension, {})[write.__name__] = Habit(dimension, write, fits)
        return write
    return register


def needs(**allowed):
    """Goes only with these habits of other dimensions."""
    return lambda chosen: all(chosen.get(dimension) in (None, *names.split()) for dimension, names in allowed.items())


def without(**banned):
    """Goes with all habits of other dimensions but these."""
    return lambda chosen: all(chosen.get(dimension) not in names.split() for dimension, names in banned.items())


def load():
    import habits

    for module in sorted(pkgutil.iter_modules(habits.__path__), key=lambda module: module.name):
        importlib.import_module(f"habits.{module.name}")
    missing = set(ORDER) ^ set(DIMENSIONS)
    assert not missing, f"dimensions without habits, or not in order: {missing}"
    return DIMENSIONS


def fitting(dimension, chosen):
    """The names of the habits of a dimension that go with those chosen, in every direction."""
    return [name for name in DIMENSIONS[dimension] if fits({**chosen, dimension: name})]


def fits(chosen):
    """Whether habits go together: each is asked about all."""
    return all(DIMENSIONS[dimension][name].fits(chosen) for dimension, name in chosen.items())


def plain():
    return {dimension: next(iter(DIMENSIONS[dimension])) for dimension in ORDER}
