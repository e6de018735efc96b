"""Models: built, compiled, fitted. What an accelerator wants of that is asked of `machine()`."""

import math

from keras_machine import machine
from stand_in_calls import record

from .. import data
from ..tensors import Tensor
from . import layers as layers_module


class History:
    def __init__(self, epochs):
        self.history = {"loss": [1.0] * epochs, "accuracy": [0.5] * epochs}
        self.epoch = list(range(epochs))


class Model(layers_module.Layer):
    def __init__(self, inputs=None, outputs=None, **options):
        super().__init__(**options)
        self.inputs, self.outputs = inputs, outputs
        self.optimizer = self.loss = None
        self.steps_per_execution, self.pipelining = 1, {}
        machine().used("made", self)
        record("keras.Model", kind=type(self).__name__)

    @property
    def layers(self):
        if self.outputs is not None:
            return list(dict.fromkeys(self.outputs.history))
        return [value for value in vars(self).values() if isinstance(value, layers_module.Layer)]

    @property
    def trainable_variables(self):
        return [weight for layer in self.layers for weight in (layer.weights_ or [])]

    weights = variables = trainable_weights = trainable_variables

    def call(self, x, training=None):
        for layer in self.layers:
            x = layer(x)
        return x

    def __call__(self, x, training=None, **_):
        machine().used("called", self)
        return self.call(x)

    def build(self, input_shape=None):
        self(Tensor(tuple(n or 1 for n in input_shape), 0.5))

    def summary(self, *_, **__):
        print(f"Model: {len(self.layers)} layers")

    def count_params(self):
        return sum(math.prod(v.shape) for v in self.trainable_variables)

    def compile(self, optimizer="rmsprop", loss=None, metrics=None, steps_per_execution=1, **options):
        machine().used("compiled", self)
        self.optimizer, self.loss = optimizer, loss
        self.steps_per_execution = int(steps_per_execution or 1)
        machine().compiled(self)
        name = lambda thing: thing if isinstance(thing, str) else type(thing).__name__
        record("keras.compile", optimizer=name(optimizer), loss=name(loss))

    def _fed(self, what, x, batch_size, steps):
        machine().used(what, self)
        if isinstance(x, data.Dataset):
            count = steps or x.count
            machine().batches(self, None, x.batch_size, x.whole, count)
            return count
        samples = len(x[0]) if isinstance(x, (list, tuple)) else len(x)
        batch_size = batch_size or 32
        machine().batches(self, samples, batch_size, samples % batch_size == 0, steps or math.ceil(samples / batch_size))
        return steps or math.ceil(samples / batch_size)

    def fit(self, x=None, y=None, batch_size=None, epochs=1, verbose="auto", callbacks=None, validation_split=0.0, validation_data=None,
            steps_per_epoch=None, validation_steps=None, **_):
        if self.optimizer is None:
            raise RuntimeError("You must compile your model before training/testing. Use `model.compile(optimizer, loss)`.")
        if validation_split and not isinstance(x, data.Dataset):
            held = int(len(x) * validation_split)
            x, validation_data = x[: len(x) - held], (x[len(x) - held :], None)
        count = self._fed("fitted", x, batch_size, steps_per_epoch)
        if validation_data is not None:
            held = validation_data[0] if isinstance(validation_data, (tuple, list)) else validation_data
            self._fed("evaluated", held, batch_size, validation_steps)
        for callback in callbacks or []:
            getattr(callback, "on_train_end", lambda logs=None: None)(None)
        record("keras.fit", batches=count, epochs=epochs)
        return History(epochs)

    def evaluate(self, x=None, y=None, batch_size=None, verbose="auto", steps=None, **_):
        count = self._fed("evaluated", x, batch_size, steps)
        record("keras.evaluate", batches=count)
        return [1.0, 0.5]

    def predict(self, x, batch_size=None, steps=None, **_):
        count = self._fed("asked to predict", x, batch_size, steps)
        record("keras.predict", batches=count)
        return Tensor((len(x) if not isinstance(x, data.Dataset) else 1, 1), 0.5)

    def train_on_batch(self, x, y=None, **_):
        self._fed("fitted", x, len(x), None)
        return [1.0, 0.5]

    def save(self, path, **_):
        record("keras.save")

    save_weights = save

    def load_weights(self, path, **_):
        record("keras.load")

    def get_weights(self):
        return self.trainable_variables

    def set_weights(self, weights):
        return None

    def set_pipelining_options(self, **options):
        from contracts import require

        require("tf-ipu.pipeline", self.optimizer is None, "set_pipelining_options after compile")
        self.pipelining.update(options)

    def set_gradient_accumulation_options(self, **options):
        self.accumulation = options

    def set_infeed_queue_options(self, **options):
        return None


class Sequential(Model):
    def __init__(self, layers=None, **options):
        self.stack = []
        super().__init__(**options)
        for layer in layers or []:
            self.add(layer)

    layers = property(lambda self: [layer for layer in self.stack if isinstance(layer, layers_module.Layer)])

    def add(self, layer):
        machine().used("extended", self)
        self.stack.append(layer)


def load_model(path, **_):
    record("keras.load")
    return Sequential()
