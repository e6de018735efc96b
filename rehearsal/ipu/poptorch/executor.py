"""`trainingModel` and `inferenceModel`: the wrapper that stands where the model was.

Source: https://github.com/graphcore/poptorch, `python/_poplar_executor.py`: not an `nn.Module`; unknown attributes are the user
model's (`__getattr__`); outputs refuse `backward()` (`_assign_backward_error`); `python/_args_parser.py`: shapes and types of the first
call hold for all calls, other values are compiled in.
"""

import copy
import os

import torch
from contracts import count_step, expect, place, refused, require, result_is_dropped
from stand_in_calls import record

from . import losses, optim
from .arguments import as_results, flat, micro, signature
from .enums import OutputMode
from .options import Options
from .watch import TRACING, bare_calls_watched, host_steps_watched, rates, traced

HERE = []  # executors that hold IPUs
CONVERSIONS = ("to", "half", "bfloat16", "float", "double", "cuda", "cpu", "train", "eval", "requires_grad_", "apply")


class PoplarExecutor:
    def __init__(self, model, options, training, optimizer):
        if options is not None and not isinstance(options, Options):
            raise refused("ipu.options", f"options is a {type(options).__name__}, not poptorch.Options")
        if not isinstance(model, torch.nn.Module):
            raise refused("ipu.wrapped-model", f"a {type(model).__name__} was to be wrapped, not a torch.nn.Module")
        if options is not None:
            options.freeze()
        self._options = options.clone() if options is not None else Options()
        if not training:
            require("ipu.inference-options", self._options.Training.gradient_accumulation == 1,
                    "an inferenceModel takes options without gradientAccumulation: give it options of its own")
        if self._options.defaultOutputMode():
            self._options.outputMode(OutputMode.Final if training else OutputMode.All)
        self._options.freeze()
        self._training, self._user_model = training, model
        self._wrapped_at = place()
        self._signature = self._constants = None
        self._compiled = self._attached = False
        self._optimizer, self._rates, self._stepped = None, None, False
        if training:
            if getattr(model, "_wrapped_for_training", None) is not None:
                raise refused("ipu.wrapped-twice", "this model is in a trainingModel already: destroy() that one first")
            expect("ipu.optimizer-given", optimizer is not None,
                   "trainingModel without an optimizer trains with SGD(lr=0.01), whatever the program configured")
            self.setOptimizer(optimizer or optim.SGD(model.parameters(), lr=0.01))
        self._mode_at_wrap = model.training
        self._model = copy.copy(model)
        bare_calls_watched(self, model)
        record("poptorch.trainingModel" if training else "poptorch.inferenceModel", module=self.name)

    name = property(lambda self: type(self._user_model).__name__)
    model = property(lambda self: self._user_model)
    options = property(lambda self: self._options)

    def __getattr__(self, name):
        if name.startswith("_") and name not in dir(type(self.__dict__.get("_user_model"))):
            raise AttributeError(name)
        value = getattr(self._user_model, name)
        if name not in CONVERSIONS:
            return value

        def conversion(*args, **kwargs):
            before = [p.dtype for p in self._user_model.parameters()]
            if not result_is_dropped():
                self._user_model.__dict__["_came_through"] = (name, place())
            result = value(*args, **kwargs)
            expect("ipu.static-types", not self._compiled or before == [p.dtype for p in self._user_model.parameters()],
                   f".{name}() changes the weights' type after the model was compiled")
            return result

        return conversion

    # ------------------------------------------------------------------ the optimizer

    def setOptimizer(self, optimizer):
        require("ipu.optimizer-given", self._training, "an inferenceModel has no optimizer")
        kind = optim.kind_of(optimizer)
        require("ipu.optimizer-kind", kind is not None,
                f"{type(optimizer).__name__} cannot be compiled: {', '.join(optim.KINDS)} can")
        own = {id(p) for p in self._user_model.parameters()}
        given = {id(p) for group in optimizer.param_groups for p in group["params"]}
        expect("ipu.optimizer-parameters", given <= own, "the optimizer holds parameters of another model")
        if self._compiled and optimizer is self._optimizer:
            names = optim.frozen(optimizer, self._rates, rates(optimizer))
            require("ipu.variable-rate", not names,
                    f"{', '.join(names)} changed and was compiled in as a constant: give it to the optimizer when that is built")
        self._optimizer, self._rates, self._stepped = optimizer, rates(optimizer), False
        optimizer.__dict__["_ipu_executor"] = self
        host_steps_watched(optimizer)
        record("poptorch.setOptimizer", kind=kind, lr=optimizer.param_groups[0]["lr"])

    def scheduler_stepped(self):
        self._stepped = True

    # ------------------------------------------------------------------ the device

    def isCompiled(self):
        return self._compiled

    def isAttachedToDevice(self):
        return self._attached

    def attachToDevice(self):
        require("ipu.attach", self._compiled, "attachToDevice() before the model was compiled")
        require("ipu.attach", not self._attached, "the model is attached to its device already")
        wanted = self._options.replication_factor
        there = int(os.environ.get("STAND_IN_IPUS", "0")) or (HERE[0]._options.replication_factor if HERE else wanted)
        taken = sum(other._options.replication_factor for other in HERE)
        require("ipu.one-device", taken + wanted <= there,
                f"no IPU is free: {taken} of {there} are held by a model wrapped at "
                f"{HERE[0]._wrapped_at[0] if HERE else '?'}:{HERE[0]._wrapped_at[1] if HERE else 0}; detachFromDevice() it first")
        HERE.append(self)
        self._attached = True
        record("poptorch.attach", training=self._training)

    def detachFromDevice(self):
        require("ipu.attach", self._compiled, "detachFromDevice() before the model was compiled")
        require("ipu.attach", self._attached, "detachFromDevice() of a model that is not attached")
        HERE.remove(self)
        self._attached = False
        record("poptorch.detach", training=self._training)

    def destroy(self):
        if self._attached:
            HERE.remove(self)
        self._attached = self._compiled = False
        self._signature = None
        if self._training:
            self._user_model.__dict__.pop("_wrapped_for_training", None)
        record("poptorch.destroy", training=self._training)

    def copyWeightsToHost(self):
        require("ipu.attach", self._compiled, "copyWeightsToHost() before the model was compiled")

    copyWeightsToHostIfNeeded = lambda self: self._compiled

    def copyWeightsToDevice(self):
        require("ipu.attach", self._compiled, "copyWeightsToDevice() before the model was compiled")

    def load_state_dict(self, state, strict=True):
        return self._user_model.load_state_dict(state, strict=strict)

    def compile(self, *args, **kwargs):
        if not self._compiled:
            self._trace(args, kwargs)
        record("poptorch.compile", module=self.name)

    def compileAndExport(self, filename, *args, **kwargs):
        self.compile(*args, **kwargs)

    def save(self, filename, *_, **__):
        require("ipu.attach", self._compiled, "save() before the model was compiled")

    loadExecutable = save
    cycleCount = lambda self: 0
    rng_state = property(lambda self: [0])

    # ------------------------------------------------------------------ a call

    def _trace(self, args, kwargs):
        """What happens once: the model is run on a micro-batch and its inputs are fixed."""
        modes = {module.training for name, module in self._model.named_modules() if name} | {self._mode_at_wrap}
        right = "train" if self._training else "eval"
        expect("ipu.mode-at-wrap", modes == {self._training},
               f"the model was not wholly in {right}() mode when it was wrapped and compiled: the mode is compiled in")
        outputs = self._pass(args, kwargs)
        self._compiled = True
        self._signature = signature(args, kwargs)
        self._constants = [value for value in flat((args, kwargs)) if not isinstance(value, torch.Tensor)]
        return outputs

    def _pass(self, args, kwargs):
        factor = self._options.batches_per_call
        args, kwargs = micro(args, factor), micro(kwargs, factor)
        with traced(self):
            outputs = self._model(*args, **kwargs)
            marked = list(losses.MARKED)
        tensors = [value for value in flat(outputs) if isinstance(value, torch.Tensor)]
        require("ipu.outputs", tensors, f"{self.name}.forward gives no tensor back")
        if self._training:
            self._check_loss(tensors, marked)
        return outputs

    def _check_loss(self, tensors, marked):
        require("ipu.loss-in-forward", marked,
                f"no loss in {self.name}.forward: compute it there, with a loss of torch.nn or with poptorch.identity_loss")
        own = [tensor for tensor, identity in marked if identity]
        final = own[-1:] or [tensor for tensor, _ in marked]
        require("ipu.identity-loss", own or len(final) == 1,
                f"{len(final)} losses in {self.name}.forward and no poptorch.identity_loss of their sum")
        require("ipu.identity-loss" if not own else "ipu.loss-returned", any(t is final[0] for t in tensors),
                "the loss that comes out of forward is not the one PopTorch starts from: pass it through poptorch.identity_loss "
                "last, and return that")

    def __call__(self, *args, **kwargs):
        count_step()
        expect("ipu.no-autocast", not autocast_is_on(), "torch autocast around a wrapped model has no effect on the IPU")
        outputs = None
        if self._compiled:
            self._check_inputs(args, kwargs)
        else:
            outputs = self._trace(args, kwargs)
        if not self._attached:
            self.attachToDevice()
        if self._training:
            self._check_optimizer()
        outputs = self._pass(args, kwargs) if outputs is None else outputs
        record("poptorch.train" if self._training else "poptorch.infer", module=self.name,
               samples=next((t.shape[0] for t in flat((args, kwargs)) if isinstance(t, torch.Tensor) and t.shape), 0))
        if self._training:
            self._user_model.__dict__["_wrapped_for_training"] = True
        return as_results(outputs, self._options, refuse_backward)

    def _check_inputs(self, args, kwargs):
        require("ipu.static-shapes", signature(args, kwargs) == self._signature,
                f"compiled for {self._signature}, called with {signature(args, kwargs)}")
        others = [value for value in flat((args, kwargs)) if not isinstance(value, torch.Tensor)]
        require("ipu.constant-arguments", len(others) == len(self._constants)
                and all(a is b or a == b for a, b in zip(others, self._constants)),
                f"arguments that are no tensors are compiled in: {self._constants} then, {others} now")

    def _check_optimizer(self):
        now = rates(self._optimizer)
        expect("ipu.set-optimizer", now == self._rates and not self._stepped,
               f"the optimizer changed since setOptimizer (lr {self._rates[0].get('lr')} on the IPU, {now[0].get('lr')} on the host)"
               " : call setOptimizer after each step of the scheduler")
        if self._stepped or now != self._rates:
            self._stepped, self._rates = False, now


def refuse_backward(*_, **__):
    raise refused("ipu.backward", "backward() on what a wrapped model gave back: the IPU made the backward pass and the step in the call")


def autocast_is_on():
    if hasattr(torch, "is_autocast_enabled"):
        return torch.is_autocast_enabled() or torch.is_autocast_cpu_enabled()
    return bool(torch.amp.ACTIVE)


def unwrapped(model):
    return model._user_model if isinstance(model, PoplarExecutor) else model


def trainingModel(model, options=None, optimizer=None):
    return PoplarExecutor(unwrapped(model), options, True, optimizer)


def inferenceModel(model, options=None):
    return PoplarExecutor(unwrapped(model), options, False, None)
