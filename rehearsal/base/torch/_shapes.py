"""What gathers, repeats, cuts and multiplies: of a constant tensor the shape is nearly all there is to say."""

import builtins
import math

from ._tensor import DTYPES, Tensor, _reduced, broadcast, numbers, shape_of, together


def _sizes(sizes):
    return tuple(sizes[0]) if len(sizes) == 1 and not isinstance(sizes[0], int) else tuple(sizes)


def _with(self, dim, size):
    shape = list(self.shape)
    shape[dim] = size
    return self.like(shape=shape)


def _indices(self, shape=None):
    return self.like(0, self.shape if shape is None else shape, DTYPES["int64"])


def _alike(self, *_, **__):
    return self.like()


def _here(self, *_, **__):
    return self


# Operations that leave a constant tensor as it is, those that do so in place, and reductions that give the constant.
ALIKE = "flip roll tril triu cumsum cumprod logcumsumexp index_fill index_copy renorm fliplr flipud".split()
HERE = "index_add_ index_copy_ scatter_ scatter_add_ scatter_reduce_ index_fill_ index_put_ detach_ share_memory_ record_stream retain_grad".split()
REDUCED = "amax amin nanmean logsumexp nanmedian prod".split()


def var(self, dim=None, *_, keepdim=False, **__):
    return self.like(0.0, _reduced(self.shape, dim if not isinstance(dim, builtins.bool) else None, keepdim))


def var_mean(self, dim=None, keepdim=False, **_):
    return var(self, dim, keepdim=keepdim), self.mean(dim, keepdim)


def std_mean(self, dim=None, keepdim=False, **_):
    return var_mean(self, dim, keepdim)


def median(self, dim=None, keepdim=False):
    return self.max(dim, keepdim)


mode = kthvalue = median


def quantile(self, q, dim=None, keepdim=False, **_):
    return self.like(shape=_reduced(self.shape, dim, keepdim))


def nansum(self, *args, **options):
    return self.sum(*args, **options)


def count_nonzero(self, dim=None):
    return self.like(self.value != 0, dtype=DTYPES["int64"]).sum(dim)


def argmin(self, dim=None, keepdim=False):
    return self.argmax(dim, keepdim)


def sort(self, dim=-1, descending=False, stable=False):
    return self.like(), _indices(self)


def argsort(self, *_, **__):
    return _indices(self)


def unique(self, *_, return_inverse=False, return_counts=False, **__):
    one = self.like(shape=(min(self.numel(), 1),))
    more = [_indices(self)] * return_inverse + [_indices(self, one.shape)] * return_counts
    return (one, *more) if more else one


def nonzero(self, as_tuple=False):
    count = self.numel() if self.value else 0
    return (_indices(self, (count,)),) * len(self.shape) if as_tuple else _indices(self, (count, len(self.shape)))


def bincount(self, weights=None, minlength=0):
    return _indices(self, (max(minlength, int(self.value) + 1),))


def movedim(self, source, destination):
    order = [i for i in range(len(self.shape)) if i != source % len(self.shape)]
    order.insert(destination % len(self.shape), source % len(self.shape))
    return self.permute(*order)


def swapaxes(self, a, b):
    return self.transpose(a, b)


swapdims = swapaxes


def broadcast_to(self, *sizes):
    return self.like(shape=broadcast(self.shape, [1 if n == -1 else n for n in _sizes(sizes)]))


def expand_as(self, other):
    return broadcast_to(self, *other.shape)


def tile(self, *times):
    times = _sizes(times)
    width = max(len(times), len(self.shape))
    times, shape = (1,) * (width - len(times)) + times, (1,) * (width - len(self.shape)) + tuple(self.shape)
    return self.like(shape=[n * t for n, t in zip(shape, times)])


def repeat_interleave(self, repeats, dim=None):
    times = int(numbers(repeats)[0])
    return self.like(shape=(self.numel() * times,)) if dim is None else _with(self, dim, self.shape[dim] * times)


def narrow(self, dim, start, length):
    return _with(self, dim, length)


def select(self, dim, index):
    return self.unbind(dim)[index]


def index_select(self, dim, index):
    together(self, index)
    return _with(self, dim, index.numel())


def gather(self, dim, index, **_):
    together(self, index)
    return self.like(shape=index.shape)


take_along_dim = lambda self, index, dim=None: self.like(shape=index.shape)


def take(self, index):
    return gather(self, 0, index)


def scatter(self, dim, index, src=None, *_, **__):
    together(self, index)
    return self.like(others=(src,))


scatter_add = scatter_reduce = index_add = scatter


def masked_fill(self, mask, value):
    together(self, mask)
    return self.like(numbers(value)[0] if mask.value else None, broadcast(self.shape, mask.shape))


def masked_fill_(self, mask, value):
    self.value = masked_fill(self, mask, value).value
    return self


def masked_select(self, mask):
    return self[mask]


def unflatten(self, dim, sizes):
    dim %= len(self.shape)
    return self.view(*self.shape[:dim], *sizes, *self.shape[dim + 1 :])


def unfold(self, dim, size, step):
    shape = list(self.shape)
    shape[dim] = (shape[dim] - size) // step + 1
    return self.like(shape=(*shape, size))


def ravel(self):
    return self.view(-1)


def diagonal(self, *_, dim1=0, dim2=1, **__):
    kept = [n for i, n in enumerate(self.shape) if i not in (dim1 % len(self.shape), dim2 % len(self.shape))]
    return self.like(shape=(*kept, min(self.shape[dim1], self.shape[dim2])))


def diag(self, *_):
    return self.like(shape=self.shape * 2) if len(self.shape) == 1 else diagonal(self)


def trace(self):
    return diagonal(self).sum()


def bmm(self, other):
    return self @ other


mm = mv = matmul = bmm


def dot(self, other):
    return (self * other).sum()


inner = vdot = dot


def outer(self, other):
    return self.view(-1, 1) * other.view(1, -1)


ger = outer


def addmm(self, a, b, beta=1, alpha=1):
    return self * beta + (a @ b) * alpha


addmv = baddbmm = addmm


def addcmul(self, a, b, value=1):
    return self + a * b * value


def addcdiv(self, a, b, value=1):
    return self + a / b * value


def addcmul_(self, a, b, value=1):
    return self.add_(a * b * value)


def addcdiv_(self, a, b, value=1):
    return self.add_(a / b * value)


def lerp(self, end, weight):
    return self + (end - self) * weight


def lerp_(self, end, weight):
    return self.add_((end - self) * weight)


def clamp_min(self, least):
    return self.clamp(least)


def clamp_max(self, most):
    return self.clamp(None, most)


def clamp_(self, *limits, **named):
    self.value = self.clamp(*limits, **named).value
    return self


clip, clip_ = (lambda self, *limits, **named: self.clamp(*limits, **named)), clamp_


def log_softmax(self, dim=-1, **_):
    return self.like(-math.log(max(self.shape[dim], 1)))


def cross(self, other, *_, **__):
    return self._binary(other, lambda a, b: 0.0)


def new_full(self, size, value, dtype=None, device=None, **_):
    return Tensor(value, size, dtype or self.dtype, device or self.device)


def new_zeros(self, *sizes, **options):
    return new_full(self, _sizes(sizes), 0.0, **options)


def new_ones(self, *sizes, **options):
    return new_full(self, _sizes(sizes), 1.0, **options)


new_empty = new_zeros


def new_tensor(self, data, **options):
    values = numbers(data)
    return new_full(self, shape_of(data), sum(values) / max(len(values), 1), **options)


def nelement(self):
    return self.numel()


def ndimension(self):
    return len(self.shape)


def is_floating_point(self):
    return self.dtype.is_floating_point


def is_complex(self):
    return False


def is_contiguous(self, **_):
    return True


def stride(self, dim=None):
    strides = tuple(math.prod(self.shape[i + 1 :]) for i in range(len(self.shape)))
    return strides if dim is None else strides[dim]


# Names of functions above that torch has as functions too are all that do not end in `_` or begin with `new_`.
METHODS = {name: value for name, value in globals().items() if callable(value) and not name.startswith("_") and name not in (
    "Tensor", "broadcast", "numbers", "shape_of", "together")}
METHODS.update({name: _alike for name in ALIKE})
METHODS.update({name: _here for name in HERE})
METHODS.update({name: (lambda self, dim=None, keepdim=False, **_: self.like(shape=_reduced(self.shape, dim, keepdim))) for name in REDUCED})


def vstack(tensors):
    from . import cat

    return cat([t if len(t.shape) > 1 else t.unsqueeze(0) for t in tensors], 0)


def hstack(tensors):
    from . import cat

    return cat(tensors, 0 if len(tensors[0].shape) < 2 else 1)


def meshgrid(*tensors, indexing="ij"):
    tensors = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else tensors
    shape = [t.numel() for t in tensors]
    if indexing == "xy" and len(shape) > 1:
        shape[:2] = shape[1::-1]
    return tuple(t.like(shape=shape) for t in tensors)


def einsum(equation, *tensors):
    """Letters are sizes; `...` stands for what the operand has beside its letters."""
    tensors = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else tensors
    together(*tensors)
    inputs, arrow, output = equation.replace(" ", "").partition("->")
    sizes, rest = {}, ()
    for letters, tensor in zip(inputs.split(","), tensors):
        head, dots, tail = letters.partition("...")
        end = len(tensor.shape) - len(tail)
        if len(head) > end or (not dots and len(letters) != len(tensor.shape)):
            raise RuntimeError(f"einsum: {letters} does not fit a tensor of {len(tensor.shape)} dimensions")
        for letter, size in [*zip(head, tensor.shape), *zip(tail, tensor.shape[end:])]:
            if sizes.setdefault(letter, size) != size and 1 not in (sizes[letter], size):
                raise RuntimeError(f"einsum: {letter} is {sizes[letter]} and {size}")
            sizes[letter] = max(sizes[letter], size)
        if dots:
            rest = broadcast(rest, tensor.shape[len(head) : end])
    if not arrow:
        letters = inputs.replace(",", "").replace(".", "")
        output = ("..." if rest else "") + "".join(sorted(one for one in sizes if letters.count(one) == 1))
    head, _, tail = output.partition("...")
    shape = [*(sizes[one] for one in head), *(rest if "..." in output else ()), *(sizes[one] for one in tail)]
    summed = math.prod(size for letter, size in sizes.items() if letter not in output)
    value = math.prod(t.value for t in tensors) * summed
    return tensors[0].like(value, shape, others=tensors[1:])


def cdist(a, b, **_):
    return a.like(0.0, (*a.shape[:-1], b.shape[-2]), others=(b,))


def attach(tensor):
    """Gives the class what it has no method for yet; gives back the names of those that torch has as functions too."""
    for name, method in METHODS.items():
        if name not in tensor.__dict__:
            setattr(tensor, name, method)
    return [name for name in METHODS if not name.endswith("_") and not name.startswith("new_") and name not in ("nelement", "expand_as")]
