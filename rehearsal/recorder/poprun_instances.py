"""The other instances of one run under poprun, reached over gloo.

`STAND_IN_STORE=FILE` says where they find each other, poprun's variables which one this is of how many. Without the file this process is
alone, whatever its options say. The group is none of the program's own: `torch.distributed` is left to it.
"""

import os

_group = []


def _number(name):
    return int(os.environ.get(f"POPDIST_{name}", "1"))


def count():
    """How many processes take part."""
    return _number("NUM_TOTAL_REPLICAS") // _number("NUM_LOCAL_REPLICAS") if os.environ.get("STAND_IN_STORE") else 1


def index():
    return int(os.environ.get("POPDIST_REPLICA_INDEX_OFFSET", "0")) // _number("NUM_LOCAL_REPLICAS")


def group():
    """The processes, joined at the first call."""
    if not _group:
        from datetime import timedelta

        import torch.distributed as dist

        store = dist.FileStore(os.environ["STAND_IN_STORE"] + ".gradients", count())
        _group.append(dist.ProcessGroupGloo(store, index(), count(), timedelta(seconds=300)))
    return _group[0]


def gathered(tensors, mean):
    """Each tensor becomes the sum or the mean of those of all processes, added in the same order everywhere, so that all have the same
    to the last bit."""
    import torch

    if count() == 1:
        return
    for tensor in tensors:
        every = [torch.empty_like(tensor) for _ in range(count())]
        group().allgather([every], [tensor.contiguous()]).wait()
        total = every[0]
        for other in every[1:]:
            total = total + other
        tensor.copy_(total / count() if mean else total)


def wait():
    if count() > 1:
        group().barrier().wait()
