"""Composes a config out of the ConfigStore, the files beside the program and the command line."""

import contextlib
import os
import sys

from omegaconf import DictConfig, assigned, merged, set_root, structured

from .core.config_store import ConfigStore
from .files import plain_value, read

__version__ = os.environ.get("STAND_IN_HYDRA", "1.3")
output_subdir = ".hydra"
_NOT_GIVEN = object()
_folder = []


class MissingConfigException(Exception):
    pass


def _named(name, group=None):
    """The values and the defaults list of a config: out of its file, else out of the store."""
    file = os.path.join(_folder[-1], *(group or "").split("/"), name.removesuffix(".yaml") + ".yaml") if _folder else ""
    if os.path.isfile(file):
        values = read(file)
        return DictConfig(values), values.get("defaults", [])
    nodes = ConfigStore.instance().nodes
    if (group, name) not in nodes:
        where = f"group '{group}'" if group else f"'{_folder[-1]}'" if _folder else "the store"
        raise MissingConfigException(f"Cannot find config '{name}' in {where}")
    config = structured(nodes[group, name])
    return config, dict.get(config, "defaults", [])


def _collect(name, layers, groups):
    """The layers of a primary config, bottom first, and which config each group takes."""
    own, defaults = _named(name)
    place = len(layers)
    for entry in defaults:
        if entry == "_self_":
            place = len(layers)
        elif isinstance(entry, str):
            _collect(entry, layers, groups)
            place = len(layers)
        else:
            for group, chosen in entry.items():
                group = group.removeprefix("optional ").removeprefix("override ")
                if not group.startswith("hydra/"):
                    groups[group] = chosen
    dict.pop(own, "defaults", None)
    layers.insert(place, own)


def _set(config, key, text):
    """One override of the command line."""
    add, key = key.startswith("+"), key.lstrip("+")
    *path, last = key.split(".")
    place = config
    for part in path:
        if add and part not in place:
            dict.__setitem__(place, part, DictConfig({}))
        place = place[part]
    if last not in place and not add:
        raise ValueError(f"Could not override '{key}'. Key '{last}' is not in struct")
    assigned(place, last, text if text == "???" else plain_value(text))


def composed(config_name, overrides):
    layers, groups = [], {}
    if config_name is not None:
        _collect(config_name, layers, groups)
    overrides = [o.partition("=")[::2] for o in overrides if not o.startswith("hydra")]
    taken = [(key.lstrip("+"), value) for key, value in overrides if key.lstrip("+") in groups or (key.lstrip("+"), value) in ConfigStore.instance().nodes]
    groups.update(taken)
    config = DictConfig({})
    for layer in layers:
        merged(config, layer)
    for group, name in groups.items():
        *path, last = group.split("/")
        place = config
        for part in path:
            place = dict.setdefault(place, part, DictConfig({}))
        own, given = _named(name, group)[0], dict.get(place, last)
        dict.pop(own, "defaults", None)
        dict.__setitem__(place, last, merged(own, given) if isinstance(given, DictConfig) else own)
    for key, value in overrides:
        if (key.lstrip("+"), value) not in taken:
            _set(config, key, value)
    set_root(config, config)
    return config


def compose(config_name=None, overrides=(), return_hydra_config=False):
    return composed(config_name, list(overrides))


@contextlib.contextmanager
def initialize_config_dir(config_dir, job_name="app", version_base=_NOT_GIVEN):
    _folder.append(config_dir)
    try:
        yield
    finally:
        _folder.pop()


def initialize(config_path=None, job_name="app", version_base=_NOT_GIVEN):
    """Relative to the file that calls it."""
    caller = sys._getframe(1).f_globals.get("__file__", sys.argv[0])
    return initialize_config_dir(os.path.join(os.path.dirname(os.path.abspath(caller)), config_path or ""))


def main(config_path=None, config_name=None, version_base=_NOT_GIVEN):
    if version_base is not _NOT_GIVEN and __version__ == "1.1":
        raise TypeError("main() got an unexpected keyword argument 'version_base'")

    def decorate(function):
        def run():
            folder = os.path.dirname(os.path.abspath(sys.argv[0]))
            name, given = config_name, list(sys.argv[1:])
            for flag in ("--config-name", "-cn"):
                if flag in given:
                    at = given.index(flag)
                    name, given = given[at + 1], given[:at] + given[at + 2 :]
            for word in given:
                if word.startswith("-"):
                    sys.exit(f"{os.path.basename(sys.argv[0])}: error: unrecognized arguments: {word}")
                if "=" not in word:
                    raise ValueError(f"'{word}' is no override: mismatched input '<EOF>' expecting '='")
            with initialize_config_dir(os.path.join(folder, config_path) if config_path is not None else ""):
                config = composed(name, given)
            return function(config)

        return run

    return decorate
