"""Losses and activations as functions."""

from .tensors import Tensor


def relu(x):
    return x


softmax = sigmoid = relu


def sparse_softmax_cross_entropy_with_logits(labels=None, logits=None):
    return Tensor(labels.shape, 1.0)


softmax_cross_entropy_with_logits = sparse_softmax_cross_entropy_with_logits
