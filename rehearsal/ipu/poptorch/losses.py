"""Where the backward pass begins.

PopTorch looks for the losses in the graph: the results of those loss functions of PyTorch that it knows and of `identity_loss`. A loss
that another loss is computed from is a number like any other; one must be left, and the backward pass starts there with a gradient of
ones, whether `forward` returns it or something computed from it. Source: https://github.com/graphcore/poptorch, release 3.3,
`poptorch/source/RemoveSurplusIdentityLosses.cpp`, `popart_canonicalization/LossOps.cpp`, and "Loss functions" in the list of operations.
"""

import torch
from contracts import expect, refused, require

# Functions whose result is a loss to the compiler. Others, such as huber_loss or gaussian_nll_loss, are arithmetic.
FUNCTIONS = frozenset(
    "nll_loss cross_entropy mse_loss l1_loss smooth_l1_loss soft_margin_loss binary_cross_entropy binary_cross_entropy_with_logits kl_div "
    "poisson_nll_loss hinge_embedding_loss cosine_embedding_loss margin_ranking_loss triplet_margin_loss ctc_loss".split())


def reduced(x, reduction):
    return x.sum() if reduction == "sum" else x.mean() if reduction == "mean" else x * 1


def identity_loss(x, reduction):
    """Marks the loss from which the IPU goes backward; gives it back reduced."""
    from .executor import TRACING

    if reduction not in ("sum", "mean", "none"):
        raise refused("ipu.loss-in-forward", f"identity_loss(reduction={reduction!r}): sum, mean or none")
    if not isinstance(x, torch.Tensor):
        raise refused("ipu.loss-in-forward", f"identity_loss of {type(x).__name__}: expected a tensor")
    if TRACING and TRACING[-1].recorder is not None and TRACING[-1].recorder.known(x):
        return TRACING[-1].recorder.recorded("identity_loss", reduced, (x, reduction), {})
    return reduced(x, reduction)


def final_loss(program, name):
    """The slot from which the backward pass of a recorded program begins."""
    losses = [call.results[0] for call in program.calls if (call.name == "identity_loss" or call.name in FUNCTIONS) and call.results]
    own = [call.results[0] for call in program.calls if call.name == "identity_loss" and call.results]
    require("ipu.loss-in-forward", losses,
            f"no loss in {name}.forward: compute it there, with a loss of torch.nn or with poptorch.identity_loss")
    last = [loss for loss in losses if not program.reaches(loss, losses)]
    require("ipu.identity-loss", len(last) == 1,
            f"{len(last)} losses in {name}.forward, none computed from the others: pass their sum through poptorch.identity_loss, and "
            "nothing else")
    returned = program.outputs
    if last[0] not in returned and program.reaches(last[0], returned):
        expect("ipu.identity-loss" if not own else "ipu.loss-returned", False,
               "forward's loss is computed from the one that PopTorch differentiates, so the operations in between are not part of the "
               "gradient: apply poptorch.identity_loss last and return its result")
    elif own and last[0] in returned:
        expect("ipu.loss-returned", True, "")
    return last[0]
