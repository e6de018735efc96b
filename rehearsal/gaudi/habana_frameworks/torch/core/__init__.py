from stand_in_calls import record

from .. import LAZY_MODE, check_mode


def mark_step(device_str="", sync=False):
    check_mode()
    record("mark_step", lazy=LAZY_MODE == "1")
