"""The fork for Gaudi: one process, and an engine that alone computes gradients and steps.

Source: DeepSpeed 0.14.0, runtime/engine.py (`backward`, `step`), runtime/zero/stage_1_and_2.py (`DeepSpeedZeroOptimizer.step`: a
closure is not called, and without the gradients that the engine's `backward` leaves there the norm is a KeyError),
runtime/bf16_optimizer.py (a closure is refused), runtime/config.py (bf16 and fp16 exclude each other).
"""

import logging
import types

import torch
from contracts import refused
from stand_in_calls import record

__version__ = "0.14.0+hpu.synapse.v1.16.0"
utils = types.SimpleNamespace(logging=types.SimpleNamespace(logger=logging.getLogger("DeepSpeed")))
checkpointing = types.SimpleNamespace(configure=lambda *_, **__: None)


def init_distributed(dist_backend=None, **_):
    """On Gaudi its processes communicate through HCCL."""
    if dist_backend != "hccl":
        raise refused("hpu.deepspeed", f"dist_backend={dist_backend!r}: Gaudi's processes communicate through hccl")
    if not torch.distributed.is_initialized():
        torch.distributed.init_process_group(dist_backend)


def _on(config, kind):
    return bool(config.get(kind, {}).get("enabled"))


class _Optimizer:
    """ZeRO's, which has gradients only from the engine."""

    def __init__(self, optimizer, zero):
        self.optimizer, self.zero, self.ready = optimizer, zero, False
        self.param_groups, self.state, self.defaults = optimizer.param_groups, optimizer.state, optimizer.defaults

    def zero_grad(self, set_to_none=True):
        self.optimizer.zero_grad(set_to_none)

    def step(self, closure=None):
        if closure is not None and not self.zero:
            raise NotImplementedError("BF16_Optimizer does not support closure.")
        if not self.ready:
            raise refused("hpu.deepspeed", "step() without the engine's backward(): DeepSpeed calls no closure, so there are no gradients")
        self.optimizer.step()
        self.ready = False

    def state_dict(self):
        return self.optimizer.state_dict()


class DeepSpeedEngine(torch.nn.Module):
    """The engine: `backward` and `step` are its own."""

    lr_scheduler = None

    def __init__(self, module, optimizer, config):
        super().__init__()
        self.module, self.config, self.count = module, config, 0
        zero = config.get("zero_optimization", {}).get("stage", 0) > 0
        self.optimizer = optimizer and (_Optimizer(optimizer, zero) if zero or _on(config, "bf16") else optimizer)
        if _on(config, "bf16"):
            module.to(torch.bfloat16)
        record("deepspeed.initialize", stage=config.get("zero_optimization", {}).get("stage", 0), bf16=_on(config, "bf16"))

    def forward(self, *args, **kwargs):
        return self.module(*args, **kwargs)

    def backward(self, loss, **_):
        (loss / self.config.get("gradient_accumulation_steps", 1)).backward()
        if isinstance(self.optimizer, _Optimizer):
            self.optimizer.ready = True

    def step(self, **_):
        self.count += 1
        if self.count % self.config.get("gradient_accumulation_steps", 1) == 0:
            self.optimizer.step()
            self.optimizer.zero_grad()


def initialize(args=None, model=None, optimizer=None, model_parameters=None, lr_scheduler=None, config=None, **_):
    if _on(config, "bf16") and _on(config, "fp16"):
        raise AssertionError("bfloat16 and fp16 modes cannot be simultaneously enabled")
    engine = DeepSpeedEngine(model, optimizer, config)
    return engine, engine.optimizer, None, lr_scheduler
