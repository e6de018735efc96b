"""A stand-in for `tensorflow.python.ipu` of the Poplar SDK 3.x.

Source: https://docs.graphcore.ai/projects/tensorflow-user-guide and https://docs.graphcore.ai/projects/tensorflow2-keras; the tutorials in
https://github.com/graphcore/examples (tutorials/tensorflow2/keras): configure the system, then make the strategy; build, compile and run
the model inside the strategy's scope; shapes are static; `steps_per_execution` divides the number of batches.
"""

from . import config, ipu_strategy, ops, pipelining  # noqa: F401
from .config import IPUConfig  # noqa: F401


class utils:
    @staticmethod
    def export_dataset_to_file(*_, **__):
        return None


class horovod:
    """Distribution by Horovod was replaced by PopDist."""
