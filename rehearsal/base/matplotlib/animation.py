"""`matplotlib.animation`."""

from .drawing import __getattr__  # noqa: F401
