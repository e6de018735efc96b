"""Layers know their shape and their weights, and the stage of a pipeline they were made in."""

import math

from keras_machine import STAGES

from ..tensors import Tensor, Variable


class Layer:
    def __init__(self, *args, **options):
        self.args, self.options = args, options
        self.weights_, self.stage = None, STAGES[-1] if STAGES else None

    name = property(lambda self: type(self).__name__)

    def build(self, shape):
        return []

    def result(self, shape):
        return shape

    def __call__(self, x, training=None, **_):
        if isinstance(x, (list, tuple)):
            x = x[0]
        if self.weights_ is None:
            self.weights_ = [Variable(Tensor(shape, 0.01)) for shape in self.build(x.shape)]
        out = Tensor(self.result(tuple(x.shape)), x.value)
        out.history = [*getattr(x, "history", []), self]
        out.source = getattr(x, "source", None)
        out.stage_of_call = STAGES[-1] if STAGES else None
        self.called_in = out.stage_of_call if STAGES else self.stage
        return out


class Dense(Layer):
    units = property(lambda self: self.args[0] if self.args else self.options["units"])

    def build(self, shape):
        return [(shape[-1], self.units), (self.units,)]

    def result(self, shape):
        return (*shape[:-1], self.units)


class Conv2D(Layer):
    def build(self, shape):
        filters = self.args[0] if self.args else self.options["filters"]
        size = self.args[1] if len(self.args) > 1 else self.options["kernel_size"]
        size = (size, size) if isinstance(size, int) else tuple(size)
        return [(*size, shape[-1], filters), (filters,)]

    def result(self, shape):
        filters = self.args[0] if self.args else self.options["filters"]
        size = self.args[1] if len(self.args) > 1 else self.options["kernel_size"]
        size = (size, size) if isinstance(size, int) else tuple(size)
        strides = self.options.get("strides", 1)
        strides = (strides, strides) if isinstance(strides, int) else strides
        if self.options.get("padding") == "same":
            space = [math.ceil(n / s) for n, s in zip(shape[1:3], strides)]
        else:
            space = [(n - k) // s + 1 for n, k, s in zip(shape[1:3], size, strides)]
        return (shape[0], *space, filters)


class MaxPooling2D(Layer):
    def result(self, shape):
        size = self.args[0] if self.args else self.options.get("pool_size", 2)
        size = (size, size) if isinstance(size, int) else size
        return (shape[0], shape[1] // size[0], shape[2] // size[1], shape[3])


MaxPool2D = AveragePooling2D = MaxPooling2D


class GlobalAveragePooling2D(Layer):
    def result(self, shape):
        return (shape[0], shape[-1])


class Flatten(Layer):
    def result(self, shape):
        return (shape[0], math.prod(shape[1:]))


class Same(Layer):
    pass


Dropout = BatchNormalization = Activation = ReLU = Softmax = Rescaling = LayerNormalization = Same
Add = Concatenate = Same


class InputLayer(Layer):
    pass


def Input(shape=None, batch_size=None, **_):
    out = Tensor((batch_size or 1, *shape), 0.5)
    out.history, out.source = [], True
    return out
