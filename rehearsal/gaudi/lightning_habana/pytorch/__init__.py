"""The package's parts, under the paths of the real one."""

from . import accelerator, plugins, profiler, strategies  # noqa: F401
