"""PopTorch's optimizers: those of torch with a few arguments more, and LAMB.

Source: https://github.com/graphcore/poptorch, `python/optim.py`: what an optimizer is given is variable, what it is not given is a
constant of the compiled program (`_parseArgs`, `VariableAttributes`); a state that no IPU wrote is refused (`set_state_dict`).
Other kinds cannot be compiled (`python/_optimizer_attributes.py`).
"""

import torch
from contracts import refused, require

KINDS = ("SGD", "Adam", "AdamW", "RMSprop", "LAMB")
_OWN = {
    "SGD": "loss_scaling velocity_scaling use_combined_accum accum_type velocity_accum_type max_grad_norm",
    "Adam": "loss_scaling accum_type first_order_momentum_accum_type second_order_momentum_accum_type max_grad_norm",
    "AdamW": "loss_scaling bias_correction accum_type first_order_momentum_accum_type second_order_momentum_accum_type max_grad_norm",
    "RMSprop": "loss_scaling accum_type first_order_momentum_accum_type second_order_momentum_accum_type use_tf_variant",
    "LAMB": "bias_correction loss_scaling biasCorrection accum_type first_order_momentum_accum_type second_order_momentum_accum_type "
            "max_weight_norm",
}


class Optimizer:
    """What all of them share: attributes of PopTorch beside those of torch."""

    def __init__(self, params, lr=None, **options):
        kind = type(self).__name__
        own = {name: options.pop(name) for name in _OWN[kind].split() if name in options}
        if "max_grad_norm" in options:
            raise refused("ipu.optimizer-kind", f"poptorch.optim.{kind} has no max_grad_norm")
        if lr is not None:
            options["lr"] = lr
        elif kind == "SGD":
            raise TypeError("SGD needs lr")
        super().__init__(params, **options)
        self.variable = {name for name, value in options.items() if value is not None}
        for name, value in own.items():
            setattr(self, name, value)

    def state_dict(self):
        return {"ipu_state": None, "ipu_param": None, **super().state_dict()}

    def load_state_dict(self, state):
        super().load_state_dict({name: value for name, value in state.items() if not name.startswith("ipu_")})
        require("ipu.optimizer-state", "ipu_state" in state and "ipu_param" in state,
                "only the state of an optimizer of poptorch.optim can be loaded: this one was written without an IPU")


class SGD(Optimizer, torch.optim.SGD):
    pass


class Adam(Optimizer, torch.optim.Adam):
    pass


class AdamW(Optimizer, torch.optim.AdamW):
    pass


class RMSprop(Optimizer, torch.optim.RMSprop):
    pass


class LAMB(Optimizer, torch.optim.AdamW):
    pass


def kind_of(optimizer):
    """The name of the kind that can be compiled, or None."""
    return next((base.__name__ for base in type(optimizer).__mro__ if base.__name__ in KINDS), None)


def frozen(optimizer, before, after):
    """Names of numbers that changed and were compiled in, because the optimizer was not given them."""
    variable = getattr(optimizer, "variable", None)
    if variable is None:
        return []
    pairs = [(was, now) for was, now in zip(before, after)]
    return sorted({name for was, now in pairs for name in now if was.get(name) != now[name] and name not in variable})
