"""Modules that make pictures smaller, larger or wider, in one, two and three dimensions."""

import math

from . import Module, pair


class _Pool(Module):
    dims = 2

    def __init__(self, kernel_size, stride=None, padding=0, dilation=1, *_, ceil_mode=False, return_indices=False, **__):
        self.k, self.p = pair(kernel_size, self.dims), pair(padding, self.dims)
        self.s, self.round_up = pair(stride or kernel_size, self.dims), ceil_mode

    def forward(self, x):
        lead, space = x.shape[: -self.dims], x.shape[-self.dims :]
        ratio = [(n + 2 * p - k) / s for n, k, s, p in zip(space, self.k, self.s, self.p)]
        return x.like(shape=(*lead, *((math.ceil(r) if self.round_up else math.floor(r)) + 1 for r in ratio)))


class _AdaptivePool(Module):
    dims = 2

    def __init__(self, output_size, return_indices=False):
        self.size = pair(output_size, self.dims)

    def forward(self, x):
        kept = [n if size is None else size for n, size in zip(x.shape[-self.dims :], self.size)]
        return x.like(shape=(*x.shape[: -self.dims], *kept))


class _Pad(Module):
    dims = 2

    def __init__(self, padding, *_):
        self.sizes = (padding,) * (2 * self.dims) if isinstance(padding, int) else tuple(padding)

    def forward(self, x):
        from . import functional

        return functional.pad(x, self.sizes)


class Upsample(Module):
    def __init__(self, size=None, scale_factor=None, mode="nearest", **_):
        self.size, self.scale = size, scale_factor

    def forward(self, x):
        from . import functional

        return functional.interpolate(x, self.size, self.scale)


class UpsamplingNearest2d(Upsample):
    pass


class UpsamplingBilinear2d(Upsample):
    pass


class PixelShuffle(Module):
    def __init__(self, upscale_factor):
        self.r = upscale_factor

    def forward(self, x):
        *lead, c, h, w = x.shape
        return x.like(shape=(*lead, c // self.r**2, h * self.r, w * self.r))


class PixelUnshuffle(Module):
    def __init__(self, downscale_factor):
        self.r = downscale_factor

    def forward(self, x):
        *lead, c, h, w = x.shape
        return x.like(shape=(*lead, c * self.r**2, h // self.r, w // self.r))


__all__ = ["Upsample", "UpsamplingNearest2d", "UpsamplingBilinear2d", "PixelShuffle", "PixelUnshuffle"]
# Module → its name in `torch.nn.functional`.
FUNCTIONS = {}
for _kind, _base, _twin in (
    ("MaxPool", _Pool, "max_pool"), ("AvgPool", _Pool, "avg_pool"), ("LPPool", _Pool, None), ("AdaptiveAvgPool", _AdaptivePool, "adaptive_avg_pool"),
    ("AdaptiveMaxPool", _AdaptivePool, "adaptive_max_pool"), ("ZeroPad", _Pad, None), ("ConstantPad", _Pad, None),
    ("ReflectionPad", _Pad, None), ("ReplicationPad", _Pad, None), ("CircularPad", _Pad, None),
):
    for _dims in (1, 2, 3):
        _name = f"{_kind}{_dims}d"
        globals()[_name] = type(_name, (_base,), {"dims": _dims, "__module__": __name__})
        __all__.append(_name)
        if _twin:
            FUNCTIONS[_name] = f"{_twin}{_dims}d"
