"""The real TensorFlow in a twin run: its devices are the CPU, and an accelerator's module is asked where Keras builds, compiles and runs a model.

Source for what is put in the place of what: https://www.tensorflow.org/api_docs/python/tf and https://keras.io/api/; Keras 3, which TensorFlow
has from 2.16 on. The vendors' software had Keras 2.6 at the most, so programs for it do what Keras 3 refuses: save a model to a path without
an ending, give an optimizer a variable as its rate. Here they may.
"""

import functools
import inspect
import os
import sys

import contracts
import keras_machine
import twin
from keras_machine import machine
from stand_in_calls import MACHINE, record
from torch_calls import around

_done = []


def imported(which):
    """Puts everything in place once TensorFlow and its Keras are there; the one imports the other, either way round."""
    there = lambda name: name == which or name in sys.modules and not getattr(sys.modules[name].__spec__, "_initializing", False)  # noqa: E731
    if _done or not there("tensorflow") or "keras" in sys.modules and not there("keras"):
        return
    _done.append(True)
    import tensorflow as tf

    import keras

    if int(keras.__version__.split(".")[0]) < 3 or keras.backend.backend() != "tensorflow":
        raise ImportError(f"a twin run needs Keras 3 on TensorFlow 2.16 or newer; found Keras {keras.__version__} on {keras.backend.backend()}")
    import keras_twin

    _devices(tf)
    _precision(keras)
    keras_twin.install(tf, keras)
    _models(tf, keras, keras_twin)
    _rates(tf, keras)
    _files(keras, keras_twin)
    _of_the_ipu(keras)


# ------------------------------------------------------------------------------------------------ devices


def _devices(tf):
    """The accelerator that a program names is the CPU."""
    real = tf.device

    def device(name):
        named = str(name).upper()
        record("tf.device", device=str(name))
        if named.strip("/").startswith(("GPU", "HPU", "IPU")) or any(f"DEVICE:{kind}" in named for kind in ("GPU", "HPU", "IPU")):
            twin.RECORD["devices"].add(MACHINE)
            name = "/CPU:0"
        return real(name)

    tf.device = device
    here = {"cuda": "GPU", "hpu": "HPU"}.get(MACHINE)
    listed = tf.config.list_physical_devices

    def devices(device_type=None):
        own = [] if here is None or here == "HPU" and not _loaded() else [tf.config.PhysicalDevice(f"/physical_device:{here}:0", here)]
        return [one for one in [*listed(), *own] if device_type in (None, one.device_type)]

    tf.config.list_physical_devices = tf.config.experimental.list_physical_devices = devices
    for name in ("set_memory_growth", "set_virtual_device_configuration"):
        setattr(tf.config.experimental, name, lambda *_, **__: None)
    for owner, name in ((tf.config, "set_visible_devices"), (tf.config, "set_logical_device_configuration")):
        setattr(owner, name, lambda *_, **__: None)
    if MACHINE == "cuda":
        # However many cards there are, what they compute together is what one computes of the whole batch.
        one = type("MirroredStrategy", (tf.distribute.OneDeviceStrategy,), {"__init__": lambda self, *_, **__: super(one, self).__init__("/cpu:0")})
        tf.distribute.MirroredStrategy = one


def _loaded():
    return "habana_frameworks.tensorflow" in sys.modules


def _precision(keras):
    """Types of half the size are kept out of both runs."""
    if twin.precision() != "float32":
        return

    def whole(name):
        if not isinstance(name, str) or "16" not in name:
            return name
        twin.note("precision", "the program uses a half-precision type, but was run in float32")
        return "float32"

    policy = keras.src.dtype_policies.dtype_policy.DTypePolicy
    around(policy, "__init__", lambda original, self, name=None, *args, **kwargs: original(self, whole(name), *args, **kwargs))


# ------------------------------------------------------------------------------------------------ models


def _given(function, args, kwargs):
    """Arguments by name, without `self`."""
    given = dict(inspect.signature(function).bind(*args, **kwargs).arguments)
    given.pop("self")
    more = given.pop("kwargs", {})
    return {**given, **more}


def _models(tf, keras, keras_twin):
    initialize = keras.layers.Layer.__init__

    @functools.wraps(initialize)
    def made(self, **kwargs):  # Keras reads the names of the arguments.
        initialize(self, **kwargs)
        if keras_machine.STAGES:
            self.__dict__["stage"] = keras_machine.STAGES[-1]
        if isinstance(self, keras.Model):
            machine().used("made", self)
            record("keras.Model", kind=type(self).__name__)

    keras.layers.Layer.__init__ = made

    def called(original, self, *args, **kwargs):
        if keras_machine.STAGES:
            self.__dict__["called_in"] = keras_machine.STAGES[-1]
        return original(self, *args, **kwargs)

    around(keras.layers.Layer, "__call__", called)

    trainer = keras.src.trainers.trainer.Trainer
    of_tensorflow = keras.src.backend.tensorflow.trainer.TensorFlowTrainer

    def compiled(original, self, *args, **kwargs):
        given = _given(original, (self, *args), kwargs)
        machine().used("compiled", self)
        original(self, **{**given, "run_eagerly": True, "jit_compile": False})
        machine().compiled(self)
        record("keras.compile", optimizer=type(self.optimizer).__name__)

    around(trainer, "compile", compiled)

    def fed(model, what, given, size=None):
        """Tells the accelerator what data are about to come."""
        machine().used(what, model)
        x, steps = given.get("x"), given.get("steps_per_epoch") or given.get("steps")
        if isinstance(x, tf.data.Dataset):
            first = keras_twin._leaves(x.element_spec)[0].shape
            count = int(x.cardinality())
            machine().batches(model, None, first[0], first[0] is not None, steps or (count if count >= 0 else None))
        elif keras_twin.are_arrays(x):
            samples, size = len(keras_twin._leaves(x)[0]), int(given.get("batch_size") or size or 32)
            machine().batches(model, samples, size, samples % size == 0, steps or -(-samples // size))

    def fit(original, self, *args, **kwargs):
        given = _given(original, (self, *args), kwargs)
        keras_twin.fitted(given)
        fed(self, "fitted", given)
        held = given.get("validation_data")
        if held is not None:
            x = held[0] if isinstance(held, (tuple, list)) else held
            fed(self, "evaluated", {"x": x, "batch_size": given.get("validation_batch_size") or given.get("batch_size"),
                                    "steps": given.get("validation_steps")})
        keras_twin.gather(*machine().update(self))
        twin.RECORD["on_device"] |= machine().trains()
        try:
            return original(self, **given)
        finally:
            keras_twin.gather(1, 1.0)

    around(of_tensorflow, "fit", fit)

    def evaluate(original, self, *args, **kwargs):
        given = _given(original, (self, *args), kwargs)
        if not given.get("_use_cached_eval_dataset"):
            keras_twin.evaluated(given)
            fed(self, "evaluated", given)
        return original(self, **given)

    around(of_tensorflow, "evaluate", evaluate)

    def on_batch(original, self, *args, **kwargs):
        machine().used("fitted", self)
        keras_twin.gather(*machine().update(self))
        twin.RECORD["on_device"] |= machine().trains()
        try:
            return original(self, *args, **kwargs)
        finally:
            keras_twin.gather(1, 1.0)

    around(of_tensorflow, "train_on_batch", on_batch)

    callbacks = keras.src.callbacks.callback_list.CallbackList
    around(callbacks, "on_epoch_end", _end_of(keras_twin, lambda epoch, *_: f"epoch {epoch + 1}", 1))
    around(callbacks, "on_test_end", _end_of(keras_twin, lambda *_: "an evaluation", 0))


def _rates(tf, keras):
    class OfVariable(keras.optimizers.schedules.LearningRateSchedule):
        """A rate that the program sets by hand."""

        def __init__(self, variable):
            self.variable = variable

        def __call__(self, step):
            return tf.convert_to_tensor(self.variable)

        def get_config(self):
            return {}

    def made(original, self, learning_rate, *args, lr=None, **kwargs):
        rate = learning_rate if lr is None else lr
        original(self, OfVariable(rate) if isinstance(rate, tf.Variable) else rate, *args, **kwargs)

    around(keras.src.optimizers.base_optimizer.BaseOptimizer, "__init__", made)


def _end_of(keras_twin, name, place):
    def ended(original, self, *args, **kwargs):
        logs = kwargs.get("logs", args[place] if len(args) > place else None)
        keras_twin.told(name(*args), logs)
        return original(self, *args, **kwargs)

    return ended


# ------------------------------------------------------------------------------------------------ files


def _files(keras, keras_twin):
    """Saving and loading, with the paths that an older Keras takes."""
    models = keras.src.models.model.Model

    def ended(path, ending):
        path = os.fspath(path)
        return path if path.endswith((".keras", ".h5", ".hdf5")) and (ending == ".keras" or path.endswith(ending)) else path + ending

    def save(original, self, filepath, *args, overwrite=True, **kwargs):
        record("keras.save")
        keras_twin.saved(self, filepath)
        return original(self, ended(filepath, ".keras"), overwrite=overwrite)

    def save_weights(original, self, filepath, *args, overwrite=True, **kwargs):
        record("keras.save")
        keras_twin.saved(self, filepath)
        return original(self, ended(filepath, ".weights.h5"), overwrite=overwrite)

    around(models, "save", save)
    around(models, "save_weights", save_weights)

    def load_weights(original, self, filepath, *args, **kwargs):
        record("keras.load")
        older = ended(filepath, ".weights.h5")
        return original(self, older if os.path.exists(older) and not os.path.exists(filepath) else filepath, *args, **kwargs)

    around(models, "load_weights", load_weights)
    for module in (keras.saving, keras.models):
        real = module.load_model

        @functools.wraps(real)
        def load_model(filepath, *args, _real=real, **kwargs):
            record("keras.load")
            older = ended(filepath, ".keras")
            return _real(older if os.path.exists(older) and not os.path.isfile(filepath) else filepath, *args, **kwargs)

        for name in (module.__name__, module.__name__.replace("keras.", "keras._tf_keras.keras.", 1)):
            if name in sys.modules:
                sys.modules[name].load_model = load_model


# ------------------------------------------------------------------------------------------------ Graphcore's Keras


def _of_the_ipu(keras):
    """`tensorflow.python.ipu` and `keras.ipu`, where the kit's modules for the IPU are on the path."""
    if os.path.join(contracts.KIT, "ipu") not in sys.path:
        return
    import tensorflow.python as python

    folder = os.path.join(contracts.KIT, "tf_ipu", "tensorflow", "python")
    if folder not in python.__path__:
        python.__path__.append(folder)
    from tensorflow.python.ipu import keras_extensions

    keras_extensions.install(keras)
