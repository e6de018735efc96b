"""Operations with names of their own. Source: https://docs.graphcore.ai/projects/tensorflow-user-guide (Python API)."""

import enum


class pipelining_ops:
    class PipelineSchedule(enum.Enum):
        Grouped, Interleaved, Sequential = range(3)
