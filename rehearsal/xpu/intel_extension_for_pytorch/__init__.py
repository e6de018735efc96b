"""Intel Extension for PyTorch on a PyTorch that knows `xpu` by itself: what scripts use of it.

intel/intel-extension-for-pytorch v2.8.10+xpu: `intel_extension_for_pytorch/frontend.py` (`optimize`), `__init__.py`.
"""

import torch
from contracts import require
from stand_in_calls import MACHINE, record

__version__ = "2.8.10+xpu"
if MACHINE != "xpu":
    raise RuntimeError("intel_extension_for_pytorch on a machine without XPU")
xpu = torch.xpu


def optimize(model, dtype=None, optimizer=None, level="O1", inplace=False, **_):
    """Prepares a model, and the optimizer with it; weights of a type of their own have a copy in float32 in the optimizer."""
    record("ipex.optimize", dtype=str(dtype).replace("torch.", "") if dtype else None)
    given = optimizer is not None
    require("xpu.optimize-mode", model.training == given,
            "ipex.optimize needs the optimizer of a model in training mode" if model.training else "ipex.optimize of a model in evaluation mode accepts no optimizer")
    return model if optimizer is None else (model, optimizer)
