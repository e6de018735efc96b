"""What programs take from Hydra's own helpers."""

import os


def configure_log(log_config, verbose_config=False):
    pass


def setup_globals():
    pass


def split_config_path(path, name):
    return path, os.path.splitext(name)[0] if name else None
