"""Which tensors of a forward pass are losses: those of torch's own loss functions, and those given to `identity_loss`.

PopTorch starts its backward pass at one tensor of the model: the result of an `nn` loss or of the last `identity_loss`. Source:
https://github.com/graphcore/poptorch, `python/ops.py`, and the user guide, "Custom losses".
"""

import functools

import torch
from contracts import refused

MARKED = []  # (tensor, is it an identity loss) of the pass under way
_FUNCTIONS = (
    "cross_entropy nll_loss mse_loss l1_loss smooth_l1_loss huber_loss kl_div binary_cross_entropy binary_cross_entropy_with_logits "
    "poisson_nll_loss gaussian_nll_loss ctc_loss hinge_embedding_loss cosine_embedding_loss triplet_margin_loss margin_ranking_loss"
).split()


def marks(function):
    @functools.wraps(function)
    def wrapped(*args, **kwargs):
        from .executor import TRACING

        result = function(*args, **kwargs)
        if TRACING and isinstance(result, torch.Tensor) and not any(seen is result for seen, _ in MARKED):
            MARKED.append((result, False))
        return result

    return wrapped


for _name in _FUNCTIONS:
    if hasattr(torch.nn.functional, _name):
        setattr(torch.nn.functional, _name, marks(getattr(torch.nn.functional, _name)))
for _kind in {value for name, value in vars(torch.nn).items() if isinstance(value, type) and name.endswith("Loss")}:
    if "forward" in vars(_kind):
        _kind.forward = marks(_kind.forward)


def identity_loss(x, reduction):
    """Marks the final loss; gives it back reduced."""
    if reduction not in ("sum", "mean", "none"):
        raise refused("ipu.loss-in-forward", f"identity_loss(reduction={reduction!r}): sum, mean or none")
    if not isinstance(x, torch.Tensor):
        raise refused("ipu.loss-in-forward", f"identity_loss of {type(x).__name__}: it takes a tensor")
    result = x.sum() if reduction == "sum" else x.mean() if reduction == "mean" else x * 1
    MARKED.append((result, True))
    return result
