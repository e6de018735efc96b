"""Faults the real PopTorch is silent about: work that goes on on the host beside the wrapped model, and what a compiled program forgets.

A model that is called without its wrapper runs on the host's CPU; `step()` of the optimizer changes weights of the host; a scheduler
changes a rate that the IPU does not know; a tensor that `forward` leaves in an attribute is one of the graph and never has a value again.
Sources: https://docs.graphcore.ai/projects/poptorch-user-guide, `python/_poplar_executor.py` and `python/_impl.py` (buffers that are
assigned anew) in https://github.com/graphcore/poptorch, release 3.3.
"""

import contextlib
import functools
import types
import weakref

import torch
from contracts import broken, require

# What watching a model writes into it, and no pickle keeps.
_NOTES = ("_came_through", "_wrapped_by")


def plain_class(model):
    return next(kind for kind in type(model).__mro__ if not kind.__dict__.get("_watches", False))


def wrapped_for_training(model):
    return getattr(type(model), "_trains", False)


def wrapped(executor, model):
    """From now on the model knows that it has a wrapper."""
    kind = plain_class(model)
    trains = executor._training or wrapped_for_training(model)
    trainer = weakref.ref(executor) if executor._training else getattr(type(model), "_trainer", None)

    class Wrapped(kind):
        _watches, _trains, _trainer = True, trains, trainer

        def __call__(self, *args, **kwargs):
            from .executor import TRACING

            if not TRACING:
                through = self.__dict__.get("_came_through")
                if through is not None:
                    name, (file, line) = through
                    broken("ipu.wrapper-lost", f"the unwrapped model runs, on the host: .{name}() at {file}:{line} returned it instead of the wrapper")
                elif self.training and torch.is_grad_enabled():
                    broken("ipu.wrapper-lost", "the unwrapped model is trained on the host, in addition to its wrapper")
            return super().__call__(*args, **kwargs)

        def __reduce_ex__(self, protocol):
            return object.__new__, (kind,), {name: value for name, value in self.__dict__.items() if name not in _NOTES}

        def __deepcopy__(self, memo):
            import copy

            other = object.__new__(kind)
            memo[id(self)] = other
            other.__dict__.update(copy.deepcopy({name: value for name, value in self.__dict__.items() if name not in _NOTES}, memo))
            return other

    if trainer is not None:
        Wrapped.copyWeightsToHostIfNeeded = lambda self: trainer().copyWeightsToHostIfNeeded() if trainer() is not None else False
        Wrapped._host_weights_version = property(lambda self: trainer()._host_weights_version if trainer() is not None else None)
        Wrapped.destroy = lambda self: trainer().destroy() if trainer() is not None else None
    Wrapped.__name__, Wrapped.__qualname__, Wrapped.__module__ = kind.__name__, kind.__qualname__, kind.__module__
    model.__class__ = Wrapped


def unwrapped(model):
    model.__class__ = plain_class(model)


# ------------------------------------------------------------------ while forward is recorded


def attributes(model):
    """Which tensors each module holds in attributes that are neither parameters nor buffers."""
    return {id(value) for module in model.modules() for value in vars(module).values() if isinstance(value, torch.Tensor)}


def check_kept_tensors(model, program, before):
    """A tensor of the graph that outlives `forward` in an attribute."""
    for name, module in model.named_modules():
        for key, value in vars(module).items():
            if isinstance(value, torch.Tensor) and id(value) not in before and id(value) in program.made:
                broken("ipu.kept-tensors", f"forward leaves a tensor in {name + '.' if name else ''}{key}: it belongs to the compiled graph and has "
                       "no value on the host; return it")


def check_buffers(model, weights, program, options):
    """A buffer is written with `copy_` and its like, never assigned, and with several replicas only where that is allowed."""
    norms = torch.nn.modules.batchnorm._NormBase
    for prefix, module in model.named_modules():
        if isinstance(module, norms):
            continue
        for name, buffer in module.named_buffers(prefix=prefix, recurse=False):
            require("ipu.buffers", weights.get(name, buffer) is buffer,
                    f"forward reassigns the buffer {name}: write into it with copy_()")
    for name in weights:
        if isinstance(weights[name], torch.nn.Parameter):
            continue
        slot = program.weights[name]
        written = any(slot in call.reads[:1] and call.name.endswith("_") and not call.name.startswith("__") and weights[name].is_floating_point()
                      for call in program.calls)
        require("ipu.buffers", not (written and options.replication_factor > options.input_group_size and options.broadcast_buffers),
                f"forward writes the buffer {name} in each of {options.replication_factor} replicas, which PopTorch does not synchronize: "
                "options.broadcastBuffers(False) lets them differ")


@contextlib.contextmanager
def custom_functions_seen():
    """`torch.autograd.Function` in forward: its operations are compiled, its `backward` is not."""
    apply = torch.autograd.Function.__dict__["apply"]
    validate = torch.distributions.Distribution._validate_args
    torch.distributions.Distribution.set_default_validate_args(False)

    def seen(cls, *args, **kwargs):
        if not cls.__module__.startswith("torch."):
            broken("ipu.custom-functions", f"{cls.__name__}.backward() is not compiled: PopART derives the operations of its forward()")
        return apply.__func__(cls, *args, **kwargs)

    torch.autograd.Function.apply = classmethod(seen)
    try:
        yield
    finally:
        torch.autograd.Function.apply = apply
        torch.distributions.Distribution.set_default_validate_args(validate)


# ------------------------------------------------------------------ optimizers and schedulers of the host


def optimizer_given(optimizer, executor):
    """`step()` and `zero_grad()` of an optimizer that the IPU has are faults."""
    optimizer.__dict__["_ipu_executor"] = weakref.ref(executor)
    if "_watched" in optimizer.__dict__:
        return
    for name in ("step", "zero_grad"):
        setattr(optimizer, name, types.MethodType(host_call(name, getattr(type(optimizer), name)), optimizer))
    optimizer.__dict__["_watched"] = True


def host_call(name, function):
    @functools.wraps(function)
    def wrapped(self, *args, **kwargs):
        broken(f"ipu.optimizer-{'step' if name == 'step' else 'zero-grad'}",
               f"{name}() on the host: the call of the wrapped model {'ran the step' if name == 'step' else 'returns no gradients here'}")
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
        result = function(self, *args, **kwargs)
        executor = getattr(getattr(self, "optimizer", None), "__dict__", {}).get("_ipu_executor")
        if executor is not None and executor() is not None and getattr(self, "last_epoch", 1) != 0:
            executor().scheduler_stepped()
        return result

    return wrapped


schedulers_watched()
