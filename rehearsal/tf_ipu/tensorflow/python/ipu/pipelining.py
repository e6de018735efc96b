"""Rules of a pipelined model.

Source: https://github.com/graphcore/examples, tutorials/tensorflow2/keras: stages are numbered from 0; Grouped needs gradient accumulation
in multiples of twice the stages, Interleaved of the stages.
"""

from contracts import require

from .ops import pipelining_ops


def _stage(layer):
    """The stage that a layer was called in, or else made in."""
    called, made = getattr(layer, "called_in", None), getattr(layer, "stage", None)
    return made if called is None else called


def check_pipeline(model):
    """The number of stages, 1 without a pipeline."""
    stages = sorted({stage for stage in map(_stage, model.layers) if stage is not None})
    if not stages:
        return 1
    require("tf-ipu.pipeline", stages == list(range(len(stages))), f"stages are {stages}: number them from 0")
    steps = model.pipelining.get("gradient_accumulation_steps_per_replica")
    require("tf-ipu.pipeline", steps, "a model with stages needs set_pipelining_options(gradient_accumulation_steps_per_replica=…) before compile")
    schedule = model.pipelining.get("pipeline_schedule", pipelining_ops.PipelineSchedule.Grouped)
    unit = len(stages) * (2 if schedule == pipelining_ops.PipelineSchedule.Grouped else 1)
    require("tf-ipu.pipeline", steps % unit == 0, f"{steps} accumulation steps with {len(stages)} stages, {schedule.name}: must be a multiple of {unit}")
    return len(stages)
