"""Plugins."""

from ... import HPUDeepSpeedPrecisionPlugin, HPUFSDPPrecision, HPUPrecisionPlugin  # noqa: F401
from . import precision  # noqa: F401
