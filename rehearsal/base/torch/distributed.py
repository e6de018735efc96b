"""One process that believes it is one of several."""

import datetime
import os

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
    record("init_process_group", backend=backend, init_method=init_method, timeout=str(timeout) if timeout else None)


def get_rank(group=None):
    return STATE.get("rank", 0)


def get_world_size(group=None):
    return STATE.get("size", 1)


def get_backend(group=None):
    return STATE["backend"]


def _there(tensor):
    kind = {"nccl": "cuda", "hccl": "hpu"}.get(STATE["backend"])
    if kind and tensor.device.type != kind:
        raise RuntimeError(f"No backend type associated with device type {tensor.device.type}")


def all_reduce(tensor, op=ReduceOp.SUM, group=None, async_op=False):
    _there(tensor)
    record("all_reduce")


def reduce(tensor, dst, op=ReduceOp.SUM, group=None):
    all_reduce(tensor)


def broadcast(tensor, src=0, group=None):
    _there(tensor)
    record("broadcast")


def all_gather(outputs, tensor, group=None):
    _there(tensor)
    record("all_gather")


def broadcast_object_list(objects, src=0, **_):
    pass


def barrier(group=None, device_ids=None, **_):
    if device_ids is not None and STATE["backend"] != "nccl":
        raise RuntimeError(f"Function argument device_ids not supported for the selected backend {STATE['backend']}")
    record("barrier")


def destroy_process_group(group=None):
    record("destroy_process_group")
    STATE.clear()


def new_group(*_, **__):
    return None
