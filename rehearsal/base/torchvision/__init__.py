"""Fake images and one small model."""

from . import datasets, models, transforms  # noqa: F401
