"""What a program of TensorFlow trained, step by step: the record of `twin.py`, of Keras and of loops with `GradientTape`.

Everything runs eagerly, one operation after the other, so that each update comes by here: in `fit`, in `train_on_batch` and in a loop of
the program's own. A *step* is one `apply` of an optimizer, its *objective* the sum of what the tapes differentiated since the one before.
A forward pass of an outermost layer under a tape is of the step that its gradient leads to; any other is an *evaluation*. `logs` are what
`fit` and `evaluate` tell of loss and metrics at the end of each epoch and of each evaluation.
"""

import atexit
import math
import os
import pickle
import random
import sys
import warnings

import twin
from torch_calls import around
from twin import EVALUATED, RECORD, SEED, STEPS

DROP_LAST = os.environ.get("STAND_IN_TWIN_DROP_LAST")
# How many of its batches the original takes for an update, and by what its gradients are multiplied: as the port's target has it.
BATCHES = int(os.environ.get("STAND_IN_TWIN_BATCHES", "1"))
TIMES = float(os.environ.get("STAND_IN_TWIN_TIMES", "1"))
NUDGE = float(os.environ.get("STAND_IN_TWIN_NUDGE", "0"))

_roots, _optimizers = [], []
_pending = {"objective": [], "places": [], "forwards": [], "seen": []}
_counts = {"forward": 0, "drawn": 0, "depth": 0, "tapes": 0, "fits": 0, "shuffles": 0}
# Of an update that takes several batches: how many, what each gradient is multiplied by, and what has come together.
_gathering = {"count": 1, "times": 1.0, "gradients": None, "have": 0}


def _numpy(value):
    import numpy

    return numpy.asarray(value, dtype="float64")


def _summary(value):
    import numpy

    values = _numpy(value)
    return (tuple(values.shape), float(numpy.linalg.norm(values)), float(values.sum()))


def _leaves(value):
    import tensorflow as tf

    return [leaf for leaf in tf.nest.flatten(value) if hasattr(leaf, "shape") and hasattr(leaf, "dtype")]


def _dense(gradient):
    import tensorflow as tf

    return tf.convert_to_tensor(gradient)


def _plain(function):
    """The same function, with the generators of random numbers as they were before."""
    state = random.getstate()
    try:
        return function()
    finally:
        random.setstate(state)


# ------------------------------------------------------------------------------------------------ forward passes


def _is_symbolic(args, kwargs):
    import keras
    import tensorflow as tf

    return not tf.executing_eagerly() or any(isinstance(leaf, keras.KerasTensor) for leaf in tf.nest.flatten((args, kwargs)))


def forward(original, self, *args, **kwargs):
    """Around a layer's `__call__`."""
    if _counts["depth"] or _is_symbolic(args, kwargs):
        return original(self, *args, **kwargs)
    import tensorflow as tf

    training = kwargs.get("training")
    training = bool(_counts["tapes"]) if training is None else bool(training)
    _counts["depth"] += 1
    try:
        if _counts["tapes"]:
            if len(RECORD["steps"]) >= STEPS and not _pending["forwards"]:
                raise twin.EndOfRun(0)
            _build(self, args, kwargs)
            _root(self)
        if training:
            _counts["forward"] += 1
            _counts["drawn"] = 0
            tf.random.set_seed(SEED * 7919 + _counts["forward"])
        found = original(self, *args, **kwargs)
        if _counts["tapes"]:
            _root(self)
        _note_forward(self, args, kwargs, found, training)
        return found
    finally:
        _counts["depth"] -= 1


def _build(layer, args, kwargs):
    """Makes the weights of a layer before it is called, so that they can be those of the other run."""
    import keras
    import tensorflow as tf

    if all(part.built for part in layer._flatten_layers()):
        return
    shape = lambda leaf: keras.KerasTensor(leaf.shape, keras.backend.standardize_dtype(leaf.dtype)) if hasattr(leaf, "shape") else leaf  # noqa: E731
    try:
        keras.src.backend.compute_output_spec(layer, *tf.nest.map_structure(shape, args), **{
            name: tf.nest.map_structure(shape, value) for name, value in kwargs.items()})
    except Exception:  # A layer that can't be built ahead builds itself when it is called.
        pass


def _note_forward(layer, args, kwargs, found, training):
    if not layer.weights:
        return
    first = next((leaf for leaf in _leaves((args, kwargs)) if len(leaf.shape)), None)
    outputs = [leaf for leaf in _leaves(found) if "float" in str(leaf.dtype)]
    entry = {
        "step": len(RECORD["steps"]), "module": type(layer).__name__, "training": training, "grad": bool(_counts["tapes"]), "batches": 1,
        "samples": 0 if first is None else int(first.shape[0]), "output": float(_numpy(outputs[0]).sum()) if outputs else 0.0,
    }
    if first is not None:
        _pending["seen"].append(_summary(first))
    if _counts["tapes"]:
        _pending["forwards"].append({"went": False, "entry": entry, "input": None if first is None else _summary(first)})
    RECORD["evaluations"].append(entry)


def seed_of_layer(original, self, ordered=True):
    """Around `SeedGenerator.next`: what a layer draws in a training pass depends on the number of the pass."""
    import tensorflow as tf

    if not _counts["depth"] or not tf.executing_eagerly():
        return original(self, ordered)
    _counts["drawn"] += 1
    return tf.cast([SEED * 7919 + _counts["forward"], _counts["drawn"]], self.state.dtype)


# ------------------------------------------------------------------------------------------------ start weights


def _weights(layer):
    return {weight.path: _numpy(weight) for weight in layer.weights}


def _root(layer):
    if any(known is layer for known in _roots) or not layer.trainable_weights:
        return
    _roots.append(layer)
    start = _weights(layer)
    _hand_over(len(_roots) - 1, layer, start)
    RECORD["start"].append(start)
    RECORD["modules"].append(type(layer).__name__)


def _hand_over(number, layer, start):
    others = twin._others_start()
    if number >= len(others):
        return
    theirs = others[number]
    if [value.shape for value in theirs.values()] != [value.shape for value in start.values()]:
        twin.note("start", "the models differ, so each started with its own weights")
        return
    if all((mine == value).all() for mine, value in zip(start.values(), theirs.values())):
        return
    twin.note("start", f"{type(layer).__name__} drew different initial weights: both started with the original's")
    for weight, value in zip(layer.weights, theirs.values()):
        weight.assign(value)
        start[weight.path] = value


# ------------------------------------------------------------------------------------------------ gradients and updates


def tape_opened(original, self):
    _counts["tapes"] += 1
    return original(self)


def tape_closed(original, self, *args):
    _counts["tapes"] -= 1
    return original(self, *args)


def differentiated(original, self, target, sources, *args, **kwargs):
    """Around `GradientTape.gradient`."""
    import tensorflow as tf

    if tf.executing_eagerly():
        if len(RECORD["steps"]) >= STEPS:
            raise twin.EndOfRun(0)
        times = TIMES * _gathering["times"]
        _pending["objective"].append(times * sum(float(_numpy(leaf).sum()) for leaf in _leaves(target)))
        _pending["places"].append(twin._place())
        for pending in _pending["forwards"]:
            pending["went"] = True
    return original(self, target, sources, *args, **kwargs)


def gather(count, times):
    """From here on an update takes so many batches."""
    _gathering.update(count=count, times=times, gradients=None, have=0)


def updated(original, self, grads, trainable_variables=None):
    """Around an optimizer's `apply`."""
    import tensorflow as tf

    if not tf.executing_eagerly():
        return original(self, grads, trainable_variables)
    grads = list(grads)
    if _gathering["count"] > 1 or _gathering["times"] != 1:
        grads = _gathered(grads)
        if grads is None:
            return None
    if TIMES != 1:
        grads = [None if gradient is None else _dense(gradient) * TIMES for gradient in grads]
    if NUDGE:
        grads = _nudged(grads)
    place = twin._place()
    variables = list(trainable_variables if trainable_variables is not None else self._trainable_variables)
    found = original(self, grads, trainable_variables)
    _note_step(self, grads, variables, place)
    return found


def _gathered(grads):
    scaled = [None if gradient is None else _dense(gradient) * _gathering["times"] for gradient in grads]
    held = _gathering["gradients"]
    _gathering["gradients"] = scaled if held is None else [b if a is None else a if b is None else a + b for a, b in zip(held, scaled)]
    _gathering["have"] += 1
    if _gathering["have"] < _gathering["count"]:
        return None
    whole = _gathering["gradients"]
    _gathering.update(gradients=None, have=0)
    return whole


def _nudged(grads):
    import numpy

    draw = numpy.random.default_rng(len(RECORD["steps"]))
    dense = [None if gradient is None else _dense(gradient) for gradient in grads]
    largest = max(float(abs(gradient.numpy()).max(initial=0.0)) for gradient in dense if gradient is not None)
    return [None if gradient is None else gradient + (NUDGE * largest * draw.uniform(-1, 1, gradient.shape)).astype(gradient.dtype.as_numpy_dtype)
            for gradient in dense]


def _note_step(optimizer, grads, variables, place):
    if not any(known is optimizer for known in _optimizers):
        _optimizers.append(optimizer)
    forwards = [pending for pending in _pending["forwards"] if pending["went"]]
    gone = {id(pending["entry"]) for pending in forwards}
    RECORD["evaluations"] = [entry for entry in RECORD["evaluations"] if id(entry) not in gone]
    gradients = {weight.path: _summary(_dense(gradient)) for weight, gradient in zip(variables, grads) if gradient is not None}
    RECORD["steps"].append({
        "optimizer": next(number for number, known in enumerate(_optimizers) if known is optimizer), "kind": type(optimizer).__name__,
        "rates": [float(_numpy(optimizer.learning_rate))], "settings": [_settings(optimizer)], "objective": sum(_pending["objective"]),
        "losses": list(_pending["objective"]), "samples": sum(pending["entry"]["samples"] for pending in forwards),
        "inputs": [(shape, total) for shape, _, total in (pending["input"] for pending in forwards if pending["input"])],
        "seen": [(shape, total) for shape, _, total in _pending["seen"]],
        "norm": math.sqrt(sum(norm * norm for _, norm, _ in gradients.values())), "gradients": gradients,
        "weights": {weight.path: _summary(weight) for weight in variables},
        "place": place, "backward": _pending["places"][-1:] and _pending["places"][-1],
    })
    for pending in _pending.values():
        pending.clear()


def _settings(optimizer):
    given = optimizer.get_config()
    return {name: value for name, value in given.items() if name != "learning_rate" and isinstance(value, (int, float, bool))}


# ------------------------------------------------------------------------------------------------ Keras's own loop


def steps_of(original, self, step):
    """In the place of `_make_function`: one batch after the other, and an end where there are steps enough."""
    trains, takes = step == self.train_step, self._autoconvert_optionals(step)
    begun = [None, 0]

    def function(iterator):
        import tensorflow as tf

        found, source = None, iter(iterator)
        if begun[0] is not iterator:
            begun[:] = [iterator, 0]
        for _ in range(int(self.steps_per_execution)):
            if not trains and begun[1] >= max(EVALUATED, STEPS):
                break
            try:
                data = next(source)
            except (StopIteration, tf.errors.OutOfRangeError):
                break
            begun[1] += 1
            found = takes(data)
            if trains and len(RECORD["steps"]) >= STEPS:
                self.stop_training = True
                break
        if found is None:
            raise StopIteration
        return found

    return function


def _cut(values, size):
    """The whole batches of arrays."""
    import tensorflow as tf

    return tf.nest.map_structure(lambda leaf: leaf if leaf is None else leaf[: len(leaf) // size * size], values)


def are_arrays(x):
    leaves = _leaves(x)
    return bool(leaves) and not hasattr(x, "element_spec") and all(len(leaf.shape) for leaf in leaves)


def fitted(given):
    """Before `fit`, with its arguments by name: what the other run has to have alike is made so."""
    import tensorflow as tf

    _counts["fits"] += 1
    tf.random.set_seed(SEED + 1000003 * _counts["fits"])
    random.seed(SEED + _counts["fits"])
    if not are_arrays(given.get("x")):
        return
    size = int(given.get("batch_size") or 32)
    given["batch_size"] = size * BATCHES
    if DROP_LAST and not given.get("validation_split"):
        for name in ("x", "y", "sample_weight"):
            if given.get(name) is not None:
                given[name] = _cut(given[name], size * BATCHES)
    held = given.get("validation_data")
    if held is not None and BATCHES > 1 and not given.get("validation_batch_size"):
        given["validation_batch_size"] = size
    if isinstance(held, (tuple, list)) and DROP_LAST == "all":
        given["validation_data"] = type(held)(_cut(part, size * BATCHES) for part in held)
    RECORD["passes"].append({
        "loader": _counts["fits"], "pass": 0, "batches": 0, "samples": len(_leaves(given["x"])[0]), "whole": True, "batch_size": size,
        "length": len(_leaves(given["x"])[0]), "trains": True})


def evaluated(given):
    """Before `evaluate` of the program's own."""
    if are_arrays(given.get("x")) and DROP_LAST == "all":
        size = int(given.get("batch_size") or 32) * BATCHES
        for name in ("x", "y", "sample_weight"):
            if given.get(name) is not None:
                given[name] = _cut(given[name], size)


def batched(original, self, batch_size, drop_remainder=False, *args, **kwargs):
    """Around `Dataset.batch`."""
    return original(self, batch_size, drop_remainder or DROP_LAST == "all" and _is_programs(), *args, **kwargs)


def shuffled(original, self, buffer_size, seed=None, *args, **kwargs):
    """Around `Dataset.shuffle`: the n-th has a seed of its own."""
    if seed is None and _is_programs():
        _counts["shuffles"] += 1
        seed = SEED + 104729 * _counts["shuffles"]
    return original(self, buffer_size, seed, *args, **kwargs)


def _is_programs():
    """Whether it is the program that calls, and not a library."""
    frame = sys._getframe(1)
    own = os.path.dirname(os.path.abspath(__file__))
    while frame is not None and os.path.abspath(frame.f_code.co_filename).startswith(own):
        frame = frame.f_back
    return frame is not None and f"{os.sep}site-packages{os.sep}" not in frame.f_code.co_filename


def told(name, logs):
    """Loss and metrics at the end of an epoch or of an evaluation."""
    place = twin._place()
    RECORD["logs"].append({"of": name, "step": len(RECORD["steps"]), "place": place, "values": {
        key: float(_numpy(value)) for key, value in (logs or {}).items() if getattr(value, "shape", ()) == ()}})


def saved(model, file):
    RECORD["saved"].append({
        "file": os.path.basename(str(file)), "step": len(RECORD["steps"]), "values": {weight.path: _summary(weight) for weight in model.weights}})


# ------------------------------------------------------------------------------------------------ start and end


def install(tf, keras):
    RECORD["logs"], RECORD["of"] = [], "tensorflow"
    tf.config.run_functions_eagerly(True)
    warnings.filterwarnings("ignore", message="Even though the `tf.config.experimental_run_functions_eagerly`")
    for name in ("set_intra_op_parallelism_threads", "set_inter_op_parallelism_threads"):
        try:
            getattr(tf.config.threading, name)(1)
        except RuntimeError:  # Something has computed already.
            pass
        setattr(tf.config.threading, name, lambda *_: None)
    keras.utils.set_random_seed(SEED)
    around(keras.layers.Layer, "__call__", forward)
    around(keras.random.SeedGenerator, "next", seed_of_layer)
    around(tf.GradientTape, "_push_tape", tape_opened)
    around(tf.GradientTape, "_pop_tape", tape_closed)
    around(tf.GradientTape, "gradient", differentiated)
    around(keras.src.optimizers.base_optimizer.BaseOptimizer, "apply", updated)
    around(keras.src.backend.tensorflow.trainer.TensorFlowTrainer, "_make_function", steps_of)
    around(tf.data.Dataset, "batch", batched)
    around(tf.data.Dataset, "shuffle", shuffled)
    atexit.register(dump)


def dump():
    """Writes the record; one of PyTorch, where a program only imports TensorFlow beside it, is not touched."""
    if not RECORD["steps"] and not _roots and "torch" in sys.modules:
        RECORD["of"] = "torch"
        return
    RECORD["end"] = [_weights(root) for root in _roots]
    for optimizer in _optimizers:
        RECORD["states"].append({value.path: {"": _summary(value)} for value in optimizer.variables if "float" in str(value.dtype)})
    cut = {id(pending["entry"]) for pending in _pending["forwards"]
           if pending["went"] or len(RECORD["steps"]) >= STEPS and pending["entry"]["training"]}
    RECORD["evaluations"] = twin._merged([entry for entry in RECORD["evaluations"] if id(entry) not in cut])
    RECORD["unfinished"] = {"objective": list(_pending["objective"])}
    RECORD["stand_ins"] = twin._stand_ins() + ["tensorflow.python.ipu"] * ("tensorflow.python.ipu" in sys.modules)
    with open(twin.FILE, "wb") as out:
        pickle.dump(RECORD, out)
