"""The functions behind the modules: for most the module itself, called once."""

from .. import nn
from .._tensor import DTYPES
from . import activations, losses, pooling


def _alike(method):
    def function(x, *_, **__):
        return getattr(x, method)() if method else x.like()

    return function


def _once(kind):
    return lambda x, *args, **options: kind(*args, **options).forward(x)


def _loss(kind):
    def function(input, target, *more, weight=None, reduction="mean", **_):
        return kind(weight=weight, reduction=reduction)(input, target, *more)

    return function


for _name in activations.ALIKE:
    globals()[activations.function_of(_name)] = _alike(activations.METHODS.get(_name))
for _name, _twin in losses.FUNCTIONS.items():
    globals()[_twin] = _loss(getattr(nn, _name))
for _name, _twin in pooling.FUNCTIONS.items():
    globals()[_twin] = _once(getattr(nn, _name))
for _name in ("relu", "elu", "leaky_relu", "hardtanh", "threshold", "selu", "celu", "rrelu"):
    globals()[_name + "_"] = globals()[_name]
normalize = _alike(None)
glu, pixel_shuffle, pixel_unshuffle = _once(nn.GLU), _once(nn.PixelShuffle), _once(nn.PixelUnshuffle)


def softmax(x, dim=-1, *_, **__):
    return x.softmax(dim)


def gumbel_softmax(x, tau=1, hard=False, dim=-1, **_):
    return x.softmax(dim)


def _joined(x, *parameters):
    return x.like(x.value * 0.5 + 0.01, others=[one for one in parameters if one is not None])


def linear(x, weight, bias=None):
    if x.shape[-1] != weight.shape[-1]:
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({x.shape} and {weight.shape[::-1]})")
    return _joined(x, weight, bias).like(shape=x.shape[:-1] + weight.shape[:-1])


def bilinear(a, b, weight, bias=None):
    return _joined(a, b, weight, bias).like(shape=a.shape[:-1] + weight.shape[:1])


def embedding(x, weight, *_, **__):
    return _joined(x.float(), weight).like(shape=x.shape + weight.shape[1:])


def _convolution(dims, transposed):
    kind = getattr(nn, f"Conv{'Transpose' if transposed else ''}{dims}d")

    def function(x, weight, bias=None, stride=1, padding=0, *rest, dilation=1, groups=1, **_):
        made = kind.__new__(kind)
        made.in_channels, made.out_channels = x.shape[1], weight.shape[1 if transposed else 0] * (groups if transposed else 1)
        made.kernel, made.stride = tuple(weight.shape[2:]), nn.pair(stride, dims)
        padding = tuple(k // 2 for k in made.kernel) if padding == "same" else 0 if padding == "valid" else padding
        made.padding, made.dilation = nn.pair(padding, dims), nn.pair(rest[0] if rest and not transposed else dilation, dims)
        return made.forward(_joined(x, weight, bias))

    return function


for _dims in (1, 2, 3):
    globals()[f"conv{_dims}d"] = _convolution(_dims, False)
    globals()[f"conv_transpose{_dims}d"] = _convolution(_dims, True)


def layer_norm(x, normalized_shape, weight=None, bias=None, eps=1e-5):
    return _joined(x, weight, bias)


def group_norm(x, num_groups, weight=None, bias=None, eps=1e-5):
    return _joined(x, weight, bias)


def rms_norm(x, normalized_shape, weight=None, eps=None):
    return _joined(x, weight)


def batch_norm(x, running_mean, running_var, weight=None, bias=None, *_, **__):
    return _joined(x, weight, bias)


instance_norm = lambda x, running_mean=None, running_var=None, weight=None, bias=None, *_, **__: _joined(x, weight, bias)


def prelu(x, weight):
    return _joined(x, weight)


def cosine_similarity(a, b, dim=1, eps=1e-8):
    return (a * b).mean(dim)


def pairwise_distance(a, b, *_, **__):
    return (a - b).mean(-1)


def interpolate(x, size=None, scale_factor=None, **_):
    dims = len(x.shape) - 2
    if size is not None:
        return x.like(shape=x.shape[:2] + nn.pair(size, dims))
    scales = scale_factor if isinstance(scale_factor, (list, tuple)) else (scale_factor,) * dims
    return x.like(shape=x.shape[:2] + tuple(int(n * scale) for n, scale in zip(x.shape[2:], scales)))


upsample = interpolate


def grid_sample(x, grid, *_, **__):
    return x.like(shape=x.shape[:2] + grid.shape[1:-1], others=(grid,))


def pad(x, sizes, *_, **__):
    shape = list(x.shape)
    for i in range(len(sizes) // 2):
        shape[-1 - i] += sizes[2 * i] + sizes[2 * i + 1]
    return x.like(shape=shape)


def one_hot(x, num_classes=-1):
    count = num_classes if num_classes > 0 else int(x.value) + 1
    return x.like(1.0 / count, x.shape + (count,), DTYPES["int64"])


def scaled_dot_product_attention(q, k, v, *_, **__):
    return q.like(shape=q.shape[:-1] + v.shape[-1:], others=(k, v))
