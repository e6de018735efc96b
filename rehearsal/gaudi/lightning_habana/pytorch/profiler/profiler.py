"""Profilers."""

from ... import HPUProfiler  # noqa: F401
