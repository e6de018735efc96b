"""torch.cuda: answers questions anywhere, works only on the cuda machine, and writes down everything."""

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
        if MACHINE != "cuda":
            raise AssertionError(f"torch.cuda.{name}: Torch not compiled with CUDA enabled")
        record(f"torch.cuda.{name}")
        return answer(*args) if callable(answer) else answer

    function.__name__ = name
    return function


for _name, _answer in {
    "set_device": None, "current_device": 0, "synchronize": None, "memory_allocated": 0, "max_memory_allocated": 0,
    "memory_reserved": 0, "max_memory_reserved": 0, "reset_peak_memory_stats": None, "get_device_name": "stand-in",
    "get_device_capability": (8, 0), "mem_get_info": (0, 0), "memory_summary": "", "ipc_collect": None,
    "is_bf16_supported": True, "get_rng_state": 0, "set_rng_state": None, "get_rng_state_all": [], "set_rng_state_all": None,
    "reset_max_memory_allocated": None, "utilization": 0,
}.items():
    globals()[_name] = _work(_name, _answer)


def empty_cache():
    if MACHINE == "hpu":
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
