"""A stand-in for torch: constant tensors on devices that are kept apart. See the README two folders up."""

import builtins
import math
import random as _random

from stand_in_calls import MACHINE, record

from . import _shapes
from ._shapes import cdist, einsum, hstack, meshgrid, vstack  # noqa: F401
from ._tensor import (  # noqa: F401
    DTYPES, ELEMENTWISE, READY, GradMode, Size, Tensor, device, dtype, enable_grad, inference_mode, no_grad, numbers, set_grad_enabled,
    shape_of, together, usable,
)

__version__ = "2.7.0"

for _name, _dtype in DTYPES.items():
    globals()[_name] = _dtype
float, half, double, long, int = DTYPES["float32"], DTYPES["float16"], DTYPES["float64"], DTYPES["int64"], DTYPES["int32"]
channels_last, contiguous_format, preserve_format = "channels_last", "contiguous_format", "preserve_format"
short, bfloat16 = DTYPES["int16"], DTYPES["bfloat16"]
inf, nan, pi, e = math.inf, math.nan, math.pi, math.e
FloatTensor = LongTensor = lambda data=(): tensor(data)


class Generator:
    def __init__(self, device="cpu"):
        usable(device)

    def manual_seed(self, _):
        return self


def manual_seed(seed):
    _random.seed(seed)
    return Generator()


seed = lambda: 0
initial_seed = lambda: 0
get_rng_state = lambda: Tensor(0)
set_rng_state = lambda _: None


def _made(value, shape, dtype=None, device=None, requires_grad=False, **_):
    shape = shape[0] if len(shape) == 1 and not isinstance(shape[0], _INT) else shape
    return Tensor(value, shape, dtype, usable(device or "cpu"), requires_grad=requires_grad)


_INT = builtins.int


def tensor(data, dtype=None, device=None, requires_grad=False):
    values = numbers(data)
    average = builtins.sum(values) / len(values) if values else 0.0
    if dtype is None:
        flat = data
        while isinstance(flat, (list, tuple)) and flat:
            flat = flat[0]
        dtype = DTYPES["bool"] if isinstance(flat, builtins.bool) else DTYPES["int64" if isinstance(flat, _INT) else "float32"]
    where = usable(device or (data.device if isinstance(data, Tensor) else "cpu"))
    if where.type != "cpu":
        record("Tensor.to", device=where.type)
    return Tensor(average, shape_of(data), dtype, where, requires_grad=requires_grad)


as_tensor = tensor


def from_numpy(array):
    return tensor(array)


def zeros(*shape, **options):
    return _made(0.0, shape, **options)


def ones(*shape, **options):
    return _made(1.0, shape, **options)


def empty(*shape, **options):
    return _made(0.0, shape, **options)


def rand(*shape, **options):
    return _made(0.5, shape, **options)


randn = rand


def full(size, value, **options):
    return _made(value, (size,), **options)


def randint(low, high=None, size=None, **options):
    if size is None:
        low, high, size = 0, low, high
    options.setdefault("dtype", DTYPES["int64"])
    return _made(low, (tuple(size),), **options)


def arange(*limits, **options):
    options.setdefault("dtype", DTYPES["int64"])
    return _made(0, (len(range(*[_INT(n) for n in limits])),), **options)


def linspace(start, end, steps, **options):
    return _made((start + end) / 2, (steps,), **options)


def eye(n, **options):
    return _made(1.0 / n, (n, n), **options)


def randperm(n, **options):
    return arange(n, **options)


def full_like(other, value, dtype=None, device=None, requires_grad=False, **_):
    return Tensor(value, other.shape, dtype or other.dtype, usable(device or other.device), requires_grad=requires_grad)


def zeros_like(other, **options):
    return full_like(other, 0.0, **options)


def ones_like(other, **options):
    return full_like(other, 1.0, **options)


empty_like = zeros_like


def rand_like(other, **options):
    return full_like(other, 0.5, **options)


randn_like = rand_like


def randint_like(other, low, high=None, **options):
    return full_like(other, 0 if high is None else low, **options)


def normal(mean=0.0, std=1.0, size=None, **options):
    given = mean if isinstance(mean, Tensor) else std if isinstance(std, Tensor) else None
    return given.like() if given is not None else _made(mean, (size or (),), **options)


def bernoulli(input, *_, **__):
    return input.like()


def multinomial(input, num_samples, *_, **__):
    return input.like(0, (*input.shape[:-1], num_samples), DTYPES["int64"])


def logspace(start, end, steps, base=10.0, **options):
    return _made(base ** ((start + end) / 2), (steps,), **options)


def tril_indices(row, col, offset=0, **options):
    options.setdefault("dtype", DTYPES["int64"])
    return _made(0, (2, builtins.sum(builtins.min(builtins.max(i + 1 + offset, 0), col) for i in range(row))), **options)


def cat(tensors, dim=0):
    tensors = list(tensors)
    together(*tensors)
    shape = list(tensors[0].shape)
    shape[dim] = builtins.sum(t.shape[dim] for t in tensors)
    return tensors[0].like(shape=shape, others=tensors)


concat = cat


def stack(tensors, dim=0):
    tensors = list(tensors)
    together(*tensors)
    shape = list(tensors[0].shape)
    shape.insert(dim, len(tensors))
    return tensors[0].like(shape=shape, others=tensors)


def where(condition, a, b):
    chosen, other = (a, b) if condition.value else (b, a)
    shapes = [t.shape for t in (condition, a, b) if isinstance(t, Tensor)]
    together(*[t for t in (condition, a, b) if isinstance(t, Tensor)])
    shape = builtins.max(shapes, key=math.prod)
    if not isinstance(chosen, Tensor):
        kind = DTYPES["bool"] if isinstance(chosen, builtins.bool) else None
        return condition.like(chosen, shape, kind or DTYPES["float32"])
    return chosen.like(shape=shape, others=(other,))


def _method(name):
    def function(first=None, *args, **kwargs):
        first = kwargs.pop("input") if first is None else first
        if not isinstance(first, Tensor):
            other = next((arg for arg in args if isinstance(arg, Tensor)), None)
            if other is None:
                raise TypeError(f"{name}(): argument 'input' must be Tensor, not {type(first).__name__}")
            first = Tensor(first, (), other.dtype, other.device)
        return getattr(first, name)(*args, **kwargs)

    function.__name__ = name
    return function


for _name in (
    *"sum mean max min any all argmax chunk split softmax flatten squeeze unsqueeze std clamp topk norm reshape transpose permute unbind "
    "clone detach numel t".split(), *ELEMENTWISE, *_shapes.attach(Tensor),
):
    globals()[_name] = _method(_name)


def is_tensor(value):
    return isinstance(value, Tensor)


def allclose(a, b, *_, **__):
    return builtins.abs(a.value - b.value) < 1e-6


equal = allclose


def is_grad_enabled():
    return GradMode.enabled


def set_num_threads(_):
    pass


def set_float32_matmul_precision(_):
    pass


def use_deterministic_algorithms(*_, **__):
    pass


set_default_dtype = set_default_device = set_printoptions = set_num_interop_threads = set_flush_denormal = use_deterministic_algorithms


def get_default_dtype():
    return DTYPES["float32"]


def get_float32_matmul_precision():
    return "highest"


class finfo:
    """Limits of a dtype."""

    LIMITS = {"float16": (65504.0, 2.0**-10), "bfloat16": (3.39e38, 2.0**-7), "float32": (3.40e38, 2.0**-23), "float64": (1.79e308, 2.0**-52)}

    def __init__(self, dtype=DTYPES["float32"]):
        self.max, self.eps = self.LIMITS[dtype.name]
        self.min, self.tiny = -self.max, 1.0 / self.max


class iinfo:
    """Limits of a dtype of whole numbers."""

    def __init__(self, dtype):
        bits, low = _INT("".join(filter(str.isdigit, dtype.name))), dtype.name.startswith("u")
        self.max, self.min = (2**bits - 1, 0) if low else (2 ** (bits - 1) - 1, -(2 ** (bits - 1)))


def get_num_threads():
    return 1


def compile(model=None, backend="inductor", mode=None, fullgraph=False, dynamic=None, **_):
    if model is None:
        return lambda m: compile(m, backend=backend)
    record("torch.compile", backend=backend)
    return model


def save(state, path, **_):
    import pickle

    record("torch.save")
    if isinstance(path, str) or hasattr(path, "__fspath__"):
        with open(path, "wb") as out:
            pickle.dump(state, out)
    else:
        pickle.dump(state, path)


def _moved(value, target):
    if isinstance(value, Tensor):
        place = target.get(str(value.device), value.device) if isinstance(target, dict) else target
        value.device = usable(place)
        return value
    if isinstance(value, dict):
        return {key: _moved(item, target) for key, item in value.items()}
    if isinstance(value, list):
        return [_moved(item, target) for item in value]
    return value


def load(path, map_location=None, weights_only=None, **_):
    import pickle

    record("torch.load", map_location=str(map_location) if map_location is not None else None)
    with open(path, "rb") as source:
        state = pickle.load(source)
    return state if map_location is None or callable(map_location) else _moved(state, map_location)


from . import nn, optim, cuda, amp, autograd, backends, utils  # noqa: E402,F401
from .amp import autocast  # noqa: E402,F401
from . import distributed, jit, multiprocessing, profiler, quantization, version, _dynamo  # noqa: E402,F401
from . import accelerator, random  # noqa: E402,F401

for _name in "dropout embedding layer_norm batch_norm group_norm conv1d conv2d conv3d cosine_similarity pairwise_distance prelu selu celu".split():
    globals()[_name] = getattr(nn.functional, _name)
