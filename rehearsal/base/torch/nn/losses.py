"""Losses: a number for the batch, or one for each sample."""

from .._tensor import DTYPES, Tensor, together
from . import Module


class Loss(Module):
    def __init__(self, weight=None, reduction="mean", **_):
        if isinstance(weight, Tensor):
            self.register_buffer("weight", weight)
        self.reduction = reduction

    def forward(self, input, target, *more):
        more = [tensor for tensor in more if isinstance(tensor, Tensor)]
        together(input, target, *more, *[value for _, value in self._own("buffer")])
        shape = () if self.reduction != "none" else target.shape
        return input.like(abs(input.value) + 1.0, shape, DTYPES["float32"], others=(target, *more))


class CrossEntropyLoss(Loss):
    def forward(self, input, target):
        if input.shape[:1] + input.shape[2:] != target.shape and input.shape != target.shape:
            raise ValueError(f"Expected target of shape for input {list(input.shape)}, got {list(target.shape)}")
        return super().forward(input, target)


class NLLLoss(CrossEntropyLoss):
    pass


# Loss → its name in `torch.nn.functional`.
ALIKE = {
    "MSELoss": "mse_loss", "L1Loss": "l1_loss", "SmoothL1Loss": "smooth_l1_loss", "HuberLoss": "huber_loss", "BCELoss": "binary_cross_entropy",
    "BCEWithLogitsLoss": "binary_cross_entropy_with_logits", "KLDivLoss": "kl_div", "PoissonNLLLoss": "poisson_nll_loss",
    "GaussianNLLLoss": "gaussian_nll_loss", "CTCLoss": "ctc_loss", "SoftMarginLoss": "soft_margin_loss",
    "MultiLabelSoftMarginLoss": "multilabel_soft_margin_loss", "MultiLabelMarginLoss": "multilabel_margin_loss",
    "MultiMarginLoss": "multi_margin_loss", "HingeEmbeddingLoss": "hinge_embedding_loss", "MarginRankingLoss": "margin_ranking_loss",
    "CosineEmbeddingLoss": "cosine_embedding_loss", "TripletMarginLoss": "triplet_margin_loss",
    "TripletMarginWithDistanceLoss": "triplet_margin_with_distance_loss",
}
for _name in ALIKE:
    globals()[_name] = type(_name, (Loss,), {"__module__": __name__})
FUNCTIONS = {**ALIKE, "CrossEntropyLoss": "cross_entropy", "NLLLoss": "nll_loss"}
__all__ = list(FUNCTIONS)
