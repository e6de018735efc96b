"""An accelerator that is the CPU: its tensors are PyTorch's own, and carry a mark that says where they are.

The device has the name that STAND_IN_MACHINE gives: `cuda`, for a program as it was written, `hpu`, for a port to Gaudi, or `xpu`, for
one to Intel's GPUs. A tensor "there" lies in the CPU's memory and is computed with by PyTorch's CPU kernels, so values, gradients and the state of optimizers are
PyTorch's to the last bit. A function mode sees each call that the program makes:

- what comes out of a call with a marked tensor is marked; `tensor.device` and what depends on it say so;
- tensors that lie in two places and meet in a call raise PyTorch's error;
- `device="hpu"` in a call becomes the CPU, and a mark on the result.

Parameters keep their identity in `module.to("hpu")`, as on the machine: `has_compatible_shallow_copy_type` counts HPU among the
dense backends (PyTorch, c10/core/TensorImpl.h), so an optimizer that was made before has the right parameters.
"""

import contextlib
import functools

from contracts import refused
from stand_in_calls import MACHINE, record

MARK = "_stand_in_device"
# `cuda` and `xpu` are there from the start; `hpu` when the bridge was imported.
_ready = [MACHINE in ("cuda", "xpu")]


def name():
    """The device that this machine has beside the CPU, or None."""
    return MACHINE if _ready[0] else None


def is_ours(device):
    """Whether a device, or what names one, is that of this machine."""
    if device is None or not _ready[0]:
        return False
    if isinstance(device, str):
        return device.partition(":")[0] == MACHINE
    if isinstance(device, int) and not isinstance(device, bool):
        return MACHINE in ("cuda", "xpu")  # PyTorch, torch/csrc/utils/python_arg_parser.h: a number names the accelerator that was built in.
    return getattr(device, "type", None) == MACHINE


def where(tensor):
    """`"hpu"` or `"cpu"`."""
    return MACHINE if getattr(tensor, MARK, False) else "cpu"


def mark(value, on=True):
    """Puts a tensor, or every tensor in lists and tables, on the device or off it."""
    import torch

    if isinstance(value, torch.Tensor):
        if on or getattr(value, MARK, False):
            setattr(value, MARK, on)
    elif isinstance(value, dict):
        for item in value.values():
            mark(item, on)
    elif isinstance(value, (list, tuple)):
        for item in value:
            mark(item, on)
    return value


def start_hpu():
    """The bridge was imported: from here on there is a device `hpu`."""
    if not _ready[0]:
        _ready[0] = True
        install()


def install():
    """Puts the device into the PyTorch that is imported."""
    if _ready[0]:
        from stand_in_device_mode import install

        install()
        from stand_in_device_modules import install as modules

        modules()
