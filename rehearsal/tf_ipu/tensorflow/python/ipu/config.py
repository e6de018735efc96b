"""`IPUConfig`: attributes are set, then `configure_ipu_system()` is called once.

Source: https://docs.graphcore.ai/projects/tensorflow-user-guide ("Configuring and using IPUs"). An attribute that does not exist raises.
"""

import enum

from contracts import kept, refused, require
from stand_in_calls import record

from .state import STATE


class DeviceConnectionType(enum.Enum):
    ALWAYS, ON_DEMAND, PRE_COMPILE, NEVER = range(4)


class ExecutionProfileType(enum.Enum):
    NO_PROFILE, DEVICE_PROFILE, IPU_PROFILE, TILE_PROFILE = range(4)


class Group:
    known = {}

    def __init__(self):
        for name, value in self.known.items():
            object.__setattr__(self, name, value() if isinstance(value, type) and issubclass(value, Group) else value)

    def __setattr__(self, name, value):
        require("tf-ipu.config", name in self.known, f"{type(self).__name__} has no attribute {name}")
        require("tf-ipu.config", not STATE.configured, f"{name} is set after configure_ipu_system()")
        object.__setattr__(self, name, value)


class Connection(Group):
    known = {"type": DeviceConnectionType.ALWAYS, "version": "", "enable_remote_buffers": False}


class Convolutions(Group):
    known = {"poplar_options": {}}


class FloatingPoint(Group):
    known = {"inv": False, "div0": False, "oflo": False, "esr": None, "nanoo": False, "set_all": False}


class Norms(Group):
    known = {"use_stable_statistics": False, "experimental": None}


class Optimizations(Group):
    known = {"merge_infeed_io_copies": True, "maximum_cross_replica_sum_buffer_size": 0, "combine_embedding_lookups": False,
             "math": None, "minimum_remote_tensor_size": 128}


class IPUConfig(Group):
    known = {
        "auto_select_ipus": [], "select_ipus": [], "device_connection": Connection, "convolutions": Convolutions, "matmuls": Convolutions,
        "floating_point_behaviour": FloatingPoint, "norms": Norms, "optimizations": Optimizations, "allow_recompute": False,
        "compilation_poplar_options": {}, "gcl_poplar_options": {}, "io_tiles": None, "scheduling": None, "ipu_model": None,
    }

    def configure_ipu_system(self, device="cpu"):
        require("tf-ipu.configure-first", not STATE.strategies, "configure_ipu_system() after the strategy was created")
        require("tf-ipu.config", not STATE.configured, "configure_ipu_system() a second time")
        count = self.auto_select_ipus if isinstance(self.auto_select_ipus, int) else sum(self.auto_select_ipus or [0]) or len(self.select_ipus or [])
        require("tf-ipu.config", count, "no IPUs selected: set auto_select_ipus")
        require("tf-ipu.config", count & (count - 1) == 0, f"auto_select_ipus = {count}: must be a power of two")
        STATE.configured, STATE.ipus = True, count
        record("ipu.configure", ipus=count)


def configure_ipu_system(config, device="cpu"):
    if not isinstance(config, IPUConfig):
        raise refused("tf-ipu.config", f"configure_ipu_system takes an IPUConfig, not {type(config).__name__}")
    config.configure_ipu_system(device)


def reset_ipu_configuration():
    STATE.configured = False
    kept("tf-ipu.config")
