"""What goes into a call and what comes out: signatures, micro-batches, output modes.

Source: https://github.com/graphcore/poptorch, `_narrow_tensor` in `python/_poplar_executor.py`; the user guide on batching.
"""

import torch
from contracts import refused, require

from .enums import OutputMode


def flat(value):
    """Every leaf of nested tuples, lists and dicts."""
    if isinstance(value, (tuple, list)):
        return [leaf for item in value for leaf in flat(item)]
    if isinstance(value, dict):
        return [leaf for key in value for leaf in flat(value[key])]
    return [value]


def mapped(value, function):
    if isinstance(value, (tuple, list)):
        return type(value)(mapped(item, function) for item in value) if not hasattr(value, "_fields") else type(value)(
            *(mapped(item, function) for item in value))
    if isinstance(value, dict):
        return {key: mapped(item, function) for key, item in value.items()}
    return function(value)


def signature(args, kwargs):
    """Shapes and types of all tensors; 64-bit numbers are 32-bit on the IPU, so they are the same here."""
    narrow = {"torch.int64": "torch.int32", "torch.float64": "torch.float32"}
    tensors = [leaf for leaf in flat((args, kwargs)) if isinstance(leaf, torch.Tensor)]
    return [(tuple(t.shape), narrow.get(str(t.dtype), str(t.dtype))) for t in tensors]


def micro(value, factor):
    """The first micro-batch of all that one call takes."""

    def first(leaf):
        if not isinstance(leaf, torch.Tensor):
            return leaf
        if str(leaf.device.type) != "cpu":
            raise refused("ipu.host-tensors", f"an input lies on {leaf.device}: a wrapped model takes tensors of the host")
        size = leaf.shape[0] if len(leaf.shape) else 1
        require("ipu.batch", size % factor == 0,
                f"a first dimension of {size} cannot be divided into deviceIterations × replicationFactor × gradientAccumulation = {factor}")
        return leaf[: size // factor] if len(leaf.shape) and factor > 1 else leaf

    return mapped(value, first)


def as_results(outputs, options, refuse_backward):
    """Outputs as the host sees them: detached, once for each replica or batch, without a backward pass."""
    times = {
        OutputMode.All: options.batches_per_call, OutputMode.Final: options.replication_factor, OutputMode.Sum: options.replication_factor,
    }.get(options.output_mode, options.replication_factor)

    def result(leaf):
        if not isinstance(leaf, torch.Tensor):
            return leaf
        leaf = leaf.detach()
        if times > 1:
            leaf = torch.cat([leaf] * times) if len(leaf.shape) else torch.stack([leaf] * times)
        leaf.backward = refuse_backward
        return leaf

    return mapped(outputs, result)
