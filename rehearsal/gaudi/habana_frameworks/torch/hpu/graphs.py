"""HPU Graphs: what is captured runs at once, and again with what its tensors hold at each replay. `torch.hpu` has them in lazy mode only.

Source: the bridge, release 1.19, hpu/graphs.py.
"""

import contextlib

import torch
from stand_in_calls import record
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

__all__ = ["HPUGraph", "ModuleCacher", "graph", "make_graphed_callables", "wrap_in_hpu_graph"]

# The captures that are open: no `mark_step()` belongs in one.
CAPTURING = []


class _Tape(TorchDispatchMode):
    """Below autograd: backward and the optimizer's step are calls like others."""

    def __init__(self):
        super().__init__()
        self.calls = []

    def __torch_dispatch__(self, call, types, args=(), kwargs=None):
        found = call(*args, **(kwargs or {}))
        self.calls.append((call, args, kwargs or {}, found))
        return found


class HPUGraph:
    def __init__(self):
        self._tape = None

    def capture_begin(self, dry_run=False):
        record("HPUGraph.capture_begin")
        self._tape = _Tape()
        self._tape.__enter__()
        CAPTURING.append(self)

    def capture_end(self):
        record("HPUGraph.capture_end")
        CAPTURING.remove(self)
        self._tape.__exit__(None, None, None)

    def replay(self, asynchronous=False):
        record("HPUGraph.replay")
        with torch.no_grad(), torch._C.DisableTorchFunction():
            for call, args, kwargs, found in self._tape.calls:
                for old, new in zip(tree_leaves(found), tree_leaves(call(*args, **kwargs))):
                    # What was changed in place, and a view of it, is there already.
                    if isinstance(old, torch.Tensor) and old.data_ptr() != new.data_ptr():
                        old.copy_(new)


@contextlib.contextmanager
def graph(hpu_graph, stream=None, dry_run=False):
    hpu_graph.capture_begin(dry_run)
    try:
        yield
    finally:
        hpu_graph.capture_end()


# These choose by the shapes of a call which graph to replay; here each call computes.


def wrap_in_hpu_graph(module, asynchronous=False, disable_tensor_cache=False, dry_run=False, max_graphs=None):
    record("wrap_in_hpu_graph")
    return module


def make_graphed_callables(callables, sample_args, warmups=0, allow_unused_input=False, **_):
    record("make_graphed_callables")
    for one, args in zip(callables, sample_args) if isinstance(callables, tuple) else [(callables, sample_args)]:
        if isinstance(one, torch.nn.Module):
            assert not (one._backward_hooks or one._forward_hooks or one._forward_pre_hooks), "Modules must not have hooks registered"
            assert not any(buffer.requires_grad for buffer in one.buffers()), "only parameters may be trainable"
        assert all(isinstance(arg, torch.Tensor) for arg in args), "sample_args for each callable must be a tuple of Tensors"
    return callables


class ModuleCacher:
    def __init__(self, max_graphs=10):
        self.max_graphs = max_graphs

    def __call__(self, model, inplace=True, **_):
        record("ModuleCacher")
        return model
