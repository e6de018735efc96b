"""Process groups: what a program calls `nccl`, `hccl` or `xccl` meets over gloo, and one process alone needs no address."""

import functools
import os
import sys

import stand_in_devices as devices
from contracts import broken, kept
from on_import import when_imported
from stand_in_calls import MACHINE, PORTED, record
from torch_calls import around, before, told

# The backend that is the device's own.
OWN = {"cuda": "nccl", "hpu": "hccl", "xpu": "xccl"}
# What the machine has; importing Gaudi's module adds `hccl`.
BACKENDS = {"gloo", "mpi"} | ({OWN[MACHINE]} if MACHINE in ("cuda", "xpu") else set())
_asked = {}


def _init(torch):
    distributed = torch.distributed

    def init_process_group(original, backend=None, init_method=None, timeout=None, world_size=-1, rank=-1, store=None, **options):
        if distributed.is_initialized():
            raise ValueError("trying to initialize the default process group twice!")
        if backend is None:
            backend = OWN.get(MACHINE, "gloo")
        for name in [part.split(":")[-1] for part in backend.split(",")]:
            if name not in BACKENDS:
                if MACHINE == "hpu":
                    broken("hpu.backend",
                           f"processes on Gaudi need the backend hccl, with habana_frameworks.torch.distributed.hccl imported; not {name}")
                if MACHINE == "xpu":
                    broken("xpu.backend", f"processes on Intel's GPUs need the backend xccl, not {name}")
                raise RuntimeError(f"Distributed package doesn't have {name.upper()} built in")
        if init_method in (None, "env://") and store is None:
            for key in ("MASTER_ADDR", "MASTER_PORT", *(("RANK",) if rank < 0 else ()), *(("WORLD_SIZE",) if world_size < 0 else ())):
                if key not in os.environ:
                    raise ValueError(
                        f"Error initializing torch.distributed using env:// rendezvous: environment variable {key} expected, but not set")
        rank = rank if rank >= 0 else int(os.environ.get("RANK", 0))
        size = world_size if world_size >= 0 else int(os.environ.get("WORLD_SIZE", 1))
        if size > 1 and "STAND_IN_STORE" in os.environ:
            store = distributed.FileStore(os.environ["STAND_IN_STORE"], size)
        elif size == 1:
            store = distributed.HashStore()
        if PORTED and backend.split(":")[-1] == OWN[MACHINE]:
            kept(f"{MACHINE}.backend")
        told("init_process_group", backend=backend, init_method=init_method, timeout=str(timeout) if timeout else None)
        _asked["backend"] = backend
        options.pop("device_id", None)
        where = {} if store is None else {"store": store}
        if store is None:
            where["init_method"] = init_method
        if timeout is not None:
            where["timeout"] = timeout
        original("gloo", world_size=size, rank=rank, **where)

    around(distributed, "init_process_group", init_process_group)

    def get_backend(original, *args, **kwargs):
        _there("get_backend")
        return _asked.get("backend", "gloo")

    around(distributed, "get_backend", get_backend)
    before(distributed, "destroy_process_group", lambda *_, **__: told("destroy_process_group"))


def _there(what, tensor=None):
    import torch

    if not torch.distributed.is_initialized():
        broken("torch.process-group", f"{what} without a process group: init_process_group was not called, or the port removed it")
        raise ValueError("Default process group has not been initialized, please make sure to call init_process_group.")
    kind = {own: device for device, own in OWN.items()}.get(_asked.get("backend"))
    if tensor is not None and kind and devices.where(tensor) != kind:
        raise RuntimeError(f"No backend type associated with device type {devices.where(tensor)}")


def _collectives(torch):
    distributed = torch.distributed

    def averaged(name):
        def call(original, tensor, *args, **kwargs):
            _there(name, tensor)
            told(name)
            op = kwargs.get("op", next((arg for arg in args if isinstance(arg, type(distributed.ReduceOp.SUM))), None))
            if op == distributed.ReduceOp.AVG:
                # gloo has no average.
                swap = lambda value: distributed.ReduceOp.SUM if value == op else value  # noqa: E731
                kwargs = {key: swap(value) if key == "op" else value for key, value in kwargs.items()}
                work = original(tensor, *map(swap, args), **{**kwargs, "async_op": False})
                tensor.div_(distributed.get_world_size(kwargs.get("group")))
                return _Done() if kwargs.get("async_op") else work
            return original(tensor, *args, **kwargs)

        return call

    def plain(name, which):
        def call(original, *args, **kwargs):
            _there(name, args[which] if len(args) > which else kwargs.get("tensor"))
            told(name)
            return original(*args, **kwargs)

        return call

    for name in ("all_reduce", "reduce"):
        around(distributed, name, averaged(name))
    around(distributed, "broadcast", plain("broadcast", 0))
    around(distributed, "all_gather", plain("all_gather", 1))
    before(distributed, "broadcast_object_list", lambda *_, **__: _there("broadcast_object_list"))

    def barrier(original, group=None, async_op=False, device_ids=None, **_):
        _there("barrier")
        if device_ids is not None and _asked["backend"] not in ("nccl", "xccl"):
            raise RuntimeError(f"Function argument device_ids not supported for the selected backend {_asked['backend']}")
        told("barrier")
        return original()

    around(distributed, "barrier", barrier)


class _Done:
    def wait(self, *_):
        return True

    def is_completed(self):
        return True


def _data_parallel(torch):
    ddp = torch.nn.parallel.DistributedDataParallel

    def made(original, self, module, device_ids=None, output_device=None, **options):
        # The same check stands in torch/nn/parallel/distributed.py.
        if not torch.distributed.is_initialized():
            raise ValueError("Default process group has not been initialized, please make sure to call init_process_group.")
        where = {devices.where(value) for value in module.parameters()}
        if device_ids and where == {"hpu"}:
            raise ValueError("DistributedDataParallel device_ids must be None on hpu")
        if len(where) > 1:
            raise ValueError(f"DistributedDataParallel's input module must be on the same type of devices, but input module parameters "
                             f"are located on {sorted(where)}.")
        told("DDP", device=sorted(where)[0] if where else "cpu", device_ids=device_ids)
        with _on_the_host(module):
            original(self, module, **{key: value for key, value in options.items() if key not in ("dim", "device_mesh")})
        if device_ids and MACHINE in ("cuda", "xpu"):
            # With device_ids DDP moves what it is called with (torch/nn/parallel/distributed.py, `_pre_forward`).
            self.register_forward_pre_hook(lambda module, args: tuple(_moved(arg) for arg in args))

    around(ddp, "__init__", made)

    def parallel(original, self, *args, **kwargs):
        return self.module(*map(_moved, args), **{key: _moved(value) for key, value in kwargs.items()})

    def parallel_made(original, self, module, device_ids=None, output_device=None, dim=0):
        told("DataParallel")
        torch.nn.Module.__init__(self)
        self.module, self.dim, self.device_ids, self.output_device = module, dim, [0], 0

    around(torch.nn.DataParallel, "__init__", parallel_made)
    around(torch.nn.DataParallel, "forward", parallel)


class _on_the_host:
    """DDP's own code asks for the device to choose among paths for CUDA; what it reduces lies in the CPU's memory."""

    def __init__(self, module):
        import torch

        self.values = [value for value in (*module.parameters(), *module.buffers()) if devices.where(value) != "cpu"]

    def __enter__(self):
        devices.mark(self.values, False)

    def __exit__(self, *_):
        devices.mark(self.values)


def _moved(value):
    import torch

    if isinstance(value, torch.Tensor):
        return value if devices.name() is None else value.to(devices.name())
    if isinstance(value, (list, tuple)):
        return type(value)(map(_moved, value))
    if isinstance(value, dict):
        return {key: _moved(item) for key, item in value.items()}
    return value


def _sharded():
    """FSDP asks the device's module for a number, which in PyTorch that is built for the device is one of it."""
    import torch

    def chosen(original, device_id, *args):
        return torch.device(MACHINE, 0) if devices.is_ours(device_id) else original(device_id, *args)

    around(sys.modules["torch.distributed.fsdp._init_utils"], "_get_device_from_device_id", chosen)


def _spawn(torch):
    def spawn(original, function, args=(), nprocs=1, join=True, daemon=False, start_method="spawn"):
        """One rank after the other, in this process, where there is one device."""
        told("spawn", nprocs=nprocs)
        for rank in range(nprocs):
            function(rank, *args)

    import torch.multiprocessing

    around(torch.multiprocessing, "spawn", spawn)
    around(torch.multiprocessing, "set_start_method", lambda original, *_, **__: None)


def install(torch):
    _spawn(torch)
    if torch.distributed.is_available():
        _init(torch)
        _collectives(torch)
        _data_parallel(torch)
        when_imported("torch.distributed.fsdp._init_utils", _sharded)
