"""Constant tensors of TensorFlow: a shape, a type and one value."""

import math

import numpy

float16, bfloat16, float32, float64, int32, int64, uint8 = "float16", "bfloat16", "float32", "float64", "int32", "int64", "uint8"


class Tensor(numpy.ndarray):
    def numpy(self):
        return self.value if not self.shape else numpy.ndarray(self.shape, self.value)

    def assign(self, value):
        self.value = float(getattr(value, "value", value))
        return self

    def assign_add(self, value):
        return self.assign(self.value + getattr(value, "value", value))

    def _with(self, value):
        return Tensor(self.shape, value, self.dtype)

    def __getitem__(self, key):
        return Tensor(super().__getitem__(key).shape, self.value, self.dtype)

    def __neg__(self):
        return self._with(-self.value)


class Variable(Tensor):
    def __init__(self, value=0.0, trainable=True, dtype=float32, **_):
        super().__init__(getattr(value, "shape", ()), getattr(value, "value", value), dtype)


def convert_to_tensor(value, dtype=None):
    if isinstance(value, numpy.ndarray):
        return Tensor(value.shape, value.value, dtype or value.dtype)
    if isinstance(value, (list, tuple)):
        made = numpy.array(value)
        return Tensor(made.shape, made.value, dtype or float32)
    return Tensor((), float(value), dtype or float32)


constant = convert_to_tensor


def cast(value, dtype):
    return convert_to_tensor(value, dtype)


def reduce_mean(value, axis=None, **_):
    return Tensor((), value.value)


def reduce_sum(value, axis=None, **_):
    return Tensor((), value.value * math.prod(value.shape))


def transpose(value, order):
    return Tensor([value.shape[i] for i in order], value.value, value.dtype)


def split(value, count, axis=0):
    shape = list(value.shape)
    shape[axis] //= count
    return [Tensor(shape, value.value, value.dtype) for _ in range(count)]


def reshape(value, shape):
    return Tensor(numpy.ndarray.reshape(value, *shape).shape, value.value, value.dtype)


def zeros(shape, dtype=float32):
    return Tensor(shape, 0.0, dtype)


def ones(shape, dtype=float32):
    return Tensor(shape, 1.0, dtype)


def expand_dims(value, axis):
    return Tensor(numpy.expand_dims(value, axis).shape, value.value, value.dtype)


def argmax(value, axis=-1, **_):
    return Tensor(value.shape[:-1], 0, int64)


def equal(a, b):
    return Tensor(a.shape, float(a.value == b.value))


def stop_gradient(value):
    return value


def print(*values, **_):  # noqa: A001
    import builtins

    builtins.print(*values)
