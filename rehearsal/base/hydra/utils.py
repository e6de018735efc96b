"""Objects out of configs, and paths."""

import importlib
import os


def get_original_cwd():
    return os.getcwd()


def to_absolute_path(path):
    return os.path.abspath(path)


def get_class(path):
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)


get_method = get_object = get_class


def instantiate(config, *args, **kwargs):
    values = {key: value for key, value in config.items() if key not in ("_target_", "_partial_", "_recursive_", "_convert_")}
    for key, value in values.items():
        if isinstance(value, dict) and "_target_" in value:
            values[key] = instantiate(value)
    return get_class(config["_target_"])(*args, **{**values, **kwargs})


call = instantiate
