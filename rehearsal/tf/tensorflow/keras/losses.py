"""Losses of Keras."""

from ..tensors import Tensor


class Loss:
    def __init__(self, from_logits=False, **options):
        self.from_logits = from_logits

    def __call__(self, truth, prediction, *_):
        return Tensor((), 1.0)


class SparseCategoricalCrossentropy(Loss):
    pass


class CategoricalCrossentropy(Loss):
    pass


class BinaryCrossentropy(Loss):
    pass


class MeanSquaredError(Loss):
    pass


class MeanAbsoluteError(Loss):
    pass
