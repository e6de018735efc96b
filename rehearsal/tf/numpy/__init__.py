"""As much of numpy as training scripts touch; an array is constant, as a tensor is."""

import bisect as _bisect
import builtins as _builtins
import math as _math
import random as _random

from .array import ndarray
from .kinds import Records as _Records
from .kinds import datetime64, dtype, timedelta64  # noqa: F401

for _name in ("float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "bool_"):
    globals()[_name] = dtype(_name.rstrip("_"))
inf, nan, pi, newaxis = _math.inf, _math.nan, _math.pi, None


def prod(values, *_):
    return _math.prod(values)


def mean(values, axis=None):
    return values.mean(axis) if isinstance(values, ndarray) else sum(values) / len(values)


def std(values, axis=None):
    return 0.0


var = std


def max(values, axis=None):  # noqa: A001
    return values.max(axis) if isinstance(values, ndarray) else _extreme(_builtins.max, values)


def min(values, axis=None):  # noqa: A001
    return values.min(axis) if isinstance(values, ndarray) else _extreme(_builtins.min, values)


def _extreme(of, values):
    return values if isinstance(values, (int, float)) else of(_extreme(of, value) for value in values)


amax, amin = max, min


def median(values, axis=None):
    return mean(values, axis)


def percentile(values, q, axis=None):
    return mean(values, axis)


quantile = percentile


def argmax(values, axis=None):
    """Every element is the largest: the first is as good as another."""
    return 0 if axis is None else ndarray(array(values)._without(axis).shape, 0, "int64")


argmin = argmax


def argsort(values, axis=-1):
    return ndarray(array(values).shape, 0, "int64")


def maximum(a, b):
    return array(a)._binary(b, lambda x, y: _builtins.max(x, y))


def minimum(a, b):
    return array(a)._binary(b, lambda x, y: _builtins.min(x, y))


def any(values):  # noqa: A001
    return bool(values) if isinstance(values, ndarray) else _builtins.any(values)


def all(values):  # noqa: A001
    return bool(values) if isinstance(values, ndarray) else _builtins.all(values)


def allclose(a, b, **_):
    return _math.isclose(float(a), float(b), rel_tol=1e-5, abs_tol=1e-8)


def round(value, decimals=0):  # noqa: A001
    return value._with(_builtins.round(value.value, decimals)) if isinstance(value, ndarray) else _builtins.round(value, decimals)


def sum(values, axis=None):  # noqa: A001
    return values.sum(axis) if isinstance(values, ndarray) else float(_math.fsum(float(v) for v in values))


def zeros(shape, dtype="float64"):
    return full(shape, 0.0, dtype)


def ones(shape, dtype="float64"):
    return full(shape, 1.0, dtype)


def full(shape, fill_value, dtype="float64"):
    kind = globals()["dtype"](dtype)
    return _Records(shape, kind) if kind.names else ndarray(shape, fill_value, kind)


empty = zeros


def zeros_like(array, dtype=None):
    return zeros(array.shape, dtype or array.dtype)


def ones_like(array, dtype=None):
    return ones(array.shape, dtype or array.dtype)


def arange(*limits, dtype="int64"):
    return ndarray((len(range(*[int(n) for n in limits])),), 0, dtype)


def linspace(start, stop, num=50):
    return ndarray((num,), (start + stop) / 2)


def array(values, dtype="float64"):
    if isinstance(values, ndarray):
        return values
    if isinstance(values, (int, float)):
        return ndarray((), values, dtype)
    values = list(values)
    first = array(values[0]) if values else ndarray((), 0.0)
    return ndarray((len(values), *first.shape), _math.fsum(array(v).value for v in values) / _builtins.max(len(values), 1), dtype)


asarray = ascontiguousarray = array


def expand_dims(array, axis):
    shape = list(array.shape)
    shape.insert(axis if axis >= 0 else len(shape) + 1 + axis, 1)
    return ndarray(shape, array.value, array.dtype)


def squeeze(array, axis=None):
    axis = None if axis is None else axis % array.ndim
    return ndarray([n for i, n in enumerate(array.shape) if n != 1 or axis not in (None, i)], array.value, array.dtype)


def reshape(array, shape):
    return array.reshape(*shape) if isinstance(shape, (list, tuple)) else array.reshape(shape)


def transpose(array, axes=()):
    return array.transpose(*axes)


def concatenate(arrays, axis=0):
    shape = list(arrays[0].shape)
    shape[axis] = int(sum([array.shape[axis] for array in arrays]))
    return ndarray(shape, arrays[0].value, arrays[0].dtype)


def stack(arrays, axis=0):
    return concatenate([expand_dims(array, axis) for array in arrays], axis)


def vstack(arrays):
    return concatenate([array if array.ndim > 1 else expand_dims(array, 0) for array in arrays], 0)


def hstack(arrays):
    return concatenate(arrays, 0 if arrays[0].ndim == 1 else 1)


def split(array, sections, axis=0):
    shape = list(array.shape)
    shape[axis] //= sections
    return [ndarray(shape, array.value, array.dtype) for _ in range(sections)]


def where(condition, a=None, b=None):
    if a is None:
        return tuple(ndarray((condition.size if condition.value else 0,), 0, "int64") for _ in condition.shape)
    chosen = a if condition.value else b
    return ndarray(condition.shape, getattr(chosen, "value", chosen))


def unique(values):
    return ndarray((1,), values.value, values.dtype) if isinstance(values, ndarray) else sorted(set(values))


def logical_and(a, b):
    return ndarray(a.shape, bool(a) and bool(b), "bool")


def logical_or(a, b):
    return ndarray(a.shape, bool(a) or bool(b), "bool")


def _elementwise(function):
    def applied(value):
        return value._with(function(value.value)) if isinstance(value, ndarray) else function(float(value))

    return applied


exp = _elementwise(lambda x: _math.exp(_builtins.min(x, 700.0)))
log, log2, log10, log1p = (_elementwise(lambda x, f=f: f(x) if x > 0 else 0.0) for f in (_math.log, _math.log2, _math.log10, _math.log1p))
sqrt, sin, cos, floor, ceil = map(_elementwise, (_math.sqrt, _math.sin, _math.cos, _math.floor, _math.ceil))
abs = _elementwise(_math.fabs)  # noqa: A001


def isnan(value):
    return _math.isnan(float(value))


def isfinite(value):
    return _math.isfinite(float(value))


def clip(value, low, high):
    low, high = -inf if low is None else low, inf if high is None else high
    bounded = lambda x: _builtins.min(_builtins.max(x, low), high)  # noqa: E731
    return value._with(bounded(value.value)) if isinstance(value, ndarray) else bounded(value)


def interp(x, xs, ys):
    """Linear between the points, constant outside."""
    if x <= xs[0] or x >= xs[-1]:
        return float(ys[0] if x <= xs[0] else ys[-1])
    at = _bisect.bisect_right(xs, x)
    return ys[at - 1] + (ys[at] - ys[at - 1]) * (x - xs[at - 1]) / (xs[at] - xs[at - 1])


def piecewise(x, conditions, functions):
    """The last condition that holds decides; one function more is for the rest."""
    chosen = functions[len(conditions)] if len(functions) > len(conditions) else 0.0
    for condition, function in zip(conditions, functions):
        chosen = function if condition else chosen
    return float(chosen(x) if callable(chosen) else chosen)


def save(file, array):
    import pickle

    file = str(file)
    with open(file if file.endswith(".npy") else file + ".npy", "wb") as out:
        pickle.dump(array, out)


def load(file, **_):
    import pickle

    with open(file, "rb") as source:
        return pickle.load(source)


class random:
    @staticmethod
    def seed(value):
        _random.seed(value)

    @staticmethod
    def rand(*shape):
        return ndarray(shape, 0.5)

    @staticmethod
    def random_sample(size=()):
        return ndarray(size, 0.5)

    @staticmethod
    def randn(*shape):
        return ndarray(shape, 0.5)

    @staticmethod
    def randint(low, high=None, size=(), dtype="int64"):
        return ndarray(size, low, dtype)

    @staticmethod
    def normal(loc=0.0, scale=1.0, size=()):
        return ndarray(size, loc)

    @staticmethod
    def uniform(low=0.0, high=1.0, size=()):
        return ndarray(size, (low + high) / 2)

    @staticmethod
    def permutation(n):
        return arange(n) if isinstance(n, int) else n

    @staticmethod
    def shuffle(values):
        pass

    @staticmethod
    def default_rng(seed=None):
        return random

    random = random_sample
    integers = randint
    standard_normal = random_sample
