"""`pytorch_lightning.callbacks`."""

from lightning.pytorch.callbacks import *  # noqa: F401,F403
from lightning.pytorch.callbacks import Callback  # noqa: F401
