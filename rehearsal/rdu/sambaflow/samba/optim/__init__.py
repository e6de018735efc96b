"""Samba's optimizers: the step is a section of the compiled program, so `step()` on the host is a fault.

Source: `samba.optim` in https://docs.sambanova.ai/developer/latest/ and https://github.com/sambanova/tutorials.
"""

import torch
from contracts import broken, require
from stand_in_calls import record


class _Compiled:
    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        record("samba.optim", kind=type(self).__name__)

    def step(self, *_, **__):
        broken("rdu.host-step", "step() on the host: samba.session.run makes the step")

    def zero_grad(self, *_, **__):
        broken("rdu.host-step", "zero_grad() on the host: the gradients are on the RDU")


class SGD(_Compiled, torch.optim.SGD):
    pass


class Adam(_Compiled, torch.optim.Adam):
    pass


class AdamW(_Compiled, torch.optim.AdamW):
    pass


def check_optimizer(optimizer, model):
    """None for inference; otherwise of Samba's kinds and over this model's parameters."""
    if optimizer is None:
        return
    for one in optimizer if isinstance(optimizer, (list, tuple)) else [optimizer]:
        require("rdu.optimizer", isinstance(one, _Compiled), f"{type(one).__name__} of torch cannot be compiled: samba.optim has SGD and AdamW")
        own = {id(p) for p in model.parameters()}
        given = {id(p) for group in one.param_groups for p in group["params"]}
        require("rdu.optimizer", given <= own, "the optimizer holds parameters of another model")
