"""`pytorch_lightning.loggers`."""

from lightning.pytorch.loggers import *  # noqa: F401,F403
