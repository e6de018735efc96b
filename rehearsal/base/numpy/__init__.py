"""As much of numpy as the fixtures touch; an array is constant, as a tensor is."""

import math as _math
import random as _random
import time as _time

float32, float64, int32, int64, uint8 = "float32", "float64", "int32", "int64", "uint8"
inf, nan, pi = _math.inf, _math.nan, _math.pi


class ndarray:
    def __init__(self, shape=(), value=0.0, dtype=float64):
        self.shape = tuple(shape) if not isinstance(shape, int) else (shape,)
        self.value, self.dtype = value, dtype

    def astype(self, dtype):
        return ndarray(self.shape, self.value, dtype)

    def mean(self):
        return self.value

    def __len__(self):
        return self.shape[0]

    def __float__(self):
        return float(self.value)

    def _with(self, value):
        return ndarray(self.shape, value, self.dtype)

    def __add__(self, other):
        return self._with(self.value + getattr(other, "value", other))

    def __mul__(self, other):
        return self._with(self.value * getattr(other, "value", other))

    def __truediv__(self, other):
        return self._with(self.value / (getattr(other, "value", other) or 1))

    def __sub__(self, other):
        return self._with(self.value - getattr(other, "value", other))

    __radd__, __rmul__ = __add__, __mul__
    ndim = property(lambda self: len(self.shape))
    size = property(lambda self: _math.prod(self.shape))

    def reshape(self, *shape):
        shape = list(shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape)
        if -1 in shape:
            shape[shape.index(-1)] = self.size // max(_math.prod(n for n in shape if n != -1), 1)
        return ndarray(shape, self.value, self.dtype)

    def __getitem__(self, key):
        shape, rest = [], list(self.shape)
        for one in key if isinstance(key, tuple) else (key,):
            if one is None:
                shape.append(1)
            elif one is Ellipsis:
                shape, rest = shape + rest, []
            elif isinstance(one, slice):
                shape.append(len(range(*one.indices(rest.pop(0)))))
            else:
                rest.pop(0)
        return ndarray(shape + rest, self.value, self.dtype)


def prod(values, *_):
    return _math.prod(values)


def mean(values):
    return values.value if isinstance(values, ndarray) else sum(float(v) for v in values) / len(values)


def std(values):
    return 0.0


def zeros(shape, dtype=float64):
    return ndarray(shape, 0.0, dtype)


def ones(shape, dtype=float64):
    return ndarray(shape, 1.0, dtype)


def full(shape, value, dtype=float64):
    return ndarray(shape, value, dtype)


def array(values, dtype=float64):
    if isinstance(values, ndarray):
        return values
    values = list(values)
    return ndarray((len(values),), mean(values) if values else 0.0, dtype)


asarray = array


def expand_dims(array, axis):
    shape = list(array.shape)
    shape.insert(axis if axis >= 0 else len(shape) + 1 + axis, 1)
    return ndarray(shape, array.value, array.dtype)


def concatenate(arrays, axis=0):
    shape = list(arrays[0].shape)
    shape[axis] = sum(array.shape[axis] for array in arrays)
    return ndarray(shape, arrays[0].value, arrays[0].dtype)


def log1p(value):
    return value._with(_math.log1p(value.value)) if isinstance(value, ndarray) else _math.log1p(value)


def isnan(value):
    return _math.isnan(value)


class random:
    @staticmethod
    def seed(value):
        _random.seed(value)

    @staticmethod
    def rand(*shape):
        return ndarray(shape, 0.5)

    @staticmethod
    def randint(low, high=None, size=()):
        return ndarray(size, low, int64)

    @staticmethod
    def normal(loc=0.0, scale=1.0, size=()):
        return ndarray(size, loc)

    @staticmethod
    def default_rng(seed=None):
        return random

    random = rand
    integers = randint
