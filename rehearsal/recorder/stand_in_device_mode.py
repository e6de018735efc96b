"""The function mode behind `devices`: each call of PyTorch passes here."""

import functools

import stand_in_random
import torch
import torch.utils.checkpoint
import twin
from contracts import refused
from stand_in_devices import MARK, is_ours, mark, where
from stand_in_calls import MACHINE, PORTED, record
from torch.overrides import TorchFunctionMode

Tensor = torch.Tensor
HERE = torch.device(MACHINE, 0)

# Calls in which tensors of two places may meet: copies and indices.
MIXED = {
    Tensor.copy_, Tensor.__getitem__, Tensor.__setitem__, Tensor.index_put_, Tensor.index_put,
    torch.nn.functional.ctc_loss, Tensor.set_, torch._has_compatible_shallow_copy_type, torch.is_same_size, torch.result_type,
}
# The sizes of the batches in a packed sequence stay on the host: the one tensor of whole numbers that these take.
PACKED = {torch.lstm, torch.gru, torch.rnn_tanh, torch.rnn_relu}


def _tensors(values, found, depth=0):
    for value in values:
        if isinstance(value, Tensor):
            found.append(value)
        elif depth < 3 and isinstance(value, (list, tuple)):
            _tensors(value, found, depth + 1)
        elif depth < 3 and isinstance(value, dict):
            _tensors(value.values(), found, depth + 1)
    return found


def apart(func, tensors):
    """Raises when some of the tensors are on the device and others are not; a number may be anywhere."""
    there = [tensor for tensor in tensors if getattr(tensor, MARK, False)]
    if there and len(there) != len(tensors) and any(tensor.dim() > 0 for tensor in tensors if not getattr(tensor, MARK, False)):
        name = getattr(func, "__name__", str(func))
        raise RuntimeError(f"Expected all tensors to be on the same device, but found at least two devices, {HERE} and cpu! ({name})")
    return bool(there)


# ------------------------------------------------------------------------------------------------ calls with a meaning of their own


def _get_device(call, tensor):
    return HERE if getattr(tensor, MARK, False) else call(tensor)


def _is(device):
    return lambda call, tensor: device == where(tensor) if getattr(tensor, MARK, False) else call(tensor)


def _like_self(call, tensor, *args):
    """An attribute that is a tensor, and lies where its owner does."""
    found = call(tensor, *args)
    return mark(found, bool(getattr(tensor, MARK, False))) if isinstance(found, Tensor) else found


def _set_data(call, tensor, value):
    if where(tensor) != where(value) and tensor.is_leaf and tensor.grad is not None and not hasattr(tensor.grad, MARK):
        setattr(tensor.grad, MARK, where(tensor) != "cpu")  # It stays where it is.
    call(tensor, value)
    mark(tensor, bool(getattr(value, MARK, False)))


def _get_grad(call, tensor):
    found = call(tensor)
    return found if hasattr(found, MARK) else _like_self(lambda _: found, tensor)


def _set_grad(call, tensor, value):
    if isinstance(value, Tensor) and where(value) != where(tensor):
        raise RuntimeError(f"assigned grad has data located on a different device: {where(value)}, and the tensor is on {where(tensor)}")
    call(tensor, value)


def move(tensor, device, dtype, copy, memory_format):
    """`Tensor.to`, differentiable: between two places it copies."""
    there, dtype = is_ours(device), twin.kept(dtype)
    if device is not None and not there and getattr(device, "type", device) != "cpu":
        return Tensor.to(tensor, device)  # Not on this machine: PyTorch says so.
    crosses = device is not None and there != bool(getattr(tensor, MARK, False))
    if crosses:
        record("Tensor.to", device=MACHINE if there else "cpu")
        if there and MACHINE == "hpu":
            from habana_frameworks.torch import lacks

            lacks.dtype(dtype or tensor.dtype)
    result = Tensor.to(tensor, dtype=dtype or tensor.dtype, copy=copy or crosses, memory_format=memory_format or torch.preserve_format)
    return mark(result, there) if device is not None else mark(result, bool(getattr(tensor, MARK, False)))


def _to(call, tensor, *args, **kwargs):
    copy = kwargs.pop("copy", False)
    other = kwargs.pop("other", None)
    if args and isinstance(args[0], Tensor) or other is not None:
        other = other if other is not None else args[0]
        device, dtype, memory_format = torch.device(where(other)), other.dtype, kwargs.get("memory_format")
    else:
        if args and isinstance(args[0], int) and not isinstance(args[0], bool):
            args = (torch.device("xpu" if MACHINE == "xpu" else "cuda", args[0]), *args[1:])
        # to(device, dtype, non_blocking, copy): the parser knows no `copy`.
        if len(args) > 3 or args and isinstance(args[0], torch.dtype) and len(args) > 2:
            copy, args = args[-1], args[:-1]
        device, dtype, _, memory_format = torch._C._nn._parse_to(*args, **kwargs)
    return move(tensor, device, dtype, copy, memory_format)


def _type_as(call, tensor, other):
    return move(tensor, torch.device(where(other)), other.dtype, False, None)


def _cast(dtype):
    return lambda call, tensor, memory_format=None: move(tensor, None, dtype, False, memory_format)


def _cpu(call, tensor, memory_format=None):
    return move(tensor, torch.device("cpu"), None, False, memory_format)


def _to_accelerator(kind):
    def moved(call, tensor, device=None, non_blocking=False, memory_format=None):
        if MACHINE != kind:
            if PORTED and kind == "cuda":
                raise refused(f"{MACHINE}.no-cuda", "Tensor.cuda() on a machine without CUDA")
            return call(tensor)
        return move(tensor, HERE, None, False, memory_format)

    return moved


def _numpy(call, tensor, *args, **kwargs):
    if getattr(tensor, MARK, False):
        raise TypeError(
            f"can't convert {HERE} device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first.")
    return call(tensor, *args, **kwargs)


def _iter(call, tensor):
    return iter(mark(tensor.unbind(0), bool(getattr(tensor, MARK, False))))


def _type(call, tensor, dtype=None, *args, **kwargs):
    if dtype is None:
        kind = call(tensor)
        return kind.replace("torch.", f"torch.{MACHINE}.", 1) if getattr(tensor, MARK, False) else kind
    if isinstance(dtype, str) and dtype.startswith(f"torch.{MACHINE}."):
        return mark(call(tensor, dtype.replace(f"{MACHINE}.", ""), *args, **kwargs))
    if hasattr(dtype, "host"):
        # `tensor.type(torch.cuda.FloatTensor)`, by the class that stands for it
        return mark(call(tensor, dtype.host, *args, **kwargs))
    return _like_self(lambda *_: call(tensor, dtype, *args, **kwargs), tensor)


def _backward(call, tensor, gradient=None, retain_graph=None, create_graph=False, inputs=None):
    torch.autograd.backward(tensor, gradient, retain_graph, create_graph, inputs=inputs)


def _repr(call, tensor, **options):
    text = call(tensor, **options)
    return f"{text[:-1]}, device='{HERE}')" if getattr(tensor, MARK, False) else text


def _pack(call, data, lengths, *args):
    if getattr(lengths, MARK, False):
        raise RuntimeError(f"'lengths' argument should be a 1D CPU int64 tensor, but got {lengths.dim()}D {HERE} Long tensor")
    return _pad(call, data, lengths, *args)


def _pad(call, data, sizes, *args):
    found, lengths = call(data, sizes, *args)
    return mark(found, bool(getattr(data, MARK, False))), lengths


def _as_it_is(call, *args, **kwargs):
    return call(*args, **kwargs)


def _itself(call, tensor, *args, **kwargs):
    return tensor


def _index(call, tensor):
    return 0 if getattr(tensor, MARK, False) else call(tensor)


SPECIAL = {
    Tensor.device.__get__: _get_device, Tensor.is_cpu.__get__: _is("cpu"), Tensor.is_cuda.__get__: _is("cuda"),
    Tensor.grad.__get__: _get_grad, Tensor.data.__get__: _like_self, Tensor.data.__set__: _set_data, Tensor.grad.__set__: _set_grad,
    Tensor.to: _to, Tensor.half: _cast(torch.float16), Tensor.bfloat16: _cast(torch.bfloat16), Tensor.cpu: _cpu, Tensor.cuda: _to_accelerator("cuda"), Tensor.numpy: _numpy, Tensor.__array__: _numpy,
    Tensor.__iter__: _iter, Tensor.__repr__: _repr, Tensor.type: _type, Tensor.type_as: _type_as, Tensor.backward: _backward, Tensor.pin_memory: _itself,
    Tensor.get_device: _index, Tensor.is_pinned: lambda call, tensor, *_: False,
    torch._pack_padded_sequence: _pack, torch._pad_packed_sequence: _pad,
    # It reads the arguments of `Module.to`; a device among them is what it is asked for.
    torch._C._nn._parse_to: _as_it_is,
}
for kind in ("hpu", "xpu"):
    if hasattr(Tensor, kind):
        SPECIAL[getattr(Tensor, kind)] = _to_accelerator(kind)
    if hasattr(getattr(Tensor, f"is_{kind}", None), "__get__"):
        SPECIAL[getattr(Tensor, f"is_{kind}").__get__] = _is(kind)


class Devices(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        special = SPECIAL.get(func)
        if special is not None:
            if special in (_backward, _iter):
                # What these call in turn is for the mode again.
                with self:
                    return special(func, *args, **kwargs)
            return special(func, *args, **kwargs)
        device = kwargs.get("device")
        there = is_ours(device)
        if device is not None:
            if there:
                kwargs = {**kwargs, "device": torch.device("cpu")}
            elif PORTED and getattr(device, "type", str(device)).startswith("cuda"):
                raise refused(f"{MACHINE}.no-cuda", f"{getattr(func, '__name__', func)} on {device}, on a machine without CUDA")
        tensors = _tensors(args, [])
        if kwargs:
            _tensors(kwargs.values(), tensors)
        if func in PACKED:
            tensors = [tensor for tensor in tensors if tensor.is_floating_point()]
        if func in MIXED or _in_backward():
            marked = bool(tensors) and any(getattr(tensor, MARK, False) for tensor in tensors[: 1 if func in MIXED else None])
        else:
            marked = apart(func, tensors)
        if MACHINE == "hpu" and (marked or there):
            lacks().call(func, args, kwargs)
        if there and "pin_memory" in kwargs:
            kwargs.pop("pin_memory")
        on_device = there or marked and device is None
        if getattr(func, "__name__", "") in stand_in_random.DRAWS:
            found = _draw(func, args, kwargs, on_device)
        else:
            found = func(*args, **kwargs)
        if on_device:
            if there:
                record("Tensor.to", device=MACHINE)
            mark(found)
            if there and MACHINE == "hpu" and isinstance(found, Tensor):
                lacks().dtype(found.dtype)
        return found


def _draw(func, args, kwargs, on_device):
    """A call that draws random numbers: on the device from its generator, unless the program names one."""
    generator = kwargs.get("generator")
    if generator is not None and getattr(generator, "of_device", False) != on_device:
        there, given = (MACHINE, "cpu") if on_device else ("cpu", MACHINE)
        raise RuntimeError(f"Expected a '{there}' device type for generator but found '{given}'")
    if on_device and generator is None:
        with stand_in_random.drawn():
            return func(*args, **kwargs)
    return func(*args, **kwargs)


def _in_backward():
    """A function's own `backward`, and what is computed again there, gets gradients that the engine hands over without marks."""
    from torch_calls import DIFFERENTIATING

    return bool(DIFFERENTIATING)


@functools.lru_cache(maxsize=None)
def lacks():
    from habana_frameworks.torch import lacks as rules

    return rules


@functools.lru_cache(maxsize=None)
def mode():
    return Devices()


def install():
    """From here on, in the hooks and functions that PyTorch calls while it computes gradients, too."""
    mode().__enter__()
    engine = getattr(torch.autograd, "_engine_run_backward", None)  # PyTorch 2.0 has it under no name.
    if engine is not None:

        @functools.wraps(engine)
        def run(*args, **kwargs):
            with mode():
                return engine(*args, **kwargs)

        torch.autograd._engine_run_backward = run
    # A checkpoint compares what it computes again with what the engine saved, which has no marks.
    checks = getattr(torch.utils.checkpoint, "_allowed_determinism_checks_to_fns", {})
    if "default" in checks:
        checks["default"] = lambda tensor: (tensor.shape, tensor.dtype)
