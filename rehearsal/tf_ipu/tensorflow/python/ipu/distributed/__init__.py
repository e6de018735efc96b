"""Strategies over several instances."""

from . import popdist_strategy  # noqa: F401
