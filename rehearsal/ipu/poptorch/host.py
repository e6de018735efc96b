"""The weights on the host and those on the IPU are two sets; which is newer, and when the one is written over the other.

Source: https://github.com/graphcore/poptorch, release 3.3, `python/_poplar_executor.py`. After a training call the IPU's weights are
newer. Whoever then reads a parameter or a buffer of the model on the host, in whatever way, has them copied first: PopTorch gives
parameters, buffers and the wrapped model classes of its own whose `__getattribute__` does so. Nothing copies in the other direction by
itself but compiling, attaching, and `load_state_dict` of the *wrapper*: what is written into the model on the host stays there, and
is written over at the next reading.
"""

import copy

import torch


def _plain_class(cls):
    """The class under the one that fetches weights."""
    return next(base for base in cls.__mro__ if not base.__dict__.get("_fetches", False))


def classes(executor):
    """Parameter, buffer and model as they are while this executor trains. `executor`: a weak reference to it."""

    def fetch():
        alive = executor()
        if alive is not None:
            alive.copyWeightsToHostIfNeeded()

    def fetching(base):
        class Fetching(base):
            _fetches = True

            def __getattribute__(self, name):
                if name not in ("__class__", "_fetches"):
                    fetch()
                return base.__getattribute__(self, name)

            @classmethod
            def __torch_function__(cls, function, types, args=(), kwargs=None):
                fetch()
                return torch._C._disabled_torch_function_impl(function, types, args, kwargs or {})

            def __deepcopy__(self, memo):
                return as_plain(self, lambda: copy.deepcopy(self, memo))

            def __reduce_ex__(self, protocol):
                return as_plain(self, lambda: self.__reduce_ex__(protocol))

        Fetching.__name__ = Fetching.__qualname__ = f"Poptorch{base.__name__}"
        return Fetching

    return fetching(torch.nn.Parameter), fetching(torch.Tensor)


def as_plain(tensor, function):
    """Calls `function` while the tensor is of PyTorch's own class."""
    mine = type(tensor)
    tensor.copy_  # noqa: B018  (reading any attribute fetches the weights)
    torch.Tensor.__setattr__(tensor, "__class__", _plain_class(mine))
    try:
        return function()
    finally:
        tensor.__class__ = mine


def hooked(model, parameter, buffer):
    for one in model.parameters():
        one.__class__ = parameter
    for one in model.buffers():
        one.__class__ = buffer


def unhooked(model):
    """Parameters and buffers of PyTorch's own classes again. Gives what is needed to undo it."""
    undo = []
    for one in (*model.parameters(), *model.buffers()):
        mine = type(one)
        if getattr(mine, "_fetches", False):
            undo.append((one, mine))
            one.__class__ = _plain_class(mine)
    return undo


def restored(undo):
    for one, mine in undo:
        one.__class__ = mine
