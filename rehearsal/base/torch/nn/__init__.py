"""Modules: parameters, places, shapes; no arithmetic worth the name."""

import math
from collections import OrderedDict

from stand_in_calls import record

from .. import amp
from .._tensor import DTYPES, GradMode, Tensor, device, dtype, together, usable

DEPTH = [0]


class Parameter(Tensor):
    def __init__(self, data, requires_grad=True):
        super().__init__(data.value, data.shape, data.dtype, data.device, requires_grad=requires_grad)


class HookHandle:
    def __init__(self, hooks):
        self.hooks = hooks

    def remove(self):
        self.hooks.pop(self, None)


class Module:
    training = True

    def __init__(self, *_, **__):
        pass

    def __setattr__(self, name, value):
        object.__setattr__(self, name, value)

    def _own(self, kind):
        buffers = self.__dict__.get("_buffer_names", set())
        for name, value in self.__dict__.items():
            if kind == "parameter" and isinstance(value, Parameter):
                yield name, value
            elif kind == "module" and isinstance(value, Module):
                yield name, value
            elif kind == "buffer" and name in buffers and value is not None:
                yield name, value

    def register_buffer(self, name, value, persistent=True):
        self.__dict__.setdefault("_buffer_names", set()).add(name)
        setattr(self, name, value)

    def register_parameter(self, name, value):
        setattr(self, name, value)

    def named_modules(self, prefix=""):
        yield prefix, self
        for name, child in self._own("module"):
            yield from child.named_modules(f"{prefix}.{name}" if prefix else name)

    def modules(self):
        return (module for _, module in self.named_modules())

    def named_children(self):
        return self._own("module")

    def children(self):
        return (child for _, child in self._own("module"))

    def _named(self, kind):
        seen = set()
        for prefix, module in self.named_modules():
            for name, value in module._own(kind):
                if id(value) not in seen:
                    seen.add(id(value))
                    yield (f"{prefix}.{name}" if prefix else name), value

    def named_parameters(self, *_, **__):
        return self._named("parameter")

    def parameters(self, recurse=True):
        return (value for _, value in self._named("parameter"))

    def named_buffers(self):
        return self._named("buffer")

    def buffers(self):
        return (value for _, value in self._named("buffer"))

    def state_dict(self, *_, **__):
        state = OrderedDict()
        for kind in ("parameter", "buffer"):
            for name, value in self._named(kind):
                state[name] = Tensor(value.value, value.shape, value.dtype, value.device)
        return state

    def load_state_dict(self, state, strict=True):
        mine = dict(self._named("parameter")) | dict(self._named("buffer"))
        if strict and set(mine) != set(state):
            raise RuntimeError(f"Error(s) in loading state_dict: {sorted(set(mine) ^ set(state))}")
        for name, value in state.items():
            if name in mine:
                mine[name].value = value.value

    def apply(self, function):
        for module in self.modules():
            function(module)
        return self

    def train(self, mode=True):
        for module in self.modules():
            module.training = mode
        return self

    def eval(self):
        return self.train(False)

    def _place(self, where=None, kind=None):
        for value in [*self.parameters(), *self.buffers()]:
            value.device = where or value.device
            if kind is not None and value.dtype.is_floating_point:
                value.dtype = kind
        return self

    def to(self, *args, **kwargs):
        where, kind = kwargs.get("device"), kwargs.get("dtype")
        for arg in args:
            if isinstance(arg, dtype):
                kind = arg
            elif isinstance(arg, Tensor):
                where = arg.device
            elif arg is not None and not isinstance(arg, bool):
                where = arg
        if where is not None:
            where = usable(where)
            record("Module.to", device=where.type)
        if kind is not None:
            record("Module.to", dtype=kind.name)
        return self._place(where, kind)

    def cuda(self, index=None):
        return self.to(device("cuda", index if isinstance(index, int) else None))

    def cpu(self):
        return self.to("cpu")

    def float(self):
        return self._place(kind=DTYPES["float32"])

    def double(self):
        return self._place(kind=DTYPES["float64"])

    def half(self):
        record("Module.to", dtype="float16")
        return self._place(kind=DTYPES["float16"])

    def bfloat16(self):
        record("Module.to", dtype="bfloat16")
        return self._place(kind=DTYPES["bfloat16"])

    def requires_grad_(self, value=True):
        for parameter in self.parameters():
            parameter.requires_grad = value
        return self

    def zero_grad(self, set_to_none=True):
        record("zero_grad")
        for parameter in self.parameters():
            parameter.grad = None

    def register_forward_hook(self, hook):
        hooks = self.__dict__.setdefault("_forward_hooks", {})
        handle = HookHandle(hooks)
        hooks[handle] = hook
        return handle

    def extra_repr(self):
        return ""

    def forward(self, *_):
        raise NotImplementedError

    def __call__(self, *args, **kwargs):
        tensors = [arg for arg in (*args, *kwargs.values()) if isinstance(arg, Tensor)]
        own = [value for _, value in self._own("parameter")]
        together(*[t for t in tensors if t.shape], *own)
        if DEPTH[0] == 0:
            where = next((value.device.type for value in self.parameters()), tensors[0].device.type if tensors else "cpu")
            name = "loss" if isinstance(self, losses.Loss) else "forward"
            record(
                name, module=type(self).__name__, device=where, grad=GradMode.enabled, training=self.training,
                autocast=amp.ACTIVE[-1] if amp.ACTIVE else None,
            )
        DEPTH[0] += 1
        try:
            result = self.forward(*args, **kwargs)
            for hook in list(self.__dict__.get("_forward_hooks", {}).values()):
                changed = hook(self, args, result)
                result = result if changed is None else changed
            return result
        finally:
            DEPTH[0] -= 1

    def __repr__(self):
        return type(self).__name__ + "()"


def weight(*shape):
    return Parameter(Tensor(0.01, shape))


class _Layer(Module):
    def result(self, x, shape):
        leaves = tuple(p for _, p in self._own("parameter"))
        return x.like(x.value * 0.5 + 0.01, shape, others=leaves)


class Linear(_Layer):
    def __init__(self, in_features, out_features, bias=True, device=None, dtype=None):
        self.in_features, self.out_features = in_features, out_features
        self.weight = weight(out_features, in_features)
        self.bias = weight(out_features) if bias else None
        if device is not None:
            self._place(usable(device))

    def forward(self, x):
        if x.shape[-1] != self.in_features:
            raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({x.shape} and {self.in_features}x{self.out_features})")
        return self.result(x, x.shape[:-1] + (self.out_features,))


def pair(value, n):
    return (value,) * n if isinstance(value, int) else tuple(value)


class _Conv(_Layer):
    dims, transposed = 2, False

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True, **_):
        self.in_channels, self.out_channels = in_channels, out_channels
        self.kernel, self.stride = pair(kernel_size, self.dims), pair(stride, self.dims)
        if padding == "same":
            padding = tuple(k // 2 for k in self.kernel)
        self.padding, self.dilation = pair(padding, self.dims), pair(dilation, self.dims)
        self.weight = weight(out_channels, in_channels // groups, *self.kernel)
        self.bias = weight(out_channels) if bias else None

    def forward(self, x):
        if x.shape[1] != self.in_channels:
            raise RuntimeError(f"expected input{list(x.shape)} to have {self.in_channels} channels, but got {x.shape[1]}")
        space = []
        for n, k, s, p, d in zip(x.shape[2:], self.kernel, self.stride, self.padding, self.dilation):
            space.append((n - 1) * s - 2 * p + k if self.transposed else (n + 2 * p - d * (k - 1) - 1) // s + 1)
        return self.result(x, (x.shape[0], self.out_channels, *space))


class Conv1d(_Conv):
    dims = 1


class Conv2d(_Conv):
    pass


class Conv3d(_Conv):
    dims = 3


class ConvTranspose1d(_Conv):
    dims, transposed = 1, True


class ConvTranspose2d(_Conv):
    transposed = True


class ConvTranspose3d(_Conv):
    dims, transposed = 3, True


class Bilinear(_Layer):
    def __init__(self, in1_features, in2_features, out_features, bias=True, **_):
        self.out_features = out_features
        self.weight = weight(out_features, in1_features, in2_features)
        self.bias = weight(out_features) if bias else None

    def forward(self, a, b):
        return self.result(a, a.shape[:-1] + (self.out_features,)).like(others=(b,))


class _Norm(_Layer):
    def __init__(self, features, *_, affine=True, track_running_stats=True, **__):
        features = features if isinstance(features, int) else math.prod(features)
        self.weight, self.bias = weight(features), weight(features)
        if track_running_stats and not isinstance(self, (LayerNorm, GroupNorm)):
            self.register_buffer("running_mean", Tensor(0.0, (features,)))
            self.register_buffer("running_var", Tensor(1.0, (features,)))
            self.register_buffer("num_batches_tracked", Tensor(0, (), DTYPES["int64"]))

    def forward(self, x):
        return self.result(x, x.shape)


class LayerNorm(_Norm):
    pass


class GroupNorm(_Norm):
    def __init__(self, groups, channels, **_):
        super().__init__(channels)


class BatchNorm1d(_Norm):
    pass


class BatchNorm2d(_Norm):
    pass


class BatchNorm3d(_Norm):
    pass


class InstanceNorm1d(_Norm):
    pass


class InstanceNorm2d(_Norm):
    pass


class InstanceNorm3d(_Norm):
    pass


class RMSNorm(_Layer):
    def __init__(self, normalized_shape, *_, elementwise_affine=True, **__):
        features = normalized_shape if isinstance(normalized_shape, int) else math.prod(normalized_shape)
        self.weight = weight(features) if elementwise_affine else None

    def forward(self, x):
        return self.result(x, x.shape)


class SyncBatchNorm(_Norm):
    @staticmethod
    def convert_sync_batchnorm(module):
        record("convert_sync_batchnorm")
        return module


class Embedding(_Layer):
    def __init__(self, count, size, **_):
        self.size, self.weight = size, weight(count, size)

    def forward(self, x):
        return self.result(x.float(), x.shape + (self.size,))

    @classmethod
    def from_pretrained(cls, embeddings, freeze=True, **_):
        made = cls(*embeddings.shape)
        made.weight = Parameter(embeddings, requires_grad=not freeze)
        return made


class EmbeddingBag(Embedding):
    def forward(self, x, offsets=None, *_):
        rows = x.shape[:1] if offsets is None else offsets.shape
        return self.result(x.float(), rows + (self.size,))


class Flatten(Module):
    def __init__(self, start_dim=1, end_dim=-1):
        self.start = start_dim

        self.end = end_dim

    def forward(self, x):
        return x.flatten(self.start, self.end)


class Unflatten(Module):
    def __init__(self, dim, unflattened_size):
        self.dim, self.sizes = dim, unflattened_size

    def forward(self, x):
        return x.unflatten(self.dim, self.sizes)


class Sequential(Module):
    def __init__(self, *modules):
        items = modules[0].items() if len(modules) == 1 and isinstance(modules[0], dict) else enumerate(modules)
        for name, module in items:
            setattr(self, str(name), module)

    def __iter__(self):
        return self.children()

    def __len__(self):
        return len(list(self.children()))

    def __getitem__(self, index):
        return list(self.children())[index]

    def append(self, module):
        setattr(self, str(len(self)), module)
        return self

    def forward(self, x):
        for module in self.children():
            x = module(x)
        return x


class ModuleList(Sequential):
    def __init__(self, modules=()):
        for index, module in enumerate(modules or ()):
            setattr(self, str(index), module)

    def extend(self, modules):
        for module in modules:
            self.append(module)
        return self


class ModuleDict(Module):
    def __init__(self, modules=None):
        for name, module in (modules or {}).items():
            setattr(self, name, module)

    def __getitem__(self, name):
        return getattr(self, name)

    def __setitem__(self, name, module):
        setattr(self, name, module)

    def keys(self):
        return dict(self._own("module")).keys()

    def values(self):
        return dict(self._own("module")).values()

    def items(self):
        return dict(self._own("module")).items()

    def __iter__(self):
        return iter(self.keys())

    def __len__(self):
        return len(self.keys())

    def __contains__(self, name):
        return name in self.keys()


class ParameterList(Module):
    def __init__(self, parameters=()):
        for index, parameter in enumerate(parameters):
            setattr(self, str(index), parameter)

    def append(self, parameter):
        setattr(self, str(len(self)), parameter)
        return self

    def __getitem__(self, index):
        return [parameter for _, parameter in self._own("parameter")][index]

    def __iter__(self):
        return (parameter for _, parameter in self._own("parameter"))

    def __len__(self):
        return len(list(iter(self)))


class ParameterDict(ParameterList):
    def __init__(self, parameters=None):
        for name, parameter in dict(parameters or {}).items():
            setattr(self, name, parameter)

    def __setitem__(self, name, parameter):
        setattr(self, name, parameter)

    def __getitem__(self, name):
        return getattr(self, name)

    def items(self):
        return dict(self._own("parameter")).items()


class DataParallel(Module):
    def __init__(self, module, device_ids=None, **_):
        record("DataParallel")
        self.module = module

    def forward(self, *args, **kwargs):
        return self.module(*args, **kwargs)


from .activations import *  # noqa: E402,F401,F403
from .attention import *  # noqa: E402,F401,F403
from .losses import *  # noqa: E402,F401,F403
from .pooling import *  # noqa: E402,F401,F403
from .recurrent import *  # noqa: E402,F401,F403
from . import functional, init, parallel, utils  # noqa: E402,F401
