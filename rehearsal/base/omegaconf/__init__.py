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
        super().__init__({key: DictConfig(value) if type(value) is dict else value for key, value in (values or {}).items()})
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


def converted(value, kind):
    """A value of a file or an override as the declared type."""
    if value is None or value == MISSING:
        return value
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return value if isinstance(value, kind) else kind(value) if isinstance(value, int) else kind[str(value).rpartition(".")[2]]
    if kind is bool:
        if not isinstance(value, bool):
            raise ValueError(f"Value '{value}' is not a valid bool")
        return value
    if kind in (int, float):
        return kind(value)
    return str(value) if kind is str else value


def assigned(config, key, value):
    """Sets a key as the type it was declared with."""
    kind = config_types.get(id(config), (None, {}))[1].get(key)
    dict.__setitem__(config, key, converted(value, kind))


def merged(below, above):
    """`below` with what `above` says."""
    for key, value in dict.items(above):
        old = dict.get(below, key)
        if isinstance(old, DictConfig) and isinstance(value, DictConfig):
            merged(old, value)
        elif key in below and value is not None:
            assigned(below, key, value)
        else:
            dict.__setitem__(below, key, value)
    if id(above) in config_types and id(below) not in config_types:
        config_types[id(below)] = (below, config_types[id(above)][1])
    return below


def set_root(config, root):
    object.__setattr__(config, "_root", root)
    for value in dict.values(config):
        if isinstance(value, DictConfig):
            set_root(value, root)


class OmegaConf:
    structured = staticmethod(structured)

    @staticmethod
    def create(values=None):
        config = DictConfig(values or {})
        set_root(config, config)
        return config

    @staticmethod
    def merge(*configs):
        config = DictConfig({})
        for one in configs:
            merged(config, one if isinstance(one, DictConfig) else DictConfig(one))
        set_root(config, config)
        return config

    @staticmethod
    def to_yaml(config):
        return repr(dict(config))

    @staticmethod
    def to_container(config, **_):
        return {k: OmegaConf.to_container(v) if isinstance(v, DictConfig) else v for k, v in config.items()}

    @staticmethod
    def set_struct(config, flag):
        pass
