import contextlib

from stand_in_calls import record


def range_push(_):
    record("torch.cuda.nvtx")


def range_pop():
    record("torch.cuda.nvtx")


@contextlib.contextmanager
def range(_):
    record("torch.cuda.nvtx")
    yield
