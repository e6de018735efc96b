from stand_in_calls import record

from .. import nn
from .._tensor import DTYPES


def _same(x, *_, **__):
    return x.like()


relu = relu_ = gelu = silu = leaky_relu = elu = tanh = sigmoid = log_softmax = dropout = dropout2d = normalize = softplus = _same


def softmax(x, dim=-1, **_):
    return x.softmax(dim)


def max_pool2d(x, kernel_size, stride=None, padding=0):
    return nn.MaxPool2d(kernel_size, stride, padding).forward(x)


avg_pool2d = max_pool2d


def adaptive_avg_pool2d(x, size):
    return nn.AdaptiveAvgPool2d(size).forward(x)


def interpolate(x, size=None, scale_factor=None, **_):
    space = nn.pair(size, 2) if size is not None else tuple(int(n * scale_factor) for n in x.shape[2:])
    return x.like(shape=x.shape[:2] + space)


def pad(x, sizes, *_, **__):
    shape = list(x.shape)
    for i in range(len(sizes) // 2):
        shape[-1 - i] += sizes[2 * i] + sizes[2 * i + 1]
    return x.like(shape=shape)


def one_hot(x, num_classes=-1):
    return x.like(1.0 / num_classes, x.shape + (num_classes,), DTYPES["int64"])


def _loss(kind):
    def function(input, target, weight=None, reduction="mean", **_):
        return kind(weight=weight, reduction=reduction)(input, target)

    return function


cross_entropy, nll_loss, mse_loss = _loss(nn.CrossEntropyLoss), _loss(nn.NLLLoss), _loss(nn.MSELoss)
l1_loss, smooth_l1_loss, kl_div = _loss(nn.L1Loss), _loss(nn.SmoothL1Loss), _loss(nn.KLDivLoss)
binary_cross_entropy, binary_cross_entropy_with_logits = _loss(nn.BCELoss), _loss(nn.BCEWithLogitsLoss)


def scaled_dot_product_attention(q, k, v, *_, **__):
    return q.like(others=(k, v))
