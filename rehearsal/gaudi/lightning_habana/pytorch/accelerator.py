"""Accelerator."""

from .. import HPUAccelerator  # noqa: F401
