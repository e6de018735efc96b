import contextlib

from .autograd.profiler import profile as _profile


class ProfilerActivity:
    CPU, CUDA, HPU, XPU = "cpu", "cuda", "hpu", "xpu"


class profile(_profile):
    def __init__(self, *, activities=None, **_):
        super().__init__(use_cuda=ProfilerActivity.CUDA in (activities or []))

    def step(self):
        pass


def schedule(**_):
    return None


def tensorboard_trace_handler(_):
    return None


def record_function(_):
    return contextlib.nullcontext()
