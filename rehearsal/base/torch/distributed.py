"""One process that believes it is one of several."""

import datetime
import os

from contracts import broken, kept
from stand_in_calls import MACHINE, record

BACKENDS = {"gloo", "mpi"} | ({"nccl"} if MACHINE == "cuda" else set())
STATE = {}
default_pg_timeout = datetime.timedelta(minutes=30)


class ReduceOp:
    SUM, AVG, MAX, MIN, PRODUCT = "sum", "avg", "max", "min", "product"


def is_available():
    return True


def is_initialized():
    return bool(STATE)


def is_nccl_available():
    return "nccl" in BACKENDS


def init_process_group(backend=None, init_method=None, timeout=None, world_size=-1, rank=-1, store=None, device_id=None, **_):
    if STATE:
        raise ValueError("trying to initialize the default process group twice!")
    if backend is None:
        backend = {"cuda": "nccl", "hpu": "hccl"}.get(MACHINE, "gloo")
    names = [part.split(":")[-1] for part in backend.split(",")]
    for name in names:
        if name not in BACKENDS:
            if MACHINE == "hpu":
                broken("hpu.backend", f"processes on Gaudi meet over hccl, once habana_frameworks.torch.distributed.hccl is imported; not {name}")
            raise RuntimeError(f"Distributed package doesn't have {name.upper()} built in")
    if init_method in (None, "env://"):
        for key in ("MASTER_ADDR", "MASTER_PORT", *(("RANK",) if rank < 0 else ()), *(("WORLD_SIZE",) if world_size < 0 else ())):
            if key not in os.environ:
                raise ValueError(f"Error initializing torch.distributed using env:// rendezvous: environment variable {key} expected, but not set")
    STATE.update(
        backend=backend,
        rank=rank if rank >= 0 else int(os.environ.get("RANK", 0)),
        size=world_size if world_size >= 0 else int(os.environ.get("WORLD_SIZE", 1)),
    )
    if MACHINE == "hpu" and backend == "hccl":
        kept("hpu.backend")
    record("init_process_group", backend=backend, init_method=init_method, timeout=str(timeout) if timeout else None)


def get_rank(group=None):
    return STATE.get("rank", 0)


def get_world_size(group=None):
    return STATE.get("size", 1)


def _backend(what):
    """Of the group that there must be. The words are PyTorch's; what the program asked for stands in the contract."""
    if not STATE:
        broken("torch.process-group", f"{what} without a process group: nothing has called init_process_group, or a port took it away")
        raise ValueError("Default process group has not been initialized, please make sure to call init_process_group.")
    return STATE["backend"]


def get_backend(group=None):
    return _backend("get_backend")


def _there(what, tensor):
    kind = {"nccl": "cuda", "hccl": "hpu"}.get(_backend(what))
    if kind and tensor.device.type != kind:
        raise RuntimeError(f"No backend type associated with device type {tensor.device.type}")


class Work:
    """What a call that does not wait gives back."""

    def wait(self, *_):
        return True

    def is_completed(self):
        return True


def all_reduce(tensor, op=ReduceOp.SUM, group=None, async_op=False):
    _there("all_reduce", tensor)
    record("all_reduce")
    return Work() if async_op else None


def reduce(tensor, dst, op=ReduceOp.SUM, group=None, async_op=False):
    _there("reduce", tensor)
    record("reduce")
    return Work() if async_op else None


def broadcast(tensor, src=0, group=None, async_op=False):
    _there("broadcast", tensor)
    record("broadcast")


def all_gather(outputs, tensor, group=None, async_op=False):
    _there("all_gather", tensor)
    record("all_gather")


def broadcast_object_list(objects, src=0, **_):
    _backend("broadcast_object_list")


def barrier(group=None, device_ids=None, **_):
    backend = _backend("barrier")
    if device_ids is not None and backend != "nccl":
        raise RuntimeError(f"Function argument device_ids not supported for the selected backend {backend}")
    record("barrier")


def destroy_process_group(group=None):
    record("destroy_process_group")
    STATE.clear()


def new_group(*_, **__):
    return None
