"""Mixed precision: says which was asked for."""

from contracts import broken, expect
from stand_in_calls import MACHINE, record

from ._tensor import DTYPES, READY, device as make_device

ACTIVE = []


def no_cuda_here(what):
    """On a Gaudi machine a CUDA call left in the program is a fault of the port."""
    if MACHINE == "hpu":
        broken("hpu.no-cuda", f"{what} for CUDA on a machine with HPU")
        raise AssertionError(f"{what}: CUDA mixed precision on a machine with HPU")


class autocast:
    def __init__(self, device_type, dtype=None, enabled=True, cache_enabled=None):
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        make_device(device_type)
        if device_type == "cuda" and enabled:
            no_cuda_here("torch.autocast")
        default = "float16" if device_type == "cuda" else "bfloat16"
        self.device_type, self.enabled = device_type, enabled
        self.dtype = dtype or DTYPES[default]
        if device_type == "hpu" and enabled and self.dtype.name not in ("bfloat16", "float16"):
            raise RuntimeError("autocast on hpu knows bfloat16 and float16")

    def __enter__(self):
        if self.enabled:
            if MACHINE == "hpu" and "hpu" in READY:
                expect("hpu.autocast-device", self.device_type == "hpu", f"autocast for {self.device_type}: what runs on hpu keeps its precision")
            record("autocast", device=self.device_type, dtype=self.dtype.name)
            ACTIVE.append(self.dtype.name)
        return self

    def __exit__(self, *_):
        if self.enabled:
            ACTIVE.pop()
        return False

    def __call__(self, function):
        def wrapped(*args, **kwargs):
            with self:
                return function(*args, **kwargs)

        return wrapped


class GradScaler:
    def __init__(self, device="cuda", init_scale=65536.0, enabled=True, **_):
        if device == "cuda" and enabled:
            no_cuda_here("GradScaler")
        self.device, self._enabled = device, enabled and MACHINE == "cuda"
        self._scale = init_scale

    def is_enabled(self):
        return self._enabled

    def _say(self, what):
        if self._enabled:
            record(f"GradScaler.{what}")

    def scale(self, loss):
        self._say("scale")
        return loss

    def unscale_(self, optimizer):
        self._say("unscale_")

    def step(self, optimizer, *args, **kwargs):
        self._say("step")
        return optimizer.step(*args, **kwargs)

    def update(self, new_scale=None):
        self._say("update")

    def get_scale(self):
        return self._scale if self._enabled else 1.0

    def state_dict(self):
        return {"scale": self._scale} if self._enabled else {}

    def load_state_dict(self, state):
        if self._enabled and not state:
            raise RuntimeError("The source state dict is empty, possibly because it was saved from a disabled instance of GradScaler.")


def custom_fwd(function=None, **_):
    return function or (lambda f: f)


custom_bwd = custom_fwd


def is_autocast_available(device_type):
    return device_type in ("cpu", "cuda", "hpu")
