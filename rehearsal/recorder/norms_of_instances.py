"""Batch norm as N processes have it that train together: each over its own share of a batch."""

import os

SHARES = int(os.environ.get("STAND_IN_TWIN_INSTANCES", "1"))


def batch_norm(original, input, weight, bias, running_mean, running_var, training, *rest, **more):
    """In the place of `torch.batch_norm`. The running statistics are those of the first, which are the ones that come back."""
    import torch

    if not training or input.shape[0] % SHARES:
        return original(input, weight, bias, running_mean, running_var, training, *rest, **more)
    kept = [(running_mean, running_var), *[(None, None)] * (SHARES - 1)]
    return torch.cat([original(part, weight, bias, *own, training, *rest, **more) for part, own in zip(input.chunk(SHARES), kept)])
