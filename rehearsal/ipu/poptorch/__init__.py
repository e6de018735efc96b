"""A stand-in for PopTorch 3.x: it compiles nothing, and keeps the rules of the real one.

What is enforced, and where the real one says so (https://github.com/graphcore/poptorch, branch sdk-release-3.3 and before; user guide
https://docs.graphcore.ai/projects/poptorch-user-guide):

- `executor.py`: `python/_poplar_executor.py`, `python/_args_parser.py`
- `options.py`: `python/options.py`, `python/_options_impl.py`
- `loader.py`: `python/__init__.py`, class `DataLoader`
- `optim.py`: `python/optim.py`, `python/_optimizer_attributes.py`
- `losses.py`: `python/ops.py`, `identity_loss`, and the user guide on losses
"""

from . import optim  # noqa: F401
from .blocks import AutoStage, BeginBlock, Block, BlockFunction, Phase, PipelinedExecution, ShardedExecution, Stage, removeBlocks  # noqa: F401
from .enums import ConnectionType, DataLoaderMode, MeanReductionStrategy, OutputMode, ReductionType, SyncPattern  # noqa: F401
from .executor import PoplarExecutor, inferenceModel, trainingModel  # noqa: F401
from .loader import DataLoader  # noqa: F401
from .losses import identity_loss  # noqa: F401
from .options import Options  # noqa: F401

__version__ = "3.3.0"
AnchorMode = OutputMode


def ipuHardwareIsAvailable(num_ipus=1):
    return True


def ipuHardwareVersion():
    return 2


def setLogLevel(level):
    return None


def recomputationCheckpoint(*tensors):
    return tensors if len(tensors) != 1 else tensors[0]


def isRunningOnIpu():
    """True while a wrapped model's `forward` is traced."""
    from .executor import TRACING

    return bool(TRACING)


def for_loop(count, body, inputs):
    state = list(inputs)
    for _ in range(count):
        state = list(body(*state))
    return state
