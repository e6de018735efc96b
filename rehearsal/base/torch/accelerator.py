"""torch.accelerator: whatever the machine has."""

from stand_in_calls import MACHINE, record

from ._tensor import READY, device


def _kind():
    return MACHINE if MACHINE in READY and MACHINE != "cpu" else None


def is_available():
    return _kind() is not None


def current_accelerator(check_available=False):
    return device(_kind()) if _kind() else None


def device_count():
    return 1 if _kind() else 0


def current_device_index():
    return 0


def set_device_index(index):
    record("accelerator.set_device_index")


def synchronize(*_):
    record("accelerator.synchronize")


def current_stream(*_):
    return None


def memory_allocated(*_):
    return 0


def max_memory_allocated(*_):
    return 0


def empty_cache():
    record("accelerator.empty_cache")
