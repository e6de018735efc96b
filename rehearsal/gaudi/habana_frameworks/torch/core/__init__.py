"""`mark_step`: in lazy mode what was gathered runs at it.

Source: https://docs.habana.ai/en/latest/PyTorch/Reference/PyTorch_Gaudi_Theory_of_Operations.html: after `backward()` and after
`step()` of the optimizer.
"""

import os
import sys

from contracts import expect
from stand_in_calls import record
from torch_calls import SEEN_BY

from .. import LAZY_MODE, check_mode
from ..hpu.graphs import CAPTURING
from ..utils.internal import is_lazy  # noqa: F401

# The last call that no mark_step() followed yet.
_unmarked = []


def _seen(call):
    """Lightning's plugin marks the steps of its Trainer itself."""
    if call == "step":
        now = os.environ.get("PT_HPU_LAZY_MODE")
        expect("hpu.mode", now == LAZY_MODE, f"PT_HPU_LAZY_MODE was {LAZY_MODE} when habana_frameworks was imported and is {now} now")
    if LAZY_MODE == "1" and "lightning_habana" not in sys.modules and not CAPTURING:
        # Gradients may add up over several backward passes before there is a step.
        marked = not _unmarked or (_unmarked[0], call) == ("backward", "backward")
        expect("hpu.mark-step", marked, f"lazy mode, and no mark_step() between {''.join(_unmarked)}() and {call}()")
        _unmarked[:] = [call]


for _call, _told in ((call, SEEN_BY[call]) for call in ("backward", "step")):
    _told.append(lambda _, call=_call: _seen(call))


def mark_step(device_str="", sync=False):
    check_mode()
    _unmarked.clear()
    record("mark_step", lazy=LAZY_MODE == "1")


class step_closure:
    """Asked by DeepSpeed's optimizer for Gaudi."""

    @staticmethod
    def _mark_step_if_lazy():
        if is_lazy():
            mark_step()
