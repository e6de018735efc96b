"""Optimizers of Keras."""

from stand_in_calls import record

from ..tensors import Variable


class Optimizer:
    def __init__(self, learning_rate=0.001, *_, **options):
        self.learning_rate = learning_rate if callable(learning_rate) else Variable(learning_rate)
        self.lr = self.learning_rate
        self.iterations = Variable(0)

    def apply_gradients(self, pairs):
        record("keras.apply_gradients", kind=type(self).__name__, count=len(list(pairs)))

    def minimize(self, loss, variables, tape=None):
        self.apply_gradients([(None, v) for v in variables])


class SGD(Optimizer):
    pass


class Adam(Optimizer):
    pass


class AdamW(Optimizer):
    pass


class RMSprop(Optimizer):
    pass


class schedules:
    class ExponentialDecay:
        def __init__(self, *args, **options):
            self.args = args

        def __call__(self, step):
            return 0.1

    CosineDecay = PiecewiseConstantDecay = ExponentialDecay
