"""`trainingModel` and `inferenceModel`: the wrapper that stands where the model was.

Source: https://github.com/graphcore/poptorch, release 3.3, `python/_poplar_executor.py` and `python/_args_parser.py`. It is no
`nn.Module`; attributes that it has not are the user's model's; the first call compiles, with the mode, shapes, types and arguments that
it finds; the optimizer is the one that `setOptimizer` was last given, with the values it had then; outputs refuse `backward()`.
"""

import copy
import inspect
import os
import weakref

import numpy
import torch
import twin
from contracts import count_step, expect, place, refused, require, result_is_dropped
from compiled_program import Program, leaves, mapped, tensors_of
from stand_in_calls import record

from . import host, losses, memory, optim, watch
from .device import Device
from .enums import OutputMode
from .options import Options
from .rules import IpuRules

_holding = []  # weak references to the executors that hold IPUs; one that is gone has left its own
TRACING = []  # executors whose model is being recorded
CONVERSIONS = ("to", "half", "bfloat16", "float", "double", "cuda", "cpu", "train", "eval", "requires_grad_", "apply")


class PoplarExecutor:
    def __init__(self, model, options, training, optimizer):
        if options is not None and not isinstance(options, Options):
            raise refused("ipu.options", f"options is a {type(options).__name__}, not poptorch.Options")
        if not isinstance(model, torch.nn.Module):
            raise refused("ipu.wrapped-model", f"expected a torch.nn.Module to wrap, not a {type(model).__name__}")
        if options is not None:
            options.freeze()
        self._options = options.clone() if options is not None else Options()
        if not training:
            require("ipu.inference-options", self._options.Training.gradient_accumulation == 1,
                    "an inferenceModel needs options without gradientAccumulation: give it separate options")
        if self._options.defaultOutputMode():
            self._options.outputMode(OutputMode.Final if training else OutputMode.All)
        self._options.freeze()
        self._training, self._user_model = training, model
        self._wrapped_at = place()
        self._device = self._signature = self._compiled_inputs = None
        self._attached = self._dirty_host_weights = False
        self._host_weights_version = 0
        self._optimizer, self._values, self._stepped = None, None, False
        self.recorder = None
        if training and watch.wrapped_for_training(model):
            raise refused("ipu.wrapped-twice", "this model is already in a trainingModel: destroy() that one first")
        self._mode_at_wrap = model.training
        self._model = copy.copy(model)
        if training:
            expect("ipu.optimizer-given", optimizer is not None,
                   "trainingModel without an optimizer trains with SGD(lr=0.01), whatever the program configured")
            self.setOptimizer(optimizer or optim.SGD(model.parameters(), lr=0.01))
            self._classes = host.classes(weakref.ref(self))
            host.hooked(model, *self._classes)
        watch.wrapped(self, model)
        record("poptorch.trainingModel" if training else "poptorch.inferenceModel", module=self.name)

    name = property(lambda self: watch.plain_class(self._user_model).__name__)
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
            expect("ipu.static-types", not self.isCompiled() or before == [p.dtype for p in self._user_model.parameters()],
                   f".{name}() changes the weights' type after the model was compiled")
            return result

        return conversion

    # ------------------------------------------------------------------ the optimizer

    def setOptimizer(self, optimizer):
        require("ipu.optimizer-given", self._training, "an inferenceModel has no optimizer")
        kind = optim.kind_of(optimizer)
        require("ipu.optimizer-kind", kind is not None,
                f"{type(optimizer).__name__} cannot be compiled: {', '.join(sorted(optim.KINDS))} can")
        require("ipu.optimizer-kind", not any(group.get("amsgrad") for group in optimizer.param_groups), f"{kind} with amsgrad cannot be compiled")
        expect("ipu.optimizer-kind", not any(group.get("maximize") for group in optimizer.param_groups),
               "maximize=True is not passed to the IPU: the loss is still minimized")
        own = {id(p) for p in self._user_model.parameters()}
        given = {id(p) for group in optimizer.param_groups for p in group["params"]}
        expect("ipu.optimizer-parameters", given <= own, "the optimizer holds parameters of another model")
        values = optim.values_of(optimizer)
        if self.isCompiled():
            names = optim.changed_constants(self._values, values)
            require("ipu.variable-rate", not names,
                    f"{', '.join(names)} changed, but was compiled in as a constant: pass it to the optimizer's constructor")
            require("ipu.optimizer-kind", kind == self._values["kind"], f"compiled for {self._values['kind']}, given {kind}")
            if optimizer is not self._optimizer and isinstance(self._optimizer, optim.Optimizer):
                self._read_optimizer_state()
                self._optimizer._holder = None
        self._optimizer, self._values, self._stepped = optimizer, values, False
        watch.optimizer_given(optimizer, self)
        if self._device is not None:
            self._device.update.set(values)
            if self._attached:
                self._write_optimizer_state()
        record("poptorch.setOptimizer", kind=kind, lr=optimizer.param_groups[0]["lr"])

    def scheduler_stepped(self):
        self._stepped = True

    def _read_optimizer_state(self):
        """PopTorch's own optimizers get the state that the IPU has."""
        if isinstance(self._optimizer, optim.Optimizer) and self._optimizer._holder is not None and self._optimizer._holder() is self:
            self._optimizer._ipu_state = self._device.update.written()
            self._optimizer._holder = None

    def _write_optimizer_state(self):
        """A state that was loaded on the host goes to the IPU."""
        if isinstance(self._optimizer, optim.Optimizer) and self._optimizer._loaded:
            self._optimizer._loaded = False
            if self._optimizer.has_state():
                self.copyWeightsToHostIfNeeded()
                self._device.update.read(self._optimizer._ipu_state)

    # ------------------------------------------------------------------ the weights

    def _weights(self):
        """Name → tensor of the host, without fetching anything."""
        undo = host.unhooked(self._model)
        try:
            return {**dict(self._model.named_parameters()), **dict(self._model.named_buffers())}
        finally:
            host.restored(undo)

    def copyWeightsToHostIfNeeded(self):
        if self._dirty_host_weights:
            self.copyWeightsToHost()
            return True
        return False

    def copyWeightsToHost(self):
        require("ipu.attach", self.isCompiled(), "copyWeightsToHost() before the model was compiled")
        self._dirty_host_weights = False
        self._device.copy_to(self._weights())
        self._host_weights_version += 1

    def copyWeightsToDevice(self):
        require("ipu.attach", self.isCompiled(), "copyWeightsToDevice() before the model was compiled")
        self._dirty_host_weights = False
        if self._training:
            self._read_optimizer_state()
            self._load_weights()
        else:
            self._device.copy_from(self._weights())

    def _load_weights(self):
        """Uploads weights and, with them, whatever state of the optimizer the host has: of PyTorch's own optimizers it has none."""
        lost = not isinstance(self._optimizer, optim.Optimizer) and self._device.update.has_state()
        expect("ipu.optimizer-state-kept", not lost,
               f"the moments of torch.optim.{type(self._optimizer).__name__} are reset: detaching, and copying weights to the IPU, preserve the state "
               "of optimizers of poptorch.optim only")
        if lost:
            self._device.update.reset()
        self._device.copy_from(self._weights())

    def copyNamedBuffersToDevice(self):
        require("ipu.attach", self.isCompiled(), "copyNamedBuffersToDevice() before the model was compiled")
        names = self._options.values.get("updatable_buffers") or []
        require("ipu.options", names, "copyNamedBuffersToDevice() without options.updatableNamedBuffers(…)")
        self._device.copy_from({name: tensor for name, tensor in self._weights().items() if name in names})

    def load_state_dict(self, state, strict=True):
        out = self._user_model.load_state_dict(state, strict=strict)
        if self._attached:
            self.copyWeightsToDevice()
        return out

    # ------------------------------------------------------------------ the device

    def isCompiled(self):
        return self.__dict__.get("_device") is not None

    def isAttachedToDevice(self):
        return self._attached

    def attachToDevice(self):
        require("ipu.attach", self.isCompiled(), "attachToDevice() before the model was compiled")
        require("ipu.attach", not self._attached, "the model is already attached to its device")
        self._acquire()
        self._device.copy_from(self._weights())
        self._dirty_host_weights = False
        if self._training:
            self._device.update.set(self._values)
            if isinstance(self._optimizer, optim.Optimizer):
                if self._optimizer.has_state():
                    self._device.update.read(self._optimizer._ipu_state)
                self._optimizer._loaded = False
            else:
                self._load_weights()

    def _acquire(self):
        here, wanted = holding(), self._options.replication_factor
        there = int(os.environ.get("STAND_IN_IPUS", "0")) or (here[0]._options.replication_factor if here else wanted)
        taken = sum(other._options.replication_factor for other in here)
        file, line = here[0]._wrapped_at if here else ("?", 0)
        require("ipu.one-device", taken + wanted <= there,
                f"no IPU is free: {taken} of {there} are used by a model wrapped at {file}:{line}; detachFromDevice() it first")
        _holding.append(weakref.ref(self))
        self._attached = True
        record("poptorch.attach", training=self._training)

    def _release(self):
        _holding[:] = [one for one in _holding if one() is not self]
        self._attached = False

    def detachFromDevice(self):
        require("ipu.attach", self.isCompiled(), "detachFromDevice() before the model was compiled")
        require("ipu.attach", self._attached, "detachFromDevice() of a model that is not attached")
        if self._training:
            self.copyWeightsToHostIfNeeded()
            self._read_optimizer_state()
        self._release()
        record("poptorch.detach", training=self._training)

    def destroy(self):
        if self.isCompiled():
            if self._training:
                self.copyWeightsToHostIfNeeded()
                self._read_optimizer_state()
            if self._attached:
                self._release()
            self._device = None
            if self._training:
                host.unhooked(self._user_model)
                watch.unwrapped(self._user_model)
        record("poptorch.destroy", training=self._training)

    def compile(self, *args, **kwargs):
        if not self.isCompiled():
            self._compile(self._bound(args, kwargs))
        record("poptorch.compile", module=self.name)

    def compileAndExport(self, filename, *args, export_model=True, **kwargs):
        self.compile(*args, **kwargs)
        self.save(filename)

    def save(self, filename, *_, **__):
        require("ipu.attach", self.isCompiled(), "save() before the model was compiled")

    def loadExecutable(self, filename):
        record("poptorch.loadExecutable")

    cycleCount = lambda self: 0
    getLatency = getComputeLatency = getHostIpuLatency = getIpuHostLatency = lambda self: (0.0, 0.0, 0.0)
    rng_state = property(lambda self: [0], lambda self, state: None)

    # ------------------------------------------------------------------ a call

    def _bound(self, args, kwargs):
        """The arguments as `forward` names them, defaults filled in: (name, value) for those by position, and those by name."""
        try:
            bound = inspect.signature(type(self._model).forward).bind(self._model, *args, **kwargs)
        except TypeError as error:
            raise refused("ipu.static-shapes", f"{self.name}.forward: {error}") from None
        bound.apply_defaults()

        def contiguous(leaf):
            if not isinstance(leaf, torch.Tensor):
                return leaf
            if leaf.device.type != "cpu":
                raise refused("ipu.host-tensors", f"an input is on {leaf.device}: a wrapped model accepts host tensors")
            return leaf.detach().contiguous()

        return mapped((tuple(bound.args[1:]), bound.kwargs), contiguous)

    def _compile(self, inputs):
        """What happens once: forward is recorded with a first micro-batch, and the program is built from that."""
        for tensor in (*self._weights().values(), *tensors_of(inputs)):
            require("ipu.static-types", tensor.dtype != torch.bfloat16 and not tensor.is_complex(), f"{tensor.dtype} cannot be sent to the IPU")
            require("ipu.static-shapes", tensor.numel(), f"a tensor of shape {tuple(tensor.shape)} is empty")
        twin.start_weights(self._user_model)
        activations = memory.Activations(self._weights().values())
        with twin.quiet(), activations.counted():
            program = self._recorded(self._micro(inputs))
        if self._training:
            memory.note(self._weights().values(), self._values, activations.bytes, self._options.Training.gradient_accumulation)
        self._check_modes(program)
        self._device = Device(self, program)
        twin.before_end(self.copyWeightsToHostIfNeeded)
        self._compiled_inputs = inputs
        self._acquire()
        self._write_loaded_state()

    def _check_modes(self, program):
        """A part that learns nothing, such as a frozen encoder, may be in eval() while the rest trains."""
        right = "train" if self._training else "eval"

        def is_frozen(module):
            own = {id(parameter) for parameter in module.parameters()}
            if own and not any(parameter.requires_grad for parameter in module.parameters()):
                return self._training
            names = [name for name, parameter in self._model.named_parameters() if id(parameter) in own]
            return self._training and names and not any(
                program.reaches(program.weights[name], [program.loss], by_gradient=True) for name in names if name in program.weights)

        parts = [module for name, module in self._model.named_modules() if name]
        inside = {id(part) for module in parts if is_frozen(module) for part in module.modules()}
        modes = {module.training for module in parts if id(module) not in inside} | (set() if inside else {self._mode_at_wrap})
        expect("ipu.mode-at-wrap", modes <= {self._training},
               f"the model was not wholly in {right}() mode when it was wrapped and compiled: the mode is compiled in")

    def _write_loaded_state(self):
        if self._training and isinstance(self._optimizer, optim.Optimizer) and self._optimizer.has_state():
            self._device.update.read(self._optimizer._ipu_state)
            self._optimizer._loaded = False

    def _micro(self, inputs):
        factor = self._options.batches_per_call

        def first(leaf):
            if not isinstance(leaf, torch.Tensor):
                return leaf
            size = leaf.shape[0] if leaf.dim() else 1
            require("ipu.batch", size % factor == 0,
                    f"a first dimension of {size} cannot be divided into deviceIterations × replicationFactor × gradientAccumulation = {factor}")
            leaf = leaf[: size // factor] if leaf.dim() else leaf
            return leaf.float() if leaf.dtype == torch.float64 else leaf.clone()

        return mapped(inputs, first)

    def _recorded(self, inputs):
        args, kwargs = inputs
        program, undo = Program(), host.unhooked(self._model)
        weights = {**dict(self._model.named_parameters()), **dict(self._model.named_buffers())}
        before = {name: tensor.detach().clone() for name, tensor in weights.items()}
        random_state, tensors = torch.get_rng_state(), tensors_of(inputs)
        self._watched_attributes = watch.attributes(self._model)
        TRACING.append(self)
        try:
            with watch.custom_functions_seen():
                program.record(lambda: self._model(*args, **kwargs), tensors, weights, IpuRules(), self._training,
                               entered=lambda recorder: setattr(self, "recorder", recorder))
        finally:
            TRACING.pop()
            self.recorder = None
            with torch.no_grad():
                for name, tensor in weights.items():
                    if tensor.dtype == before[name].dtype:
                        tensor.copy_(before[name])
            torch.set_rng_state(random_state)
            host.restored(undo)
        require("ipu.outputs", program.outputs or any(isinstance(leaf, torch.Tensor) for leaf in leaves(program.structure)),
                f"{self.name}.forward returns no tensor")
        loss = losses.final_loss(program, self.name) if self._training else None
        watch.check_kept_tensors(self._model, program, self._watched_attributes)
        watch.check_buffers(self._model, weights, program, self._options)
        program.loss = loss
        program.finish(wanted=() if loss is None else (loss,))
        return program

    def __call__(self, *args, **kwargs):
        count_step()
        expect("ipu.no-autocast", not autocast_is_on(), "torch autocast around a wrapped model has no effect on the IPU")
        inputs = self._bound(args, kwargs)
        if not self.isCompiled():
            self._compile(inputs)
        if not self._attached:
            self.attachToDevice()
        if not self._training:
            self._take_over_weights()
        self._check_inputs(inputs)
        if self._training:
            self._check_optimizer()
            self._write_optimizer_state()
        outputs = self._device.run(tensors_of(inputs))
        if self._training:
            self._dirty_host_weights = True
            if isinstance(self._optimizer, optim.Optimizer):
                self._optimizer._holder = weakref.ref(self)
        record("poptorch.train" if self._training else "poptorch.infer", module=self.name,
               samples=next((t.shape[0] for t in tensors_of(inputs) if t.dim()), 0))
        for tensor in outputs:
            tensor.backward = refuse_backward
        return self._device.program.rebuilt(outputs)

    def _take_over_weights(self):
        """The same model, trained by another wrapper: its newer weights come here first."""
        fetch = getattr(self._user_model, "copyWeightsToHostIfNeeded", None)
        if fetch is not None:
            fetch()
            version = self._user_model._host_weights_version
            if version != self._host_weights_version:
                self.copyWeightsToDevice()
                self._host_weights_version = version

    def _check_inputs(self, inputs):
        def told(value):
            return [(tuple(t.shape), str(t.dtype).replace("torch.", "")) for t in tensors_of(value)]

        then, now = told(self._compiled_inputs), told(inputs)
        require("ipu.static-shapes", then == now, f"compiled for {then}, called with {now}")
        then, now = ([leaf for leaf in leaves(value) if not isinstance(leaf, torch.Tensor)] for value in (self._compiled_inputs, inputs))
        require("ipu.constant-arguments", len(then) == len(now) and all(map(_same, then, now)),
                f"non-tensor arguments are compiled in: was {then}, now {now}")

    def _check_optimizer(self):
        now = optim.values_of(self._optimizer)
        was = self._values
        expect("ipu.set-optimizer", now == was and not self._stepped,
               f"the optimizer changed since setOptimizer (lr {was['groups'][0]['lr'][0]} on the IPU, {now['groups'][0]['lr'][0]} on the host)"
               " : call setOptimizer after each step of the scheduler")
        self._stepped = False


def _same(then, now):
    """Whether an argument that is no tensor has the value that it was compiled with."""
    try:
        return then is now or bool(numpy.array_equal(then, now) if hasattr(then, "shape") or hasattr(now, "shape") else then == now)
    except (RuntimeError, ValueError):
        # What holds tensors or arrays is compared value by value, and has no one answer.
        return False


def holding():
    """The executors that hold IPUs."""
    return [one() for one in _holding if one() is not None]


def refuse_backward(*_, **__):
    raise refused("ipu.backward", "backward() on a wrapped model's output: the call already ran the backward pass and the step on the IPU")


def autocast_is_on():
    try:
        return torch.is_autocast_enabled() or torch.is_autocast_enabled("cpu")
    except TypeError:  # PyTorch 2.0 has a function for each
        return torch.is_autocast_cpu_enabled()


def unwrapped(model):
    return model._user_model if isinstance(model, PoplarExecutor) else model


def trainingModel(model, options=None, optimizer=None):
    return PoplarExecutor(unwrapped(model), options, True, optimizer)


def inferenceModel(model, options=None):
    return PoplarExecutor(unwrapped(model), options, False, None)

