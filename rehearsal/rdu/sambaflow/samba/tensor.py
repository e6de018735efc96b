"""A tensor with the name by which the compiled program knows it.

Source: `samba.randn`, `samba.from_torch_tensor`, `samba.to_torch` as used in https://github.com/sambanova/tutorials.
"""

import torch
import twin
from contracts import refused, require


class SambaTensor:
    """Shape and type of a torch tensor, under a name; the values are fetched by `samba.to_torch`."""

    def __init__(self, data, name=None, batch_dim=None):
        self.torch_tensor, self.sn_name, self.batch_dim = data, name, batch_dim
        self.host_memory, self.sn_grad = True, None

    shape = property(lambda self: self.torch_tensor.shape)
    dtype = property(lambda self: self.torch_tensor.dtype)
    sn_data = property(lambda self: self.torch_tensor)
    data = property(lambda self: self.torch_tensor)

    @property
    def requires_grad(self):
        return self.torch_tensor.requires_grad

    @requires_grad.setter
    def requires_grad(self, value):
        self.torch_tensor.requires_grad = value

    def requires_grad_(self, value=True):
        self.torch_tensor.requires_grad_(value)
        return self

    def size(self, *args):
        return self.torch_tensor.size(*args)

    def __getitem__(self, index):
        return SambaTensor(self.torch_tensor[index], self.sn_name, self.batch_dim)

    def dim(self):
        return self.torch_tensor.dim()

    def _as(self, kind):
        return SambaTensor(getattr(self.torch_tensor, kind)(), self.sn_name, self.batch_dim)

    def bfloat16(self):
        return self._as("bfloat16")

    def float(self):
        return self._as("float")

    def long(self):
        return self._as("long")

    def int(self):
        return self._as("int")

    def short(self):
        return self._as("short")

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise refused("rdu.to-torch", f".{name} of an RDU tensor: convert it with samba.to_torch first")

    def __float__(self):
        raise refused("rdu.to-torch", "float() of an RDU tensor: convert it with samba.to_torch first")


def from_torch_tensor(tensor, name=None, batch_dim=None):
    require("rdu.host-tensors", isinstance(tensor, torch.Tensor), f"from_torch_tensor takes a torch tensor, not {type(tensor).__name__}")
    require("rdu.host-tensors", tensor.device.type == "cpu", f"a tensor on {tensor.device} must be moved to the host before the RDU")
    if twin.precision() == "float32" and tensor.dtype in (torch.float16, torch.bfloat16):
        tensor = tensor.float()
    return SambaTensor(tensor, name, batch_dim)


from_torch = from_torch_tensor


def to_torch(tensor):
    if isinstance(tensor, (tuple, list)):
        return type(tensor)(to_torch(item) for item in tensor)
    return tensor.torch_tensor if isinstance(tensor, SambaTensor) else tensor


def _dummy(function):
    def made(*shape, name=None, batch_dim=None, requires_grad=False, **options):
        shape = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
        data = function(*shape, **options)
        if requires_grad:
            data.requires_grad_(True)
        return SambaTensor(data, name, batch_dim)

    return made


randn, rand, zeros, ones = (_dummy(getattr(torch, kind)) for kind in ("randn", "rand", "zeros", "ones"))


def randint(*limits, name=None, batch_dim=None, **options):
    return SambaTensor(torch.randint(*limits, **options), name, batch_dim)
