"""Helpers of Keras."""

import numpy


def to_categorical(labels, num_classes=None):
    return numpy.ndarray((*labels.shape, num_classes or 10), 0.1)


def set_random_seed(seed):
    return None
