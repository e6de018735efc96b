"""`matplotlib.gridspec`."""

from .drawing import __getattr__  # noqa: F401
