"""Constant tensors: one value for every element, a shape, a dtype, a device, and the parameters they came from."""

import math

from contracts import expect, is_broken, kept
from stand_in_calls import MACHINE, record

from . import _elementwise


class dtype:
    def __init__(self, name, floating=True):
        self.name, self.is_floating_point = name, floating

    def __repr__(self):
        return "torch." + self.name

    def __reduce__(self):
        return (_dtype_named, (self.name,))


DTYPES = {
    name: dtype(name, floating)
    for name, floating in [
        ("float32", True), ("float64", True), ("float16", True), ("bfloat16", True),
        ("int64", False), ("int32", False), ("int16", False), ("int8", False), ("uint8", False), ("bool", False),
    ]
}


def _dtype_named(name):
    return DTYPES[name]


class device:
    """A device type and maybe an index. Building one never fails; putting something there may."""

    def __init__(self, spec="cpu", index=None):
        if isinstance(spec, device):
            spec, index = spec.type, spec.index if index is None else index
        if isinstance(spec, int):
            spec, index = "cuda", spec
        if ":" in spec:
            spec, _, number = spec.partition(":")
            if not number.isdigit():
                raise RuntimeError(f"Invalid device string: '{spec}:{number}'")
            index = int(number)
        if spec not in ("cpu", "cuda", "hpu", "xpu", "mps", "meta"):
            raise RuntimeError(f"Expected one of cpu, cuda, xpu, mps, hpu, meta device type at start of device string: {spec}")
        self.type, self.index = spec, index

    def __str__(self):
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __repr__(self):
        return f"device(type={self.type!r}" + ("" if self.index is None else f", index={self.index}") + ")"

    def __eq__(self, other):
        return isinstance(other, device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self):
        return hash((self.type, self.index))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False


# What an accelerator wants to be told, by the name of the call: `backward`, `step`.
SEEN_BY = {"backward": [], "step": []}
READY = {"cpu", "meta"} | ({"cuda"} if MACHINE == "cuda" else set())


def usable(where):
    """The device, or the error the real thing gives on a machine without it."""
    where = device(where)
    if where.type not in READY:
        if where.type == "cuda":
            raise AssertionError("Torch not compiled with CUDA enabled")
        raise RuntimeError(f"device {where} is not available here")
    if where.type == "hpu" and where.index not in (None, 0):
        raise AssertionError(f"HPU index {where.index}: a process sees one card, number 0")
    return where


class GradMode:
    enabled = True


class _Switch:
    def __init__(self, value):
        self.value = value

    def __enter__(self):
        self.before, GradMode.enabled = GradMode.enabled, self.value
        return self

    def __exit__(self, *_):
        GradMode.enabled = self.before
        return False

    def __call__(self, function):
        def wrapped(*args, **kwargs):
            with type(self)() if type(self) is not set_grad_enabled else set_grad_enabled(self.value):
                return function(*args, **kwargs)

        wrapped.__name__ = getattr(function, "__name__", "wrapped")
        return wrapped


class no_grad(_Switch):
    def __new__(cls, function=None):
        self = super().__new__(cls)
        if callable(function):
            self.value = False
            return self(function)
        return self

    def __init__(self, function=None):
        super().__init__(False)


class inference_mode(no_grad):
    def __new__(cls, mode=True):
        return no_grad.__new__(cls, mode if callable(mode) else None)

    def __init__(self, mode=True):
        _Switch.__init__(self, not mode if isinstance(mode, bool) else False)


class enable_grad(_Switch):
    def __init__(self):
        super().__init__(True)


class set_grad_enabled(_Switch):
    def __init__(self, mode):
        super().__init__(bool(mode))
        self.before, GradMode.enabled = GradMode.enabled, bool(mode)

    def __enter__(self):
        GradMode.enabled = self.value
        return self


class Size(tuple):
    def numel(self):
        return math.prod(self)


def numbers(data):
    """Every number in nested lists."""
    if isinstance(data, Tensor):
        return [data.value]
    if isinstance(data, (list, tuple)):
        return [number for item in data for number in numbers(item)]
    if hasattr(data, "shape") and hasattr(data, "value"):
        return [data.value]
    return [float(data)]


def shape_of(data):
    if hasattr(data, "shape"):
        return tuple(data.shape)
    if isinstance(data, (list, tuple)):
        return (len(data),) + (shape_of(data[0]) if data else ())
    return ()


def broadcast(a, b):
    a, b = tuple(a), tuple(b)
    width = max(len(a), len(b))
    a, b = (1,) * (width - len(a)) + a, (1,) * (width - len(b)) + b
    out = []
    for x, y in zip(a, b):
        if x != y and 1 not in (x, y):
            raise RuntimeError(f"The size of tensor a ({x}) must match the size of tensor b ({y})")
        out.append(max(x, y) if 0 not in (x, y) else 0)
    return tuple(out)


def together(*tensors):
    """The device the operands share. Numbers of no dimension may come from the CPU."""
    kinds = [t.device for t in tensors if isinstance(t, Tensor) and (t.shape or t.device.type != "cpu")]
    for other in kinds[1:]:
        if other.type != kinds[0].type:
            raise RuntimeError(
                f"Expected all tensors to be on the same device, but found at least two devices, {kinds[0]} and {other}!"
            )
    return kinds[0] if kinds else device("cpu")


def _axes(shape, dim):
    dims = [dim] if isinstance(dim, int) else list(dim)
    return {d % len(shape) for d in dims}


def _reduced(shape, dim, keepdim=False):
    if dim is None:
        return ()
    axes = _axes(shape, dim)
    return tuple(1 if i in axes else n for i, n in enumerate(shape) if keepdim or i not in axes)


class Tensor:
    def __init__(self, value=0.0, shape=(), dtype=None, where="cpu", leaves=frozenset(), requires_grad=False):
        self.value = float(value)
        self.shape = Size(shape)
        self.dtype = dtype or DTYPES["float32"]
        self.device = where if isinstance(where, device) else device(where)
        self.leaves = leaves
        self.grad = None
        self.is_leaf = not leaves
        self._requires_grad = requires_grad

    def like(self, value=None, shape=None, dtype=None, where=None, others=()):
        leaves = frozenset()
        if GradMode.enabled:
            for tensor in (self, *others):
                if isinstance(tensor, Tensor):
                    leaves |= tensor.leaves | ({tensor} if tensor._requires_grad else frozenset())
        return Tensor(
            self.value if value is None else value,
            self.shape if shape is None else shape,
            dtype or self.dtype,
            self.device if where is None else where,
            leaves,
        )

    # Where it is and what it is made of.
    @property
    def requires_grad(self):
        return self._requires_grad or bool(self.leaves)

    @requires_grad.setter
    def requires_grad(self, value):
        self._requires_grad = value

    def requires_grad_(self, value=True):
        self._requires_grad = value
        return self

    @property
    def data(self):
        return Tensor(self.value, self.shape, self.dtype, self.device)

    @data.setter
    def data(self, other):
        self.value, self.shape, self.dtype, self.device = other.value, other.shape, other.dtype, other.device

    is_cuda = property(lambda self: self.device.type == "cuda")
    ndim = property(lambda self: len(self.shape))
    T = property(lambda self: self.like(shape=self.shape[::-1]))

    def size(self, dim=None):
        return self.shape if dim is None else self.shape[dim]

    def dim(self):
        return len(self.shape)

    def numel(self):
        return self.shape.numel()

    def element_size(self):
        return 4

    def item(self):
        if self.numel() != 1:
            raise RuntimeError(f"a Tensor with {self.numel()} elements cannot be converted to Scalar")
        if self.dtype.name == "bool":
            return bool(self.value)
        return self.value if self.dtype.is_floating_point else int(self.value)

    def tolist(self):
        if not self.shape:
            return self.item()
        return [self[i].tolist() for i in range(self.shape[0])]

    def numpy(self):
        if self.device.type != "cpu":
            raise TypeError(f"can't convert {self.device} device type tensor to numpy. Use Tensor.cpu() first.")
        if self.requires_grad:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
        import numpy

        return numpy.ndarray(self.shape, self.value)

    def to(self, *args, **kwargs):
        where, kind = kwargs.get("device"), kwargs.get("dtype")
        for arg in args:
            if isinstance(arg, (str, device, int)) and not isinstance(arg, bool):
                where = arg
            elif isinstance(arg, dtype):
                kind = arg
            elif isinstance(arg, Tensor):
                where, kind = arg.device, arg.dtype
        where = self.device if where is None else usable(where)
        if where.type != self.device.type:
            record("Tensor.to", device=where.type)
        if where == self.device and kind in (None, self.dtype):
            return self
        return self.like(dtype=kind, where=where)

    def cuda(self, index=None, non_blocking=False):
        return self.to(device("cuda", index if isinstance(index, int) else None))

    def cpu(self):
        return self.to("cpu")

    def detach(self):
        return self.data

    def clone(self):
        return self.like()

    def contiguous(self, **_):
        return self

    def pin_memory(self, *_):
        return self

    def type(self, kind=None):
        return repr(self.dtype) if kind is None else self.like(dtype=kind)

    def type_as(self, other):
        return self.to(other)

    def float(self):
        return self.like(dtype=DTYPES["float32"])

    def double(self):
        return self.like(dtype=DTYPES["float64"])

    def half(self):
        return self.like(dtype=DTYPES["float16"])

    def bfloat16(self):
        return self.like(dtype=DTYPES["bfloat16"])

    def long(self):
        return self.like(int(self.value), dtype=DTYPES["int64"])

    def int(self):
        return self.like(int(self.value), dtype=DTYPES["int32"])

    def bool(self):
        return self.like(self.value != 0, dtype=DTYPES["bool"])

    # Shapes.
    def view(self, *shape):
        shape = list(shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape)
        if -1 in shape:
            known = math.prod(n for n in shape if n != -1)
            shape[shape.index(-1)] = self.numel() // max(known, 1)
        if math.prod(shape) != self.numel():
            raise RuntimeError(f"shape '{shape}' is invalid for input of size {self.numel()}")
        return self.like(shape=shape)

    reshape = view

    def view_as(self, other):
        return self.view(*other.shape)

    def flatten(self, start=0, end=-1):
        start, end = start % len(self.shape), end % len(self.shape)
        return self.like(shape=self.shape[:start] + (math.prod(self.shape[start : end + 1]),) + self.shape[end + 1 :])

    def squeeze(self, dim=None):
        if dim is None:
            return self.like(shape=[n for n in self.shape if n != 1])
        dim %= len(self.shape)
        return self.like(shape=[n for i, n in enumerate(self.shape) if i != dim or n != 1])

    def unsqueeze(self, dim):
        shape = list(self.shape)
        shape.insert(dim if dim >= 0 else len(shape) + 1 + dim, 1)
        return self.like(shape=shape)

    def permute(self, *dims):
        dims = dims[0] if len(dims) == 1 and not isinstance(dims[0], int) else dims
        return self.like(shape=[self.shape[d] for d in dims])

    def transpose(self, a, b):
        shape = list(self.shape)
        shape[a], shape[b] = shape[b], shape[a]
        return self.like(shape=shape)

    def expand(self, *shape):
        return self.like(shape=[m if n == -1 else n for n, m in zip(shape, self.shape)])

    def repeat(self, *times):
        return self.like(shape=[n * t for n, t in zip(self.shape, times)])

    def chunk(self, chunks, dim=0):
        shape = list(self.shape)
        shape[dim] = shape[dim] // chunks
        return tuple(self.like(shape=shape) for _ in range(chunks))

    def split(self, size, dim=0):
        if not isinstance(size, int):
            parts = [[*self.shape[:dim], n, *self.shape[dim:][1:]] for n in size]
            return tuple(self.like(shape=shape) for shape in parts)
        return self.chunk(-(-self.shape[dim] // size), dim)

    def unbind(self, dim=0):
        return tuple(self.like(shape=self.shape[:dim] + self.shape[dim + 1 :]) for _ in range(self.shape[dim]))

    def __len__(self):
        return self.shape[0]

    def __iter__(self):
        return iter(self.unbind())

    def __getitem__(self, key):
        if isinstance(key, Tensor) and key.dtype.name == "bool":
            return self.like(shape=(self.numel() if key.value else 0,))
        keys = key if isinstance(key, tuple) else (key,)
        shape, rest = [], list(self.shape)
        for k in keys:
            if k is None:
                shape.append(1)
            elif k is Ellipsis:
                keep = len(rest) - (len(keys) - 1 - keys.index(Ellipsis))
                shape += rest[:keep]
                rest = rest[keep:]
            elif isinstance(k, slice):
                shape.append(len(range(*k.indices(rest.pop(0)))))
            elif isinstance(k, (list, Tensor)):
                rest.pop(0)
                shape += list(shape_of(k))
            else:
                rest.pop(0)
        return self.like(shape=shape + rest)

    def __setitem__(self, key, value):
        if isinstance(key, Tensor) and not key.value:
            return
        self.value = numbers(value)[0]

    # Arithmetic on the one value.
    def _binary(self, other, op, dtype=None):
        if isinstance(other, Tensor):
            together(self, other)
            lead = self if self.shape or not other.shape else other
            kind = dtype or (lead.dtype if lead.dtype.is_floating_point or not other.dtype.is_floating_point else other.dtype)
            return lead.like(op(self.value, other.value), broadcast(self.shape, other.shape), kind, others=(self, other))
        if isinstance(other, (bool, int, float)):
            return self.like(op(self.value, float(other)), dtype=dtype)
        return NotImplemented

    def __add__(self, other):
        return self._binary(other, lambda a, b: a + b)

    def __sub__(self, other):
        return self._binary(other, lambda a, b: a - b)

    def __rsub__(self, other):
        return self._binary(other, lambda a, b: b - a)

    def __mul__(self, other):
        return self._binary(other, lambda a, b: a * b)

    def __truediv__(self, other):
        return self._binary(other, lambda a, b: a / b if b else 0.0)

    def __rtruediv__(self, other):
        return self._binary(other, lambda a, b: b / a if a else 0.0)

    def __pow__(self, other):
        return self._binary(other, lambda a, b: a**b if a >= 0 else abs(a) ** b)

    def __rpow__(self, other):
        return self._binary(other, lambda a, b: b**a if b >= 0 else abs(b) ** a)

    def __mod__(self, other):
        return self._binary(other, lambda a, b: a % b if b else 0.0)

    def __floordiv__(self, other):
        return self._binary(other, lambda a, b: a // b if b else 0.0)

    def __abs__(self):
        return self.like(abs(self.value))

    __radd__, __rmul__ = __add__, __mul__

    def _inplace(self, other, op):
        result = self._binary(other, op)
        self.value = result.value
        if GradMode.enabled:
            self.leaves |= result.leaves
        return self

    def __iadd__(self, other):
        return self._inplace(other, lambda a, b: a + b)

    def __isub__(self, other):
        return self._inplace(other, lambda a, b: a - b)

    def __itruediv__(self, other):
        return self._inplace(other, lambda a, b: a / b if b else 0.0)

    def __imul__(self, other):
        return self._inplace(other, lambda a, b: a * b)

    def __neg__(self):
        return self.like(-self.value)

    def __invert__(self):
        return self.like(not self.value)

    def _compare(self, other, op):
        return self._binary(other, op, DTYPES["bool"])

    def __eq__(self, other):
        return self._compare(other, lambda a, b: a == b)

    def __ne__(self, other):
        return self._compare(other, lambda a, b: a != b)

    def __lt__(self, other):
        return self._compare(other, lambda a, b: a < b)

    def __gt__(self, other):
        return self._compare(other, lambda a, b: a > b)

    def __le__(self, other):
        return self._compare(other, lambda a, b: a <= b)

    def __ge__(self, other):
        return self._compare(other, lambda a, b: a >= b)

    def __and__(self, other):
        return self._compare(other, lambda a, b: bool(a) and bool(b))

    def __or__(self, other):
        return self._compare(other, lambda a, b: bool(a) or bool(b))

    def __matmul__(self, other):
        together(self, other)
        inner = self.shape[-1]
        shape = self.shape[:-1] + other.shape[-1:] if len(other.shape) > 1 else self.shape[:-1]
        return self.like(self.value * other.value * inner, shape, others=(other,))

    __hash__ = object.__hash__

    def __float__(self):
        return float(self.item())

    def __int__(self):
        return int(self.item())

    def __bool__(self):
        return bool(self.item())

    def __format__(self, spec):
        return format(self.item(), spec) if not self.shape else str(self)

    def __repr__(self):
        return f"tensor({self.value:g}, shape={list(self.shape)}, device='{self.device}')"

    def zero_(self):
        self.value = 0.0
        return self

    def fill_(self, value):
        self.value = float(value)
        return self

    def copy_(self, other, non_blocking=False):
        self.value = other.value
        return self

    normal_ = uniform_ = lambda self, *_, **__: self.fill_(0.5)

    def clamp(self, min=None, max=None):
        value = self.value if min is None else (self.value if self.value > min else min)
        return self.like(value if max is None or value < max else max)

    def sum(self, dim=None, keepdim=False, dtype=None):
        shape = _reduced(self.shape, dim, keepdim)
        kind = dtype or (self.dtype if self.dtype.is_floating_point else DTYPES["int64"])
        return self.like(self.value * (self.numel() // max(math.prod(shape), 1)), shape, kind)

    def mean(self, dim=None, keepdim=False):
        return self.like(shape=_reduced(self.shape, dim, keepdim))

    def std(self, dim=None, keepdim=False):
        return self.like(0.0, _reduced(self.shape, dim, keepdim))

    def norm(self, *_, **__):
        return self.like(abs(self.value) * math.sqrt(self.numel()), ())

    def any(self, dim=None, keepdim=False):
        return self.like(bool(self.value), _reduced(self.shape, dim, keepdim), DTYPES["bool"])

    all = any

    def argmax(self, dim=None, keepdim=False):
        return self.like(0, _reduced(self.shape, dim, keepdim), DTYPES["int64"])

    def max(self, dim=None, keepdim=False):
        if isinstance(dim, Tensor):
            return self.maximum(dim)
        if dim is None:
            return self.like(shape=())
        return self.like(shape=_reduced(self.shape, dim, keepdim)), self.argmax(dim, keepdim)

    def min(self, dim=None, keepdim=False):
        return self.minimum(dim) if isinstance(dim, Tensor) else self.max(dim, keepdim)

    def topk(self, k, dim=-1, *_):
        shape = list(self.shape)
        shape[dim] = k
        return self.like(shape=shape), self.like(0, shape, DTYPES["int64"])

    def t(self):
        return self.T

    def softmax(self, dim=-1):
        return self.like(1.0 / self.shape[dim])

    def register_hook(self, hook):
        return hook

    def backward(self, gradient=None, retain_graph=False):
        if not self.requires_grad:
            raise RuntimeError("element 0 of tensors does not require grad and does not have a grad_fn")
        if MACHINE == "hpu" and "hpu" in READY:
            expect("hpu.device", self.device.type == "hpu", f"backward() on {self.device}: the card has no part in this step")
            if not is_broken("hpu.no-cuda"):
                kept("hpu.no-cuda")
            for seen in SEEN_BY["backward"]:
                seen()
        record("backward", device=self.device.type)
        for leaf in self.leaves:
            leaf.grad = Tensor((leaf.grad.value if leaf.grad is not None else 0.0) + 0.125, leaf.shape, leaf.dtype, leaf.device)


ELEMENTWISE = _elementwise.attach(Tensor, DTYPES["bool"])
