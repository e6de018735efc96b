"""Faults the real PopTorch is silent about: work that goes on on the host beside the wrapped model.

A model that is called without its wrapper runs on the host's CPU; `step()` of the optimizer changes weights of the host; a scheduler
changes a rate that the IPU does not know. Source for all three: https://docs.graphcore.ai/projects/poptorch-user-guide, and
`PoplarExecutor.setOptimizer` in https://github.com/graphcore/poptorch.
"""

import contextlib
import functools
import types

import torch
from contracts import broken, place, refused

TRACING = []  # executors whose model is being traced
DATA = ("item", "tolist", "numpy", "__bool__", "__float__", "__int__")


@contextlib.contextmanager
def traced(executor):
    """Within: losses are noted, and a tensor's value cannot be asked for."""
    from . import losses

    kept = {name: vars(torch.Tensor)[name] for name in DATA if name in vars(torch.Tensor)}
    inherited = [name for name in DATA if name not in kept and hasattr(torch.Tensor, name)]
    for name in [*kept, *inherited]:
        setattr(torch.Tensor, name, no_value(name, getattr(torch.Tensor, name)))
    TRACING.append(executor)
    losses.MARKED.clear()
    grad = torch.enable_grad() if executor._training else torch.no_grad()
    try:
        with grad:
            yield
    finally:
        TRACING.pop()
        for name in inherited:
            delattr(torch.Tensor, name)
        for name, value in kept.items():
            setattr(torch.Tensor, name, value)


def no_value(name, function):
    @functools.wraps(function)
    def wrapped(self, *args, **kwargs):
        import sys

        if f"{torch.__name__}/" in sys._getframe(1).f_code.co_filename.replace("\\", "/"):
            return function(self, *args, **kwargs)
        words = {"__bool__": "a test of its value", "__float__": "float()", "__int__": "int()"}
        raise refused("ipu.data-dependent", f"{words.get(name, '.' + name + '()')} on a tensor inside forward: the graph is compiled before "
                      "there are values")

    return wrapped


def bare_calls_watched(executor, model):
    """From now on the model knows that it has a wrapper."""
    if "_executors" in model.__dict__:
        model.__dict__["_executors"].append(executor)
        return
    kind = type(model)

    def call(self, *args, **kwargs):
        if not TRACING and self is model:
            through = self.__dict__.get("_came_through")
            if through is not None:
                name, (file, line) = through
                broken("ipu.wrapper-lost", f"the bare model runs, on the host: .{name}() at {file}:{line} gave it back, not the wrapper")
            elif self.training and torch.is_grad_enabled():
                broken("ipu.wrapper-lost", "the bare model is trained on the host, beside its wrapper")
        return kind.__call__(self, *args, **kwargs)

    model.__class__ = type(kind.__name__, (kind,), {"__call__": call, "__module__": kind.__module__, "__reduce__": reduced(kind)})
    model.__dict__["_executors"] = [executor]


def reduced(kind):
    """Pickled as what it was."""

    def reduce(self):
        state = {k: v for k, v in self.__dict__.items() if k not in ("_executors", "_came_through", "_wrapped_for_training")}
        return (object.__new__, (kind,), state)

    return reduce


def rates(optimizer):
    """The numbers of every group, without its parameters."""
    numbers = (int, float, bool, tuple)
    return [{k: v for k, v in group.items() if isinstance(v, numbers) and k != "initial_lr"} for group in optimizer.param_groups]


def host_steps_watched(optimizer):
    """`step()` and `zero_grad()` of an optimizer that the IPU has are faults."""
    if "_watched" in optimizer.__dict__:
        return
    for name in ("step", "zero_grad"):
        setattr(optimizer, name, types.MethodType(host_call(name, getattr(type(optimizer), name)), optimizer))
    optimizer.__dict__["_watched"] = True


def host_call(name, function):
    @functools.wraps(function)
    def wrapped(self, *args, **kwargs):
        broken(f"ipu.optimizer-{'step' if name == 'step' else 'zero-grad'}",
               f"{name}() on the host: the call of the wrapped model {'made the step' if name == 'step' else 'leaves no gradients here'}")
        return function(self, *args, **kwargs)

    return wrapped


def schedulers_watched():
    """After a scheduler's step the IPU has the old rate."""
    module = torch.optim.lr_scheduler
    for kind in {value for value in vars(module).values() if isinstance(value, type)}:
        if "step" in vars(kind):
            kind.step = noted(kind.step)


def noted(function):
    @functools.wraps(function)
    def wrapped(self, *args, **kwargs):
        before = rates(self.optimizer) if hasattr(self, "optimizer") else None
        result = function(self, *args, **kwargs)
        executor = getattr(getattr(self, "optimizer", None), "__dict__", {}).get("_ipu_executor")
        if executor is not None and before is not None and getattr(self, "last_epoch", 1) != 0:
            executor.scheduler_stepped()
        return result

    return wrapped


schedulers_watched()
