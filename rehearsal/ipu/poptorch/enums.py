"""Choices of PopTorch: `python/enums.py` of https://github.com/graphcore/poptorch."""

import enum


class OutputMode(enum.Enum):
    Final, EveryN, All, Sum, Default = range(5)


class ReductionType(enum.Enum):
    Sum, Mean, NoReduction = range(3)


class MeanReductionStrategy(enum.Enum):
    Running, Post = range(2)


class ConnectionType(enum.Enum):
    Always, OnDemand, Never = range(3)


class SyncPattern(enum.Enum):
    Full, SinglePipeline, ReplicaAndLadder = range(3)


class DataLoaderMode(enum.Enum):
    Sync, Async, AsyncRebatched = range(3)
