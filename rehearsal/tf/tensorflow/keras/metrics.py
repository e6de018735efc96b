"""Metrics of Keras."""

from ..tensors import Tensor


class Metric:
    def __init__(self, *_, **__):
        self.value = 0.5

    def update_state(self, *_, **__):
        return None

    __call__ = update_state

    def result(self):
        return Tensor((), self.value)

    def reset_states(self):
        return None

    reset_state = reset_states


class Mean(Metric):
    pass


class Accuracy(Metric):
    pass


class SparseCategoricalAccuracy(Metric):
    pass
