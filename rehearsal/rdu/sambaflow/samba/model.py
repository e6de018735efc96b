"""Handing a model to Samba, in place.

Source: `samba.from_torch_model_` as used in https://github.com/sambanova/tutorials; `from_torch_` is its older name.
"""

import torch
from contracts import broken, kept, refused, require
from stand_in_calls import record


def is_samba(model):
    return model.__dict__.get("_samba", False)


def from_torch_model_(model):
    require("rdu.from-torch", isinstance(model, torch.nn.Module), f"from_torch_model_ takes a torch.nn.Module, not {type(model).__name__}")
    model.__dict__["_samba"] = True
    model.__dict__["_samba_dtypes"] = [p.dtype for p in model.parameters()]
    record("samba.from_torch_model_", module=type(model).__name__)
    return None


def from_torch_(value, *_, **__):
    if isinstance(value, torch.nn.Module):
        return from_torch_model_(value)
    raise refused("rdu.from-torch", "from_torch_ is for models; use samba.from_torch_tensor for a tensor")


def check_handed_over(model, what):
    require("rdu.from-torch", is_samba(model), f"{what} of a model that did not go through samba.from_torch_model_")
    if [p.dtype for p in model.parameters()] != model.__dict__["_samba_dtypes"]:
        broken("rdu.from-torch", f"the model's type was changed after from_torch_model_ and before {what}")
    else:
        kept("rdu.from-torch")
