"""torch.cuda: answers questions anywhere, works only on the cuda machine, and writes down everything."""

from contracts import broken
from stand_in_calls import MACHINE, record

from .._tensor import device as make_device

COUNT = 1


def is_available():
    return MACHINE == "cuda"


def device_count():
    return COUNT if MACHINE == "cuda" else 0


def is_initialized():
    return is_available()


def _work(name, answer=None):
    def function(*args, **kwargs):
        if MACHINE == "hpu":
            broken("hpu.no-cuda", f"torch.cuda.{name} on a machine without CUDA")
        if MACHINE != "cuda":
            raise AssertionError(f"torch.cuda.{name}: Torch not compiled with CUDA enabled")
        record(f"torch.cuda.{name}")
        return answer(*args) if callable(answer) else answer

    function.__name__ = name
    return function


for _name, _answer in {
    "set_device": None, "current_device": 0, "synchronize": None, "reset_peak_memory_stats": None, "get_device_name": "stand-in",
    "get_device_capability": (8, 0), "mem_get_info": (0, 0), "memory_summary": "", "ipc_collect": None,
    "get_rng_state": 0, "set_rng_state": None,
    "reset_max_memory_allocated": None, "utilization": 0,
}.items():
    globals()[_name] = _work(_name, _answer)


def _answers(name, without, answer):
    """What torch answers where no CUDA was started, too. On Gaudi nobody means that answer."""

    def function(*args, **kwargs):
        if MACHINE == "hpu":
            broken("hpu.no-cuda", f"torch.cuda.{name}() asks CUDA and is answered {without!r} here, whatever the card holds")
        elif MACHINE == "cuda":
            record(f"torch.cuda.{name}")
        return answer if MACHINE == "cuda" else without

    function.__name__ = name
    return function


# https://github.com/pytorch/pytorch/blob/v2.7.0/torch/cuda/memory.py: `memory_stats` is empty until CUDA is initialized.
for _name in ("memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved", "memory_cached", "max_memory_cached"):
    globals()[_name] = _answers(_name, 0, 0)
memory_stats = _answers("memory_stats", {}, {})


def is_bf16_supported(including_emulation=True):
    return MACHINE == "cuda"


def get_rng_state_all():
    """A state for each card; there may be none."""
    return [0] * device_count()


def set_rng_state_all(states):
    for state in states:
        set_rng_state(state)


def empty_cache():
    if MACHINE == "hpu":
        broken("hpu.no-cuda", "torch.cuda.empty_cache() does nothing for a card of Gaudi")
        raise AssertionError("torch.cuda.empty_cache on a machine with HPU")
    if MACHINE == "cuda":
        record("torch.cuda.empty_cache")


def manual_seed(_):
    if MACHINE == "hpu":
        record("torch.cuda.manual_seed")


manual_seed_all = manual_seed


class device:
    """The context manager that makes a card the current one."""

    def __init__(self, which):
        if MACHINE != "cuda":
            raise AssertionError("torch.cuda.device: Torch not compiled with CUDA enabled")
        record("torch.cuda.device", device=str(which))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False


class Event:
    def __init__(self, enable_timing=False, **_):
        _work("Event")()

    def record(self, *_):
        pass

    def synchronize(self):
        pass

    def elapsed_time(self, _):
        return 1.0


class Stream(Event):
    def __init__(self, *_, **__):
        _work("Stream")()

    def wait_stream(self, _):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False


def stream(which):
    return which


def current_stream(*_):
    return Stream()


def get_device_properties(*_):
    _work("get_device_properties")()
    return type("Properties", (), {"total_memory": 0, "name": "stand-in", "major": 8})()


from . import amp, nvtx  # noqa: E402,F401
