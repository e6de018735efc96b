"""Composes a config out of the ConfigStore and the command line."""

import os
import sys

from omegaconf import MISSING, DictConfig, config_types, converted, set_root, structured

from .core.config_store import ConfigStore

__version__ = os.environ.get("STAND_IN_HYDRA", "1.3")
output_subdir = ".hydra"
_NOT_GIVEN = object()


def _base(config_path, config_name):
    """Name of the structured config: the first entry of the file's defaults list, else the name itself."""
    if config_path is not None:
        folder = os.path.join(os.path.dirname(os.path.abspath(sys.argv[0])), config_path)
        file = os.path.join(folder, config_name + ".yaml")
        if not os.path.exists(file):
            raise FileNotFoundError(f"Cannot find primary config '{config_name}' in {folder}")
        with open(file, encoding="utf-8") as source:
            for line in source:
                entry = line.strip()
                if entry.startswith("- ") and entry != "- _self_":
                    return entry[2:].strip()
    return config_name


def composed(config_name, overrides):
    store = ConfigStore.instance()
    config = structured(store.nodes[None, config_name])
    groups = {}
    for entry in dict.get(config, "defaults", []):
        groups.update(entry) if isinstance(entry, dict) else None
    overrides = [o.partition("=")[::2] for o in overrides if not o.startswith("hydra/")]
    for key, value in overrides:
        if (key, value) in store.nodes:
            groups[key] = value
    for group, name in groups.items():
        dict.__setitem__(config, group, structured(store.nodes[group, name]))
    dict.pop(config, "defaults", None)
    for key, value in overrides:
        if (key, value) in store.nodes:
            continue
        *path, last = key.split(".")
        place = config
        for part in path:
            place = place[part]
        if last not in place:
            raise ValueError(f"Could not override '{key}'. Key '{last}' is not in struct")
        kind = config_types.get(id(place), (None, {}))[1].get(last, str)
        dict.__setitem__(place, last, converted(value, kind, None))
    set_root(config, config)
    return config


def main(config_path=None, config_name=None, version_base=_NOT_GIVEN):
    if version_base is not _NOT_GIVEN and __version__ == "1.1":
        raise TypeError("main() got an unexpected keyword argument 'version_base'")

    def decorate(function):
        def run():
            return function(composed(_base(config_path, config_name), sys.argv[1:]))

        return run

    return decorate
