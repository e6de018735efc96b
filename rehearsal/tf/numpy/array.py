"""An array with a shape, a type, and ONE value that stands for every element."""

import math

from .kinds import dtype as _dtype


def wider(a, b):
    """The shape two arrays have together."""
    a, b = tuple(a), tuple(b)
    width = max(len(a), len(b))
    pairs = list(zip((1,) * (width - len(a)) + a, (1,) * (width - len(b)) + b))
    for x, y in pairs:
        if x != y and 1 not in (x, y):
            raise ValueError(f"operands could not be broadcast together with shapes {a} {b}")
    return tuple(y if x == 1 else x for x, y in pairs)


class ndarray:
    def __init__(self, shape=(), value=0.0, dtype="float64"):
        self.shape = tuple(shape) if not isinstance(shape, int) else (shape,)
        self.value, self.dtype = value, _dtype(dtype)

    ndim = property(lambda self: len(self.shape))
    size = property(lambda self: math.prod(self.shape))
    T = property(lambda self: ndarray(self.shape[::-1], self.value, self.dtype))

    def astype(self, dtype, copy=True):
        kind = _dtype(dtype)
        return ndarray(self.shape, kind(self.value), kind)

    def copy(self):
        return self._with(self.value)

    def item(self):
        return self.value

    def tolist(self):
        return [self[i].tolist() for i in range(self.shape[0])] if self.shape else self.value

    def mean(self, axis=None):
        return self.value if axis is None else self._without(axis)

    def max(self, axis=None):
        return self.mean(axis)

    min = max

    def std(self, axis=None):
        return 0.0 if axis is None else self._without(axis) * 0.0

    var = std

    def argmax(self, axis=None):
        """Every element is the largest: the first is as good as another."""
        return 0 if axis is None else ndarray(self._without(axis).shape, 0, "int64")

    argmin = argmax

    def flatten(self):
        return ndarray((self.size,), self.value, self.dtype)

    ravel = flatten

    def sum(self, axis=None):
        return self.value * self.size if axis is None else self._without(axis)

    def _without(self, axis):
        axes = {a % self.ndim for a in ([axis] if isinstance(axis, int) else axis)}
        return ndarray([n for i, n in enumerate(self.shape) if i not in axes], self.value, self.dtype)

    def __len__(self):
        return self.shape[0]

    def __iter__(self):
        return (self[i] for i in range(self.shape[0]))

    def __float__(self):
        return float(self.value)

    def __int__(self):
        return int(self.value)

    def __bool__(self):
        return bool(self.value)

    def __format__(self, spec):
        return format(self.value, spec)

    def _with(self, value):
        return ndarray(self.shape, value, self.dtype)

    def _binary(self, other, op, kind=None):
        shape = wider(self.shape, other.shape) if isinstance(other, ndarray) else self.shape
        return ndarray(shape, op(self.value, getattr(other, "value", other)), kind or self.dtype)

    def __add__(self, other):
        return self._binary(other, lambda a, b: a + b)

    def __mul__(self, other):
        return self._binary(other, lambda a, b: a * b)

    def __truediv__(self, other):
        return self._binary(other, lambda a, b: a / (b or 1))

    def __floordiv__(self, other):
        return self._binary(other, lambda a, b: a // (b or 1))

    def __sub__(self, other):
        return self._binary(other, lambda a, b: a - b)

    def __rsub__(self, other):
        return self._with(other - self.value)

    def __pow__(self, other):
        return self._binary(other, lambda a, b: a**b)

    def __neg__(self):
        return self._with(-self.value)

    __radd__, __rmul__ = __add__, __mul__

    def __eq__(self, other):
        return self._binary(other, lambda a, b: a == b, "bool")

    def __ne__(self, other):
        return self._binary(other, lambda a, b: a != b, "bool")

    def __lt__(self, other):
        return self._binary(other, lambda a, b: a < b, "bool")

    def __gt__(self, other):
        return self._binary(other, lambda a, b: a > b, "bool")

    def __le__(self, other):
        return self._binary(other, lambda a, b: a <= b, "bool")

    def __ge__(self, other):
        return self._binary(other, lambda a, b: a >= b, "bool")

    __hash__ = object.__hash__

    def reshape(self, *shape):
        shape = list(shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape)
        if -1 in shape:
            shape[shape.index(-1)] = self.size // max(math.prod(n for n in shape if n != -1), 1)
        if math.prod(shape) != self.size:
            raise ValueError(f"cannot reshape array of size {self.size} into shape {tuple(shape)}")
        return ndarray(shape, self.value, self.dtype)

    def transpose(self, *axes):
        axes = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes or range(self.ndim)[::-1]
        return ndarray([self.shape[a] for a in axes], self.value, self.dtype)

    def __getitem__(self, key):
        keys = key if isinstance(key, tuple) else (key,)
        if isinstance(keys[0], ndarray) and keys[0].dtype == "bool":
            return ndarray((self.size if keys[0].value else 0,), self.value, self.dtype)
        shape, rest, chosen = [], list(self.shape), None
        for one in keys:
            if one is None:
                shape.append(1)
            elif one is Ellipsis:
                shape, rest = shape + rest, []
            elif isinstance(one, slice):
                shape.append(len(range(*one.indices(rest.pop(0)))))
            elif isinstance(one, (list, ndarray)):
                rest.pop(0)
                if chosen is None:
                    chosen = [len(one)] if isinstance(one, list) else list(one.shape)
                    shape += chosen
            else:
                rest.pop(0)
        return ndarray(shape + rest, self.value, self.dtype)

    def __setitem__(self, key, value):
        if not isinstance(key, ndarray) or key.dtype != "bool" or key.value:
            self.value = getattr(value, "value", value)
