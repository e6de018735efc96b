"""`lightning.pytorch`: the same names."""

from .. import Callback, LightningDataModule, LightningModule, Trainer, seed_everything  # noqa: F401
