"""Asked by DeepSpeed's accelerator for Gaudi."""

from .. import LAZY_MODE


def is_lazy():
    return LAZY_MODE == "1"
