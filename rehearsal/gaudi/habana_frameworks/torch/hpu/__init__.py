"""torch.hpu. No empty_cache, no ipc_collect: the real one has none."""

from stand_in_calls import record

ABSENT = ("empty_cache", "ipc_collect")


def is_available():
    return True


def device_count():
    return 1


def current_device():
    return 0


def set_device(which):
    index = getattr(which, "index", which)
    if index not in (None, 0, "hpu"):
        raise AssertionError(f"HPU index {index}: a process sees one card, number 0")
    record("torch.hpu.set_device")


def _quiet(name, answer):
    def function(*_, **__):
        record(f"torch.hpu.{name}")
        return answer

    return function


for _name, _answer in {
    "synchronize": None, "memory_allocated": 0, "max_memory_allocated": 0, "memory_reserved": 0, "max_memory_reserved": 0,
    "memory_stats": {}, "memory_summary": "", "mem_get_info": (0, 0), "reset_peak_memory_stats": None, "manual_seed": None,
    "manual_seed_all": None, "get_rng_state": 0, "set_rng_state": None, "get_rng_state_all": [], "set_rng_state_all": None,
    "initial_seed": 0, "get_device_name": "GAUDI", "get_device_properties": None, "get_device_capability": "1.23",
    "is_bf16_supported": True, "utilization": 0, "current_stream": None, "default_stream": None, "stream": None,
}.items():
    globals()[_name] = _quiet(_name, _answer)


class Event:
    def __init__(self, *_, **__):
        record("torch.hpu.Event")

    def record(self, *_):
        pass

    def synchronize(self):
        pass

    def elapsed_time(self, _):
        return 1.0


class Stream(Event):
    pass


def wrap_in_hpu_graph(module, **_):
    record("wrap_in_hpu_graph")
    return module
