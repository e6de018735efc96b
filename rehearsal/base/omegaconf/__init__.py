"""Config objects that know their keys, and no others."""

import dataclasses
import enum
import re

MISSING = "???"


class MissingMandatoryValue(Exception):
    pass


class DictConfig(dict):
    """A struct: reading or writing a key that was not declared raises."""

    def __init__(self, values=None, root=None):
        super().__init__(values or {})
        object.__setattr__(self, "_root", root)

    def __getattr__(self, key):
        return self[key]

    def __getitem__(self, key):
        if key not in self:
            raise AttributeError(f"Key '{key}' is not in struct")
        value = dict.__getitem__(self, key)
        if value == MISSING:
            raise MissingMandatoryValue(f"Missing mandatory value: {key}")
        if isinstance(value, str) and "${" in value:
            return re.sub(r"\$\{([^}]+)\}", lambda m: str(select(self._root if self._root is not None else self, m[1])), value)
        return value

    def __setattr__(self, key, value):
        if key not in self:
            raise AttributeError(f"Key '{key}' is not in struct")
        self[key] = value

    def get(self, key, default=None):
        return self[key] if key in self else default

    def items(self):
        return [(key, self[key]) for key in self]


def select(config, path):
    for part in path.split("."):
        config = config[part]
    return config


def structured(node):
    """A dataclass, or an instance of one, as a config object."""
    instance = node() if isinstance(node, type) else node
    config = DictConfig({})
    for field in dataclasses.fields(instance):
        value = getattr(instance, field.name)
        dict.__setitem__(config, field.name, structured(value) if dataclasses.is_dataclass(value) else value)
    config_types[id(config)] = (config, {f.name: f.type for f in dataclasses.fields(instance)})
    return config


config_types = {}


def converted(text, kind, old):
    """The text of an override as the declared type."""
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return kind[text]
    if kind is bool:
        if text.lower() not in ("true", "false"):
            raise ValueError(f"Value '{text}' is not a valid bool")
        return text.lower() == "true"
    if kind in (int, float):
        return kind(text)
    return text


def set_root(config, root):
    object.__setattr__(config, "_root", root)
    for value in dict.values(config):
        if isinstance(value, DictConfig):
            set_root(value, root)


class OmegaConf:
    structured = staticmethod(structured)

    @staticmethod
    def to_yaml(config):
        return repr(dict(config))

    @staticmethod
    def to_container(config, **_):
        return {k: OmegaConf.to_container(v) if isinstance(v, DictConfig) else v for k, v in config.items()}

    @staticmethod
    def set_struct(config, flag):
        pass
