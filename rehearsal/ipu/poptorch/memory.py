"""What a training step needs of an IPU's memory, at least: weights, the optimizer's state, and what `forward` keeps for the backward pass.

Source: Graphcore's data sheet of the Bow IPU (900 MB of In-Processor-Memory, which contains the program, too).
"""

import contextlib

import torch
import twin

from . import blocks

IN_PROCESSOR_MEMORY = 900e6
# Values of the optimizer's state for each weight.
STATE = {"LAMB": 2, "Adam": 2, "AdamW": 2, "RMSprop": 1, "SGD": 0}


class Activations:
    """Counts what the backward pass keeps of a forward pass, in bytes. Recomputation would keep less."""

    def __init__(self, weights):
        self._weights = {weight.untyped_storage().data_ptr() for weight in weights}
        self._kept = {}

    @contextlib.contextmanager
    def counted(self):
        def keep(tensor):
            storage = tensor.untyped_storage()
            if storage.data_ptr() not in self._weights:
                self._kept[storage.data_ptr()] = storage.nbytes()
            return tensor

        with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
            yield

    bytes = property(lambda self: sum(self._kept.values()))


def note(weights, values, activations, accumulation):
    """Notes a step that does not fit on one IPU. A model that is divided among several is not judged."""
    if blocks.used():
        return
    own = values["groups"][0]
    state = STATE[values["kind"]] + sum(bool(own[name][0]) for name in ("momentum", "centered") if name in own) + (accumulation > 1)
    fixed = sum(weight.numel() * weight.element_size() * (1 + state * weight.requires_grad) for weight in weights)
    if fixed + activations > IN_PROCESSOR_MEMORY:
        twin.note("memory", f"weights and optimizer state take {fixed / 1e9:.1f} GB and what the backward pass needs {activations / 1e9:.1f} GB, but an IPU "
                  "has 0.9 GB: use a smaller batch or recomputation, or divide the model among several IPUs")
