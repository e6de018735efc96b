"""Writes down what a program calls of PyTorch, and holds it to the rules that are the same for every accelerator."""

import contextlib
import functools
import inspect
import os
import sys
import warnings

from contracts import KIT, broken, expect, is_broken, kept, refused
from private_files import private
from stand_in_calls import MACHINE, PORTED, record

RECORDER = os.path.join(KIT, "recorder") + os.sep
STAND_INS = tuple(os.path.join(KIT, folder) + os.sep for folder in ("ipu", "popdist", "rdu"))
# Functions that are told of a call: what an accelerator waits for, and what compares two runs.
SEEN_BY = {"backward": [], "gradients": [], "step": []}
# Not empty while gradients are computed.
DIFFERENTIATING = []
# Types of the regions of autocast that are open, the innermost last.
AUTOCAST = []
_depth = {"call": 0, "to": 0, "step": 0}
_quiet = [0]


@contextlib.contextmanager
def quiet():
    """Nothing inside is written down."""
    _quiet[0] += 1
    try:
        yield
    finally:
        _quiet[0] -= 1


def told(name, **details):
    if not _quiet[0]:
        record(name, **details)


def around(owner, name, wrapper):
    """Puts `wrapper(original, *args, **kwargs)` in the place of a function."""
    original = inspect.getattr_static(owner, name)
    static = isinstance(original, staticmethod)
    function = original.__func__ if isinstance(original, (staticmethod, classmethod)) else original

    @functools.wraps(function)
    def wrapped(*args, **kwargs):
        return wrapper(function, *args, **kwargs)

    setattr(owner, name, staticmethod(wrapped) if static else classmethod(wrapped) if isinstance(original, classmethod) else wrapped)


def before(owner, name, tell):
    """Has `tell(*args, **kwargs)` run in front of a function."""

    def wrapper(original, *args, **kwargs):
        tell(*args, **kwargs)
        return original(*args, **kwargs)

    around(owner, name, wrapper)


def _kind(device):
    return getattr(device, "type", str(device).partition(":")[0])


# ------------------------------------------------------------------------------------------------ modules


def _modules(torch):
    import stand_in_devices as devices

    module = torch.nn.Module
    losses = torch.nn.modules.loss._Loss

    def call(original, self, *args, **kwargs):
        outermost = _depth["call"] == 0 and not type(self).__module__.startswith("torchvision.transforms")
        if outermost:
            values = [*self.parameters(), *(arg for arg in (*args, *kwargs.values()) if isinstance(arg, torch.Tensor))]
            told(
                "loss" if isinstance(self, losses) else "forward", module=type(self).__name__,
                device=devices.where(values[0]) if values else "cpu", grad=torch.is_grad_enabled(), training=self.training,
                autocast=AUTOCAST[-1] if AUTOCAST else None,
            )
        _depth["call"] += 1
        try:
            return original(self, *args, **kwargs)
        finally:
            _depth["call"] -= 1

    around(module, "__call__", call)

    def to(original, self, *args, **kwargs):
        if MACHINE == "xpu" and args and isinstance(args[0], int) and not isinstance(args[0], bool):
            args = (torch.device("xpu", args[0]), *args[1:])  # A number names the accelerator that was built in.
        device, dtype, _, _ = torch._C._nn._parse_to(*args, **kwargs)
        if _depth["to"] == 0:
            if device is not None:
                told("Module.to", device=_kind(device))
            if dtype is not None:
                told("Module.to", dtype=str(dtype).replace("torch.", ""))
        return _unsaid(original, self, *args, **kwargs)

    def cuda(original, self, device=None):
        if MACHINE != "cuda":
            return original(self, device)
        told("Module.to", device="cuda")
        return _unsaid(original, self, device)

    def xpu(original, self, device=None):
        told("Module.to", device="xpu")
        return _unsaid(original, self, device)

    def half(dtype):
        def cast(original, self):
            told("Module.to", dtype=dtype)
            return _unsaid(original, self)

        return cast

    around(module, "to", to)
    around(module, "cuda", cuda)
    around(module, "xpu", xpu)
    around(module, "cpu", lambda original, self: self.to("cpu"))
    around(module, "half", half("float16"))
    around(module, "bfloat16", half("bfloat16"))
    before(module, "zero_grad", lambda *_, **__: told("zero_grad"))


def _unsaid(original, *args, **kwargs):
    """A move of a whole module, not of each of its tensors."""
    _depth["to"] += 1
    try:
        with quiet_calls():
            return original(*args, **kwargs)
    finally:
        _depth["to"] -= 1


@contextlib.contextmanager
def quiet_calls():
    from stand_in_calls import silent

    silent[0] += 1
    try:
        yield
    finally:
        silent[0] -= 1


# ------------------------------------------------------------------------------------------------ a step


def _by_a_stand_in():
    """Whether a vendor's stand-in takes this part of the step, and not a line of the program."""
    frame = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith(RECORDER) and f"{os.sep}site-packages{os.sep}" not in file and not file.startswith("<"):
            return file.startswith(STAND_INS)
        frame = frame.f_back
    return False


def _gradients(torch):
    import stand_in_devices as devices

    def backward(original, tensors, *args, **kwargs):
        outermost = not DIFFERENTIATING
        first = tensors if isinstance(tensors, torch.Tensor) else next(iter(tensors))
        if outermost:
            device = devices.where(first)
            if PORTED and devices.name():
                expect(f"{MACHINE}.device", device == MACHINE, f"backward() on {device}: this step does not use the card")
                if not is_broken(f"{MACHINE}.no-cuda"):
                    kept(f"{MACHINE}.no-cuda")
            for seen in SEEN_BY["backward"]:
                seen(tensors)
            if not _by_a_stand_in():
                told("backward", device=device)
        DIFFERENTIATING.append(True)
        try:
            return original(tensors, *args, **kwargs)
        finally:
            DIFFERENTIATING.pop()
            if outermost:
                for seen in SEEN_BY["gradients"]:
                    seen()

    around(torch.autograd, "backward", backward)

    def tensor_backward(original, self, gradient=None, retain_graph=None, create_graph=False, inputs=None):
        if MACHINE == "cpu":
            return torch.autograd.backward(self, gradient, retain_graph, create_graph, inputs=inputs)
        return original(self, gradient, retain_graph, create_graph, inputs)

    around(torch.Tensor, "backward", tensor_backward)


def _optimizers(torch):
    import twin

    optimizer = torch.optim.Optimizer

    def made(original, self, *args, **kwargs):
        original(self, *args, **kwargs)
        told("optimizer", kind=type(self).__name__)
        twin.optimizer()
        _watch_step(type(self))

    around(optimizer, "__init__", made)
    before(optimizer, "zero_grad", lambda *_, **__: told("zero_grad"))
    # One tensor after the other on every device: the order of a sum must not differ between the original and the port.
    for module in [module for name, module in list(sys.modules.items()) if name.startswith("torch.optim.")]:
        if hasattr(module, "_default_to_fused_or_foreach"):
            module._default_to_fused_or_foreach = lambda *_, **__: (False, False)

    schedulers = torch.optim.lr_scheduler
    kinds = {value for value in vars(schedulers).values() if isinstance(value, type) and hasattr(value, "get_last_lr")}
    for kind in kinds | {schedulers.ReduceLROnPlateau}:
        if "step" in kind.__dict__:
            around(kind, "step", _scheduled)
        if "__init__" in kind.__dict__:
            around(kind, "__init__", _scheduler_made)


_starting = []


def _scheduler_made(original, self, *args, **kwargs):
    """The first step, which the constructor takes, is not the program's."""
    _starting.append(True)
    try:
        return original(self, *args, **kwargs)
    finally:
        _starting.pop()


def _scheduled(original, self, *args, **kwargs):
    if not _starting:
        told("scheduler.step")
    _starting.append(True)
    try:
        return original(self, *args, **kwargs)
    finally:
        _starting.pop()


def _watch_step(kind):
    """The class in whose body the step stands is watched, once."""
    owner = next((base for base in kind.__mro__ if "step" in base.__dict__), None)
    if owner is None or getattr(owner.__dict__["step"], "is_watched", False):
        return

    def step(original, self, *args, **kwargs):
        if _depth["step"]:
            return original(self, *args, **kwargs)
        import twin

        _depth["step"] += 1
        try:
            with twin.step(self):
                found = original(self, *args, **kwargs)
        finally:
            _depth["step"] -= 1
        for seen in SEEN_BY["step"]:
            seen(self)
        if not _by_a_stand_in():
            told("optimizer.step", updated=sum(p.grad is not None for group in self.param_groups for p in group["params"]))
        return found

    around(owner, "step", step)
    owner.step.is_watched = True


# ------------------------------------------------------------------------------------------------ mixed precision


def _mixed_precision(torch):
    import stand_in_devices as devices
    import twin

    autocast = torch.amp.autocast_mode.autocast
    defaults = {"cuda": torch.float16, "hpu": torch.bfloat16, "xpu": torch.float16, "cpu": torch.bfloat16}
    # Without AVX-512, oneDNN has no LSTM in bfloat16 and raises; PyTorch's own kernel runs on every processor.
    onednn_computes = getattr(torch.ops.mkldnn, "_is_mkldnn_bf16_supported", lambda: True)()

    def made(original, self, device_type, dtype=None, enabled=True, cache_enabled=None):
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        device = device_type.partition(":")[0]
        if device == "cuda" and PORTED and enabled:
            broken(f"{MACHINE}.no-cuda", f"torch.autocast for CUDA on a machine with {MACHINE.upper()}: PyTorch disables it, and the step keeps float32")
            enabled = False
        if device == "cuda" and MACHINE != "cuda":
            enabled = False
        # The bridge sets bfloat16 where nobody names a type: torch.hpu.get_autocast_hpu_dtype().
        dtype = dtype or defaults.get(device, torch.bfloat16)
        if device == "hpu" and enabled and dtype not in (torch.bfloat16, torch.float16):
            # torch/amp/autocast_mode.py warns and disables it.
            warnings.warn("In HPU autocast, but the target dtype is not supported. Disabling autocast.", stacklevel=3)
            enabled = False
        self._asked = (device, dtype, enabled)
        lower = enabled and twin.precision() == "target"
        # Before PyTorch 2.4 autocast on the CPU knows bfloat16 alone.
        try:
            original(self, "cpu", dtype=dtype if lower else torch.bfloat16, enabled=lower, cache_enabled=cache_enabled)
        except RuntimeError:
            original(self, "cpu", dtype=torch.bfloat16, enabled=lower, cache_enabled=cache_enabled)

    def enter(original, self):
        device, dtype, enabled = self._asked
        if enabled:
            if PORTED and devices.name():
                expect(f"{MACHINE}.autocast-device", device == MACHINE, f"autocast for {device}: what runs on {MACHINE} keeps its precision")
            kind = str(dtype).replace("torch.", "")
            told("autocast", device=device, dtype=kind)
            twin.autocast(device, kind)
        # A region that is switched off switches off the one around it.
        AUTOCAST.append(str(dtype).replace("torch.", "") if enabled else None)
        self._onednn = torch._C._get_mkldnn_enabled()
        if self._enabled and not onednn_computes:
            torch._C._set_mkldnn_enabled(False)
        return original(self)

    def leave(original, self, *args):
        AUTOCAST.pop()
        torch._C._set_mkldnn_enabled(self._onednn)
        return original(self, *args)

    around(autocast, "__init__", made)
    around(autocast, "__enter__", enter)
    around(autocast, "__exit__", leave)
    # A region for the device is one of the CPU. Who names no device asks for CUDA.
    for name in ("is_autocast_enabled", "get_autocast_dtype"):
        if hasattr(torch, "get_autocast_dtype"):
            around(torch, name, lambda original, *device: original(*("cpu" if one == MACHINE else one for one in device or ("cuda",))))

    scaler = torch.amp.grad_scaler.GradScaler if hasattr(torch.amp, "grad_scaler") else torch.cuda.amp.GradScaler

    def scaler_made(original, self, *args, **kwargs):
        names = ("device", *_SCALER) if hasattr(torch.amp, "grad_scaler") and type(self) is scaler else _SCALER
        given = {**dict(zip(names, args)), **kwargs}
        device, enabled = str(given.get("device", "cuda")), given.get("enabled", True)
        if device.startswith("cuda") and enabled and PORTED:
            broken(f"{MACHINE}.no-cuda", f"GradScaler for CUDA on a machine with {MACHINE.upper()}: PyTorch disables it")
            enabled = False
        self._asked = enabled and (MACHINE == "cuda" or not device.startswith("cuda"))
        self._first_scale = float(given.get("init_scale", 65536.0))
        original(self, *args, **{**kwargs, "enabled": False} if len(args) < len(names) else kwargs)
        # In float32 a scale is a power of two that is divided out again.
        self._enabled = False
        if self._asked:
            twin.scaler()

    around(scaler, "__init__", scaler_made)
    for name in ("scale", "unscale_", "step", "update"):
        around(scaler, name, _scaler_call(name))
    around(scaler, "is_enabled", lambda original, self: self._asked)
    around(scaler, "get_scale", lambda original, self: self._first_scale if self._asked else 1.0)
    around(scaler, "state_dict", lambda original, self: {"scale": self._first_scale} if self._asked else {})
    around(scaler, "load_state_dict", _load_scaler)


_SCALER = ("init_scale", "growth_factor", "backoff_factor", "growth_interval", "enabled")


def _scaler_call(name):
    def call(original, self, *args, **kwargs):
        if self._asked:
            told(f"GradScaler.{name}")
        return original(self, *args, **kwargs)

    return call


def _load_scaler(original, self, state):
    if self._asked and not state:
        raise RuntimeError("The source state dict is empty, possibly because it was saved from a disabled instance of GradScaler.")


# ------------------------------------------------------------------------------------------------ data, files, compilation


def _data(torch):
    import twin

    data = torch.utils.data
    loader = data.DataLoader
    init = loader.__init__
    signature = inspect.signature(init)

    @functools.wraps(init)
    def made(self, *args, **kwargs):
        given = signature.bind(self, *args, **kwargs).arguments
        given.pop("self")
        extra = given.pop("kwargs", {})
        told(
            "DataLoader", batch_size=given.get("batch_size", 1), pin_memory_device=given.get("pin_memory_device", ""),
            drop_last=given.get("drop_last", False))
        if str(given.get("pin_memory_device", "")).startswith("cuda") and MACHINE != "cuda":
            raise RuntimeError("pin_memory_device is cuda on a machine without CUDA")
        # Data is read in this process: a random augmentation must draw the same in the original and in the port.
        for name in ("num_workers", "pin_memory", "pin_memory_device", "persistent_workers", "prefetch_factor", "multiprocessing_context",
                     "timeout", "worker_init_fn"):
            given.pop(name, None)
        twin.loader(self, given)
        init(self, **given, **extra)

    loader.__init__ = made

    def sampler(original, self, *args, **kwargs):
        original(self, *args, **kwargs)
        told("DistributedSampler", replicas=self.num_replicas, rank=self.rank)
        twin.RECORD["shares"] = True

    around(torch.utils.data.distributed.DistributedSampler, "__init__", sampler)


def _files(torch):
    # The names of PyTorch's parameters: programs pass them by name, too.
    def save(original, obj, *args, **kwargs):
        import twin

        told("torch.save")
        file = args[0] if args else kwargs.get("f")
        twin.saved(obj, file)
        private(file, keep=False)
        return original(obj, *args, **kwargs)

    def load(original, *args, **kwargs):
        where = args[1] if len(args) > 1 else kwargs.get("map_location")
        told("torch.load", map_location=str(where) if where is not None else None)
        return original(*args, **kwargs)

    around(torch, "save", save)
    before(torch.jit, "save", lambda m, f, *_, **__: private(f, keep=False))
    around(torch, "load", load)


def _compilation(torch):
    """A compiled module computes what it computed before."""

    def compile(original, model=None, *args, backend="inductor", **options):
        if model is None:
            return lambda given: torch.compile(given, backend=backend)
        told("torch.compile", backend=backend if isinstance(backend, str) else getattr(backend, "__name__", "?"))
        return model

    around(torch, "compile", compile)
    if hasattr(torch.nn.Module, "compile"):
        around(torch.nn.Module, "compile", lambda original, self, *args, backend="inductor", **_: told("torch.compile", backend=backend))
    for name, as_ in (("script", "torch.jit.script"), ("trace", "torch.jit.trace"), ("trace_module", "torch.jit.trace")):
        around(torch.jit, name, _jit(as_))
    before(torch.nn.utils, "clip_grad_norm_", lambda *_, **__: told("clip_grad_norm_"))
    before(torch.nn.utils, "clip_grad_value_", lambda *_, **__: told("clip_grad_value_"))
    around(torch.onnx, "export", _export)
    around(torch.nn.SyncBatchNorm, "convert_sync_batchnorm", _plain_batchnorm)


def _export(original, model, args=(), *more, **options):
    """What writes the file is a package of its own. A twin run does without: it has the model called as the exporter would, and says so."""
    import importlib.util

    import twin

    missing = [name for name in ("onnx", "onnxscript") if importlib.util.find_spec(name) is None]
    if not twin.FILE or not missing:
        return original(model, args, *more, **options)
    twin.note("export", f"torch.onnx.export wrote no file: this Python has no {' and no '.join(missing)}")
    import torch

    training = model.training
    with twin.quiet(), torch.no_grad():
        try:
            model.eval()(*(args if isinstance(args, tuple) else (args,)), **options.get("kwargs") or {})
        finally:
            model.train(training)


def _jit(name):
    def call(original, *args, **kwargs):
        told(name)
        # DeepSpeed has scripted functions that nothing calls on Gaudi.
        if MACHINE == "hpu" and f"{os.sep}site-packages{os.sep}" not in sys._getframe(2).f_code.co_filename:
            from habana_frameworks.torch import lacks

            lacks.script(name)
        with quiet():
            return original(*args, **kwargs)

    return call


def _plain_batchnorm(original, cls, module, *args, **kwargs):
    """In one process the statistics are those of the batch either way."""
    told("convert_sync_batchnorm")
    return module


def _profiler(torch):
    """A profile of a device that is the CPU is one of the CPU. The newest PyTorch knows no `use_cuda`
    any more; those of the vendors do."""

    def made(original, self, *args, use_cuda=False, use_device=None, **options):
        if use_cuda and MACHINE != "cuda":
            raise AssertionError("profile(use_cuda=True) without CUDA")
        told("profile", use_cuda=use_cuda)
        original(self, *args, **options)

    around(torch.autograd.profiler.profile, "__init__", made)
    before(torch.autograd.profiler.profile, "export_chrome_trace", lambda *_, **__: told("export_chrome_trace"))


def _cuda_elsewhere(torch):
    """What a port still asks of CUDA on another machine: some of it PyTorch refuses, some it answers with 0."""
    if MACHINE == "cuda" or not PORTED:
        return

    def needs_cuda(name):
        def refuse(*_, **__):
            raise refused(f"{MACHINE}.no-cuda", f"torch.cuda.{name} on a machine without CUDA")

        return refuse

    before(torch.cuda, "synchronize", needs_cuda("synchronize"))
    torch.cuda.Stream.__new__ = needs_cuda("Stream")
    for name in ("memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved"):
        def asked(*_, _name=name, **__):
            broken(f"{MACHINE}.no-cuda", f"torch.cuda.{_name}() returns 0 here, whatever is in the {MACHINE.upper()}'s memory")

        before(torch.cuda, name, asked)


def install():
    import torch

    _modules(torch)
    _cuda_elsewhere(torch)
    _gradients(torch)
    _optimizers(torch)
    _mixed_precision(torch)
    _data(torch)
    _files(torch)
    _compilation(torch)
    _profiler(torch)
    import process_groups

    process_groups.install(torch)
