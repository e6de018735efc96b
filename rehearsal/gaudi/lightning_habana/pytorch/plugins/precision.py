"""Precision."""

from ... import HPUDeepSpeedPrecisionPlugin, HPUFSDPPrecision, HPUPrecisionPlugin  # noqa: F401
