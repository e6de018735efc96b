"""Choices of PopTorch: `python/enums.py` of https://github.com/graphcore/poptorch, release 3.3."""

import enum


class OutputMode(enum.IntEnum):
    """Which micro-batches' outputs a call gives back. Default: `Final` for training, `All` for inference."""

    Final, EveryN, All, Sum, Default = range(5)


class ReductionType(enum.IntEnum):
    """What becomes of the gradients of several micro-batches and replicas."""

    Sum, Mean, NoReduction = range(3)


class MeanReductionStrategy(enum.IntEnum):
    """When a mean is divided: while it is summed, or after."""

    Running, Post, PostAndLoss = range(3)


class ConnectionType(enum.IntEnum):
    Always, OnDemand, Never = range(3)


class SyncPattern(enum.IntEnum):
    Full, SinglePipeline, ReplicaAndLadder = range(3)


class DataLoaderMode(enum.IntEnum):
    Sync, Async, AsyncRebatched = range(3)


class SharingStrategy(enum.IntEnum):
    SharedMemory, FileSystem, Fork, ForkServer = range(4)


class HalfFloatCastingBehavior(enum.IntEnum):
    FloatDowncastToHalf, HalfUpcastToFloat, Default = range(3)


class CommGroupType(enum.IntEnum):
    All, Consecutive, Orthogonal, NoGrouping = range(4)


class VariableRetrievalMode(enum.IntEnum):
    OnePerGroup, AllReplicas = range(2)


class MatMulSerializationMode(enum.Enum):
    InputChannels, ReducingDim, OutputChannels, Disabled = "input_channels", "reducing_dim", "output_channels", "none"


class OverlapMode(enum.Enum):
    NoOverlap = "no_overlap"
    OverlapAccumulationLoop = "overlap_accumulation_loop"
    OverlapDeviceIterationLoop = "overlap_device_iteration_loop"


class Liveness(enum.IntEnum):
    AlwaysLive, OffChipAfterFwd, OffChipAfterFwdNoOverlap, OffChipAfterEachPhase = range(4)


class MultiConvPlanType(enum.IntEnum):
    Parallel, Serial = range(2)
