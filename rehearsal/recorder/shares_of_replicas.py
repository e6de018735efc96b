"""Batch norm and losses as N copies of a model have them that train together: each over its own share of a batch."""

import os

SHARES = int(os.environ.get("STAND_IN_TWIN_SHARES", "1"))
# Whether the copies take the samples in turns, instead of a run of them each.
TURNS = os.environ.get("STAND_IN_TWIN_TURNS") == "1"
_depth = [0]


def parts_of(batch):
    """The shares of a batch."""
    return [batch[first::SHARES] for first in range(SHARES)] if TURNS else batch.chunk(SHARES)


def joined(parts):
    """The batch of these shares."""
    import torch

    return torch.stack(parts, 1).flatten(0, 1) if TURNS else torch.cat(parts)


def batch_norm(original, input, weight, bias, running_mean, running_var, training, *rest, **more):
    """In the place of `torch.batch_norm`. The running statistics are those of the first, which are the ones that come back."""
    import torch

    if not training or input.shape[0] % SHARES:
        return original(input, weight, bias, running_mean, running_var, training, *rest, **more)
    kept = [(running_mean, running_var), *[(None, None)] * (SHARES - 1)]
    return joined([original(part, weight, bias, *own, training, *rest, **more) for part, own in zip(parts_of(input), kept)])


def loss(original, *args, **kwargs):
    """In the place of a function that makes one number of a batch, or of a module without weights that does: the mean of what it makes of
    each share. A mean that weights the samples, or leaves some out, is another one then."""
    import torch
    import twin
    from compiled_program import mapped, tensors_of

    def is_one_number(value):
        return isinstance(value, torch.Tensor) and not value.dim() and value.requires_grad

    whole = [tensor for tensor in tensors_of((args, kwargs)) if tensor.dim()]
    sizes = {tensor.shape[0] for tensor in whole if tensor.requires_grad}
    _depth[0] += 1
    try:
        found = original(*args, **kwargs)
        if _depth[0] > 1 or not is_one_number(found) or len(sizes) != 1 or (size := sizes.pop()) % SHARES:
            return found
        # Weights of classes have a dimension of another size.
        parts = [mapped((args, kwargs), lambda leaf, share=share: parts_of(leaf)[share] if any(leaf is one for one in whole) and leaf.shape[0] == size else leaf)
                 for share in range(SHARES)]
        mean = torch.stack([original(*own, **named) for own, named in parts]).mean()
        if torch.isclose(found, SHARES * mean, rtol=1e-4, atol=0.0):
            return found  # A sum over the batch: the mean of sums is no other weighting, but a smaller loss.
        twin.RECORD["losses_of_shares"] = True
        return mean
    finally:
        _depth[0] -= 1


def of_module(original, self, *args, **kwargs):
    """In the place of `nn.Module.__call__`."""
    if any(True for _ in self.parameters()):
        return original(self, *args, **kwargs)
    return loss(lambda *own, **named: original(self, *own, **named), *args, **kwargs)
