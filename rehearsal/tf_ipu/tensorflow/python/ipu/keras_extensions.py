"""What Graphcore's Keras adds to models, over the real Keras.

Source: https://github.com/graphcore/keras, branch r2.6/sdk-release-3.4, `keras/ipu/extensions/model_extensions.py` and `extensions_base.py`
(`set_pipelining_options`, `set_gradient_accumulation_options`, whose `gradient_accumulation_reduction_method` is `sum` unless it is said),
and `keras/ipu/docs/keras.rst`: an update takes a batch of each accumulation step of each replica, and `steps_per_execution` counts those of
one replica.
"""

import sys
import types

import keras_machine
from contracts import require
from stand_in_calls import record


class PipelineStage:
    """Layers made or called inside are of this stage."""

    def __init__(self, stage):
        self.stage = stage

    def __enter__(self):
        keras_machine.STAGES.append(self.stage)
        return self

    def __exit__(self, *_):
        keras_machine.STAGES.pop()
        return False


def _options(model, name):
    return model.__dict__.setdefault(f"_ipu_{name}", {})


def set_pipelining_options(self, gradient_accumulation_steps_per_replica=None, gradient_accumulation_reduction_method="sum", **options):
    require("tf-ipu.pipeline", getattr(self, "optimizer", None) is None, "set_pipelining_options after compile")
    _options(self, "pipelining").update(
        options, gradient_accumulation_steps_per_replica=gradient_accumulation_steps_per_replica, reduction=gradient_accumulation_reduction_method)
    record("keras.set_pipelining_options")


def set_gradient_accumulation_options(
        self, gradient_accumulation_steps_per_replica=None, gradient_accumulation_reduction_method="sum", **_):
    _options(self, "accumulation").update(steps=gradient_accumulation_steps_per_replica, reduction=gradient_accumulation_reduction_method)
    record("keras.set_gradient_accumulation_options")


def set_pipeline_stage_assignment(self, stages):
    layers = [layer for layer in self.layers if type(layer).__name__ != "InputLayer"]
    require("tf-ipu.pipeline", len(stages) == len(layers), f"{len(stages)} stages for {len(layers)} layers")
    for layer, stage in zip(layers, stages):
        layer.__dict__["called_in"] = int(stage)


def accumulated(model):
    """How many batches of a replica an update takes, and by what their gradients are multiplied."""
    pipelining, accumulation = _options(model, "pipelining"), _options(model, "accumulation")
    count = int(pipelining.get("gradient_accumulation_steps_per_replica") or accumulation.get("steps") or 1)
    reduction = str(pipelining.get("reduction") or accumulation.get("reduction") or "sum").rpartition(".")[2].lower()
    return count, 1.0 if reduction == "sum" else 1.0 / count


def nothing(self, *_, **__):
    """What has no part in the numbers."""


def install(keras):
    model = keras.Model
    model.pipelining = property(lambda self: _options(self, "pipelining"))
    for function in (set_pipelining_options, set_gradient_accumulation_options, set_pipeline_stage_assignment):
        setattr(model, function.__name__, function)
    for name in ("set_infeed_queue_options", "set_outfeed_queue_options", "set_asynchronous_callbacks", "set_replication_options",
                 "print_pipeline_stage_assignment_summary"):
        setattr(model, name, nothing)
    module = types.ModuleType("keras.ipu", "A stand-in for `keras.ipu`.")
    module.PipelineStage, module.__file__ = PipelineStage, __file__
    for name in ("keras", "keras._tf_keras.keras", "tensorflow.keras"):
        owner = sys.modules.get(name)
        if owner is not None:
            sys.modules[f"{name}.ipu"] = module
            owner.ipu = module
