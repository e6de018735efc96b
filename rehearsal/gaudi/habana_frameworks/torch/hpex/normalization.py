"""`FusedClipNorm`: the norm of all gradients together, clipped.

Source: Model-References, PyTorch/nlp/bert/run_pretraining.py: `FusedClipNorm(parameters, max_norm).clip_norm(parameters)` in the place of
`torch.nn.utils.clip_grad_norm_`.
"""

import torch
from stand_in_calls import record


class FusedClipNorm:
    def __init__(self, parameters, max_norm):
        self.max_norm = float(max_norm)

    def clip_norm(self, parameters):
        record("FusedClipNorm")
        return torch.nn.utils.clip_grad_norm_.__wrapped__(list(parameters), self.max_norm)
