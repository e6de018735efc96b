"""torch.hpu. No empty_cache, no ipc_collect: the real one has none.

Source: https://docs.habana.ai/en/latest/PyTorch/Reference/Python_Packages.html.
"""

import sys

import stand_in_random
import torch
from stand_in_device_modules import Event, NoContext, Properties, Stream, answers, recorded  # noqa: F401
from stand_in_calls import record
from stand_in_random import get_rng_state, get_rng_state_all  # noqa: F401

from ..utils.internal import is_lazy
from . import random  # noqa: F401

if is_lazy():
    from .graphs import *  # noqa: F401,F403

# The bridge's memory.py brings in the name, by which lightning-habana asks for the card's memory.
hpu = sys.modules[__name__]

ABSENT = ("empty_cache", "ipc_collect")


def is_available():
    return True


def device_count():
    return 1


def current_device():
    return 0


def is_initialized():
    return True


def init():
    pass


def set_device(which):
    index = getattr(which, "index", which)
    if index not in (None, 0, "hpu"):
        raise AssertionError(f"HPU index {index}: a process sees one card, number 0")
    record("torch.hpu.set_device")


for _name, _answer in {
    **answers(), "get_device_name": "GAUDI", "get_device_capability": "1.23", "is_bf16_supported": True,
    "memory_stats": dict.fromkeys(("Limit", "InUse", "MaxInUse", "NumAllocs", "NumFrees", "ActiveAllocs", "MaxAllocSize"), 0),
    "manual_seed": stand_in_random.manual_seed, "manual_seed_all": stand_in_random.manual_seed, "initial_seed": stand_in_random.initial_seed,
    "set_rng_state": stand_in_random.set_rng_state, "set_rng_state_all": stand_in_random.set_rng_state_all,
}.items():
    globals().setdefault(_name, recorded(_name, _answer))


def get_autocast_hpu_dtype():
    return torch.bfloat16


def get_amp_supported_dtype():
    return [torch.bfloat16, torch.float16]


def setDeterministic(_):
    record("torch.hpu.setDeterministic")


def stream(which=None):
    return NoContext(which, "stream")


device = NoContext
