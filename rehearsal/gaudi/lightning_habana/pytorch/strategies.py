"""Strategies."""

from .. import HPUDDPStrategy, HPUDeepSpeedStrategy, HPUFSDPStrategy, HPUParallelStrategy, SingleHPUStrategy  # noqa: F401
