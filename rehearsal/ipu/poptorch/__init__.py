"""A stand-in for PopTorch 3.3 that computes on PyTorch: no IPU, and the rules and numbers of one.

Source: https://github.com/graphcore/poptorch, tag sdk/poptorch/3.3.0, and its user guide, https://docs.graphcore.ai/projects/poptorch-user-guide.
Each module names the files it follows. Where nothing else is said the arithmetic is PyTorch's own, in PyTorch's order.

- `executor.py`: the wrapper. `device.py`: micro-batches, replicas, outputs. `update.py`: the step..
- `losses.py`: where the backward pass begins. `rules.py`: what can't be compiled. `host.py`: weights of the host and of the IPU.
- `optim.py`, `options.py`, `loader.py`, `blocks.py`, `enums.py`: PopTorch's modules of these names.
- `watch.py`: what PopTorch is silent about.
"""

import torch
from contracts import ContractBroken

from . import optim  # noqa: F401
from .blocks import AutoStage, BeginBlock, Block, BlockFunction, Phase, PipelinedExecution, SerialPhasedExecution, ParallelPhasedExecution, ShardedExecution, Stage, TensorLocationSettings, removeBlocks  # noqa: F401, E501
from .enums import *  # noqa: F401, F403
from .executor import PoplarExecutor, inferenceModel, trainingModel  # noqa: F401
from .loader import AsynchronousDataAccessor, DataLoader  # noqa: F401
from .losses import identity_loss  # noqa: F401
from .options import Options  # noqa: F401

Error = ContractBroken
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
    """True while a wrapped model's `forward` is recorded."""
    from .executor import TRACING

    return bool(TRACING)


def for_loop(count, body, inputs):
    """`body`, `count` times over, each time on what it gave before."""
    state = [tensor.clone() for tensor in inputs]
    for _ in range(count):
        given = body(*state)
        state = list(given) if isinstance(given, (list, tuple)) else [given]
    return state


def nop(tensor):
    return tensor * 1


def ipu_print_tensor(tensor, title="", *_, **__):
    return tensor * 1


def set_available_memory(tensor, available_memory_proportion):
    return tensor


def serializedMatMul(lhs, rhs, mode=None, factor=0, keep_precision=False):
    return lhs @ rhs


def dynamic_slice(tensor, dim, start, size, step):
    return tensor.index_select(dim, start + torch.arange(0, size, step))
