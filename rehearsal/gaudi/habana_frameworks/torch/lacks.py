"""What Gaudi has not, refused or warned of where its software does.

Source: https://docs.habana.ai/en/latest/PyTorch/Reference/PyTorch_Support_Matrix.html and
https://docs.habana.ai/en/latest/PyTorch/Reference/PyTorch_Operators.html: neither complex numbers nor sparse tensors, no TorchScript;
float64 is computed in float32, and int64 in int32 unless PT_ENABLE_INT64_SUPPORT=1.
"""

import warnings

from contracts import refused

_warned = set()


def dtype(kind):
    """A tensor of this type is put on the card."""
    import torch

    if kind.is_complex:
        raise refused("hpu.types", f"{kind} on hpu: Gaudi has no complex numbers")
    if kind is torch.float64 and "float64" not in _warned:
        _warned.add("float64")
        warnings.warn("hpu: float64 is not supported by the card and is computed in float32", stacklevel=2)


def script(name):
    raise refused("hpu.torchscript", f"{name}: TorchScript is not supported on hpu")


def call(func, args, kwargs):
    """A call with a tensor on the card."""
    home = getattr(func, "__module__", "") or ""
    name = getattr(func, "__name__", "")
    if home.startswith("torch.sparse") or name.lstrip("_").startswith(("sparse_", "to_sparse")):
        raise refused("hpu.sparse", f"{name}: sparse tensors are not supported on hpu")
    if name.startswith("fft_") or home.startswith("torch.fft"):
        raise refused("hpu.types", f"torch.fft.{name[4:]}: its result is complex, and Gaudi has no complex numbers")
    if name in ("complex", "view_as_complex", "polar", "stft"):
        raise refused("hpu.types", f"{name}: Gaudi has no complex numbers")
