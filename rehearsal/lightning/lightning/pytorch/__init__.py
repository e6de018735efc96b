"""`lightning.pytorch`: the same names."""

from .. import Callback, LightningDataModule, LightningModule, Trainer, seed_everything  # noqa: F401
from . import callbacks, loggers  # noqa: F401
