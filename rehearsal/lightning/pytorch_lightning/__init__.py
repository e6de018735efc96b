"""The name that Lightning had before 2.0, and still answers to."""

from lightning.pytorch import *  # noqa: F401,F403
from lightning.pytorch import Callback, LightningDataModule, LightningModule, Trainer, seed_everything  # noqa: F401

from . import callbacks, loggers  # noqa: E402,F401
