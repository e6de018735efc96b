"""What of PyTorch names a device outside of calls on tensors: parameters, saved files, generators, `torch.cuda`, `torch.accelerator`."""

import functools
import types

import stand_in_random
import torch
from stand_in_devices import MARK, is_ours, mark
from stand_in_calls import MACHINE, record

HERE = torch.device(MACHINE, 0)


def _parameters():
    """`nn.Parameter(t)` lies where `t` does: its constructor makes a new tensor."""
    for kind in (torch.nn.Parameter, getattr(torch.nn, "Buffer", None)):
        if kind is not None:
            kind.__new__ = _keeping_the_mark(kind.__new__)


def _keeping_the_mark(original):
    @functools.wraps(original)
    def new(cls, data=None, *args, **kwargs):
        made = original(cls, data, *args, **kwargs)
        return mark(made) if getattr(data, MARK, False) else made

    return staticmethod(new)


# ------------------------------------------------------------------------------------------------ files

_saving, _loaded = set(), set()


def _addresses(value, found):
    if isinstance(value, torch.Tensor):
        if getattr(value, MARK, False):
            found.add(value.untyped_storage().data_ptr())
    elif isinstance(value, dict):
        for item in value.values():
            _addresses(item, found)
    elif isinstance(value, (list, tuple)):
        for item in value:
            _addresses(item, found)
    elif isinstance(value, torch.nn.Module):
        _addresses([*value.parameters(), *value.buffers()], found)
    return found


def _mark_loaded(value):
    if isinstance(value, torch.Tensor):
        if value.untyped_storage().data_ptr() in _loaded:
            mark(value)
    elif isinstance(value, dict):
        for item in value.values():
            _mark_loaded(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            _mark_loaded(item)
    elif isinstance(value, torch.nn.Module):
        _mark_loaded([*value.parameters(), *value.buffers()])
    return value


def _without_mark(reduce):
    """What is written of a tensor has its storage's place, and no attribute of ours."""

    @functools.wraps(reduce)
    def reduced(tensor, protocol):
        marked = tensor.__dict__.pop(MARK, False)
        try:
            return reduce(tensor, protocol)
        finally:
            if marked:
                mark(tensor)

    return reduced


def _files():
    """A file says of each storage where it was, and `torch.load` puts it back there."""

    def tag(storage):
        return str(HERE) if storage.data_ptr() in _saving and storage.data_ptr() else None

    def put(storage, location):
        if not is_ours(location):
            return None
        _loaded.add(storage.data_ptr())
        return storage

    torch.serialization.register_package(1, tag, put)
    for kind in (torch.Tensor, torch.nn.Parameter):
        kind.__reduce_ex__ = _without_mark(kind.__reduce_ex__)
    save, load = torch.save, torch.load

    @functools.wraps(save)
    def saved(obj, *args, **kwargs):
        _saving.update(_addresses(obj, set()))
        try:
            return save(obj, *args, **kwargs)
        finally:
            _saving.clear()

    @functools.wraps(load)
    def loaded(*args, **kwargs):
        try:
            return _mark_loaded(load(*args, **kwargs))
        finally:
            _loaded.clear()

    torch.save, torch.load = saved, loaded
    of_storage = torch.UntypedStorage.to

    @functools.wraps(of_storage)
    def to(storage, *, device, non_blocking=False):
        # What `map_location=lambda storage, _: storage.cuda()` asks for.
        return put(storage, device) if is_ours(device) else of_storage(storage, device=device, non_blocking=non_blocking)

    torch.UntypedStorage.to = to


# ------------------------------------------------------------------------------------------------ modules


class Generator(torch._C.Generator):
    """A generator of the device is one of the CPU, which says otherwise."""

    def __new__(cls, device="cpu"):
        made = super().__new__(cls, "cpu" if is_ours(device) else device)
        made.of_device = is_ours(device)
        return made

    device = property(lambda self: HERE if self.of_device else torch.device("cpu"))


class Event:
    def __init__(self, *_, **__):
        record(f"torch.{MACHINE}.Event")

    def record(self, *_):
        pass

    def wait(self, *_):
        pass

    def query(self):
        return True

    def synchronize(self):
        pass

    def elapsed_time(self, _):
        return 1.0


class Stream(Event):
    def __init__(self, *_, **__):
        record(f"torch.{MACHINE}.Stream")

    def wait_stream(self, _):
        pass

    wait_event = wait_stream
    cuda_stream = sycl_queue = stream_id = 0

    def is_capturing(self):
        return False

    def record_event(self, event=None):
        return event or Event()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False


class NoContext:
    """`with torch.cuda.device(0)`, `with torch.cuda.stream(s)`."""

    def __init__(self, which=None, what="device"):
        record(f"torch.{MACHINE}.{what}", device=str(which))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False


class Properties:
    name, total_memory, major, minor, multi_processor_count = "the CPU in its place", 8 * 2**30, 8, 0, 1
    uuid = "0"
    has_fp16 = has_fp64 = has_subgroup_matrix_multiply_accumulate = True


def answers():
    """Function → what it gives, of a module like `torch.cuda`."""
    return {
        "set_device": None, "current_device": 0, "synchronize": None, "reset_peak_memory_stats": None, "get_device_name": Properties.name,
        "get_device_capability": (8, 0), "mem_get_info": (2**33, 2**33), "memory_summary": "", "reset_max_memory_allocated": None,
        "utilization": 0, "memory_allocated": 0, "max_memory_allocated": 0, "memory_reserved": 0, "max_memory_reserved": 0,
        "memory_cached": 0, "max_memory_cached": 0, "memory_stats": {}, "get_device_properties": Properties(),
        "set_per_process_memory_fraction": None, "current_stream": None, "default_stream": None, "reset_accumulated_memory_stats": None,
    }


def recorded(name, answer):
    """`answer` is what the function gives, or a function that does."""

    def function(*args, **options):
        record(f"torch.{MACHINE}.{name}")
        return Stream() if name.endswith("_stream") else answer(*args, **options) if isinstance(answer, types.FunctionType) else answer

    function.__name__ = name
    return function


def _answering(module):
    """`torch.cuda` of the machine that a program was written for, `torch.xpu` of the one it is ported to."""
    for name, answer in (*answers().items(), ("empty_cache", None), ("ipc_collect", None)):
        # What this PyTorch does not have for the device stays missing.
        if hasattr(module, name):
            setattr(module, name, recorded(name, answer))
    module.is_available = module.is_initialized = lambda: True
    module.device_count = lambda: 1
    module.is_bf16_supported = lambda *_, **__: True
    module._lazy_init = module.init = lambda: None
    module.is_current_stream_capturing = lambda: False
    module.Event, module.Stream = Event, Stream
    module.device = module.device_of = NoContext
    module.stream = lambda stream=None: NoContext(stream, "stream")
    if hasattr(module, "memory"):
        module.memory._record_memory_history = recorded("memory._record_memory_history", None)


class _Kind(type):
    """`isinstance(t, torch.cuda.FloatTensor)`."""

    def __instancecheck__(cls, value):
        return isinstance(value, torch.Tensor) and bool(getattr(value, MARK, False)) and isinstance(value, cls.host)


def _typed(name):
    """`torch.cuda.FloatTensor([1.0])`: PyTorch's own dies where there is no GPU."""
    host = getattr(torch, name)

    def new(cls, *args, **kwargs):
        record("Tensor.to", device=MACHINE)
        return mark(host(*args, **kwargs))

    return _Kind(name, (), {"__new__": new, "host": host})


def _variable():
    """`Variable(tensor)`, from the time before tensors had gradients, lies where its tensor does. The class is changed in place: a
    program may have imported it already."""
    own = torch.autograd.Variable.__new__

    def new(cls, data=None, requires_grad=False, volatile=None):
        made = own(cls) if data is None else own(cls, data, requires_grad)
        return mark(made, bool(getattr(data, MARK, False)))

    torch.autograd.Variable.__new__ = staticmethod(new)


def _cuda():
    _answering(torch.cuda)
    for name in [name for name in vars(torch.cuda) if name.endswith("Tensor") and hasattr(torch, name)]:
        setattr(torch.cuda, name, _typed(name))
    torch.cuda.cudart = lambda: types.SimpleNamespace(cudaProfilerStart=lambda: None, cudaProfilerStop=lambda: None)
    torch.cuda.profiler.start = torch.cuda.profiler.stop = lambda: record("torch.cuda.profiler")
    torch.backends.cudnn.is_acceptable = lambda tensor: False
    torch.backends.cudnn.version = lambda: 90000
    for name in ("range_push", "range_pop", "mark"):
        setattr(torch.cuda.nvtx, name, lambda *_, **__: record("torch.cuda.nvtx"))


def _accelerator():
    """`torch.accelerator`, which is there from PyTorch 2.6 on."""
    accelerator = getattr(torch, "accelerator", None)
    if accelerator is None:
        return
    accelerator.is_available = lambda: True
    accelerator.device_count = lambda: 1
    accelerator.current_accelerator = lambda check_available=False: torch.device(MACHINE)
    accelerator.current_device_index = accelerator.current_device_idx = lambda: 0

    def said(name, answer=None):
        def function(*_, **__):
            record(f"accelerator.{name}")
            return answer

        return function

    accelerator.set_device_index = accelerator.set_device_idx = said("set_device_index")
    accelerator.synchronize, accelerator.empty_cache = said("synchronize"), said("empty_cache")
    accelerator.current_stream = lambda *_: Stream()
    accelerator.memory_allocated = accelerator.max_memory_allocated = lambda *_: 0


def install():
    _parameters()
    _files()
    _accelerator()
    _variable()
    torch.Generator = Generator
    torch.Tensor.record_stream = lambda tensor, stream: None  # PyTorch's own refuses streams of ours before it asks a mode.
    stand_in_random.install({"cuda": torch.cuda, "xpu": getattr(torch, "xpu", None)}.get(MACHINE))
    if MACHINE == "cuda":
        _cuda()
    if MACHINE == "xpu":
        _answering(torch.xpu)
    if not hasattr(torch.Tensor, "is_hpu"):
        torch.Tensor.is_hpu = property(lambda tensor: MACHINE == "hpu" and bool(getattr(tensor, MARK, False)))
