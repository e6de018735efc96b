"""The bridge: reads PT_HPU_LAZY_MODE once, at import, and makes `hpu` a device."""

import os
import sys

from contracts import refused
from stand_in_calls import MACHINE, record

if MACHINE != "hpu":
    raise ImportError("libhl: no HPU on this machine")
if "PT_HPU_LAZY_MODE" not in os.environ:
    raise refused("hpu.mode", "PT_HPU_LAZY_MODE is not set: set it before habana_frameworks is imported")

LAZY_MODE = os.environ["PT_HPU_LAZY_MODE"]
if LAZY_MODE not in ("0", "1", "2"):
    raise refused("hpu.mode", f"PT_HPU_LAZY_MODE={LAZY_MODE}: 1 is lazy, 0 is eager (2 up to 1.11)")
record("import habana_frameworks.torch", PT_HPU_LAZY_MODE=LAZY_MODE)


def check_mode():
    now = os.environ.get("PT_HPU_LAZY_MODE")
    if now != LAZY_MODE:
        raise RuntimeError(f"PT_HPU_LAZY_MODE was {LAZY_MODE} when habana_frameworks was imported and is {now} now")


import stand_in_devices as devices  # noqa: E402
import torch  # noqa: E402

devices.start_hpu()

from . import activity_profiler, adamw, core, hpu  # noqa: E402,F401

torch.hpu = core.hpu = hpu
sys.modules["torch.hpu"] = hpu
