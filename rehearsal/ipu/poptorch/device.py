"""What runs on the IPUs: the recorded program on weights of their own, micro-batch by micro-batch and replica by replica.

Source: https://github.com/graphcore/poptorch, release 3.3: `docs/user_guide/batching.rst`, `Options.outputMode` in `python/options.py`,
`Compiler::popartBatchDimForAnchor` in `popart_compiler/source/Compiler.cpp`, `JITDispatch::addParameter` (whole numbers are constants) and
`getInplaceGraphInfo` in `poptorch/source/InplaceOps.cpp`. A batch is cut into deviceIterations × gradientAccumulation × replicas
micro-batches, in this order; gradients of all accumulations and replicas, of all processes too, are summed and by default divided by
their number, and one update is made for each device iteration. Weights are the same in all replicas; buffers are each replica's own, and
those of the first come back.
"""

import contextlib

import poprun_instances
import torch
import twin
from contracts import expect, require
from compiled_program import OnDevice


from .enums import OutputMode, ReductionType
from .update import Update


class Replicas(OnDevice):
    """The program on the weights of the IPUs; called once for each micro-batch and replica."""

    def __init__(self, program, of_replicas, parameters, variables):
        super().__init__(program, of_replicas[0], parameters)
        self.of_replicas, self.variables, self.replica = of_replicas, variables, 0

    def weights(self):
        # Whole numbers are constants of the program: what it writes into them is gone after the micro-batch.
        return {name: tensor if name in self.variables else tensor.clone() for name, tensor in self.of_replicas[self.replica].items()}


class Device:
    def __init__(self, executor, program):
        self.program, self.options = program, executor._options
        self.training = executor._training
        self.replicas = self.options.replication_factor
        host = executor._weights()
        self.parameters = [name for name, _ in executor._model.named_parameters()]
        self.variables = [name for name, tensor in host.items() if tensor.is_floating_point()]
        single = {name: _single(tensor.detach().clone()) for name, tensor in host.items()}
        for name in self.parameters:
            trained = self.training and host[name].requires_grad and host[name].is_floating_point()
            single[name] = torch.nn.Parameter(single[name], requires_grad=trained)
        self.weights = [
            {name: tensor if name in self.parameters else tensor.clone() for name, tensor in single.items()} for _ in range(self.replicas)]
        self.module = Replicas(program, self.weights, self.parameters, set(self.variables)).train(self.training)
        twin.own(self.module, host=executor._user_model)
        if self.training:
            twin.copies(self.replicas)
            twin.steps_of_a_call(self.options.device_iterations)
        self.update = Update(executor._values, self._groups(executor._optimizer, host)) if self.training else None

    def _groups(self, optimizer, host):
        """The weights of each group of the optimizer, and behind them those of none: PopART steps these as well."""
        first, names = self.weights[0], {id(host[name]): name for name in self.parameters}
        groups = [[(names[id(p)], first[names[id(p)]]) for p in group["params"] if id(p) in names]
                  for group in optimizer.param_groups]
        placed = {name for group in groups for name, _ in group}
        rest = [(name, first[name]) for name in self.parameters if name not in placed and first[name].requires_grad and
                self.program.loss is not None and self.program.reaches(self.program.weights[name], [self.program.loss], by_gradient=True)]
        expect("ipu.optimizer-parameters", not rest,
               f"{', '.join(name for name, _ in rest[:3])} need gradients and are in no group of the optimizer: the IPU steps them too, with the "
               "optimizer's defaults; requires_grad_(False) keeps them as they are")
        return [*groups, rest] if rest else groups

    # ------------------------------------------------------------------ weights

    def copy_to(self, host):
        """Device → host."""
        with torch.no_grad():
            for name in self.variables:
                if name in host:
                    host[name].detach().copy_(self.weights[0][name].detach())

    def copy_from(self, host):
        """Host → device."""
        with torch.no_grad():
            for weights in self.weights:
                for name in self.variables:
                    if name in host:
                        weights[name].detach().copy_(host[name].detach())

    # ------------------------------------------------------------------ a call

    def run(self, tensors):
        """Runs all micro-batches that these inputs hold; gives the outputs that the output mode asks for."""
        kept = Outputs(self.options, self.replicas)
        accumulations = self.options.Training.gradient_accumulation if self.training else 1
        number = 0
        for iteration in range(self.options.device_iterations):
            with twin.unbroken() if iteration else contextlib.nullcontext():
                number = self._iteration(tensors, number, accumulations, kept)
        return kept.given()

    def _iteration(self, tensors, number, accumulations, kept):
        """One turn of the loop on the device: in training one update."""
        for _ in range(accumulations):
            for self.module.replica in range(self.replicas):
                batch = [self._part(tensor, number + self.module.replica // self.options.input_group_size) for tensor in tensors]
                with torch.set_grad_enabled(self.training):
                    outputs = self.module(*batch)
                if self.training:
                    self._backward(self.module.loss, accumulations * self.replicas)
                kept.add(self.module.replica, [tensor.detach() for tensor in outputs])
            self._as_accumulated()
            number += self.replicas // self.options.input_group_size
        if self.training:
            self._step()
        return number

    def _part(self, tensor, number):
        count = self.options.batches_per_call
        if not tensor.dim() or count == 1:
            return _single(tensor)
        size = tensor.shape[0] // count
        return _single(tensor[number * size:(number + 1) * size])

    def _backward(self, loss, count):
        """From a gradient of ones. A mean over micro-batches and replicas is divided here, where PopART divides after the sum."""
        if not loss.requires_grad:
            return
        whole = loss.sum() * self.update.loss_scaling
        if self.options.Training.accumulation_and_replication_reduction_type == ReductionType.Mean and count > 1:
            whole = whole / count
        whole.backward()

    def _gradients(self):
        return [tensor for group in self.update.optimizer.param_groups for tensor in group["params"] if tensor.grad is not None]

    def _as_accumulated(self):
        """Gradients in the type of the accumulator."""
        if self.training and self.update.all.get("accum_type") == torch.float16 and twin.precision() == "target":
            for tensor in self._gradients():
                tensor.grad = tensor.grad.half().to(tensor.dtype)

    def _step(self):
        mean = self.options.Training.accumulation_and_replication_reduction_type == ReductionType.Mean
        poprun_instances.gathered([tensor.grad for tensor in self._gradients()], mean)
        self.update.step()


class Outputs:
    """What one call gives back of the outputs of all its micro-batches."""

    def __init__(self, options, replicas):
        self.mode, self.period, self.replicas = options.output_mode, options.output_return_period, replicas
        require("ipu.options", self.mode != OutputMode.EveryN or options.batches_per_call % (self.period * replicas) == 0 or self.period == 1,
                f"OutputMode.EveryN of {self.period} does not divide what one call takes")
        self.of_replica = [[] for _ in range(replicas)]
        self.counts = [0] * replicas

    def add(self, replica, outputs):
        kept, self.counts[replica] = self.of_replica[replica], self.counts[replica] + 1
        if self.mode == OutputMode.Final and kept:
            kept.clear()
        if self.mode == OutputMode.Sum and kept:
            kept[0] = [old + new for old, new in zip(kept[0], outputs)]
        elif self.mode != OutputMode.EveryN or self.counts[replica] % self.period == 0:
            kept.append([tensor.clone() for tensor in outputs])

    def given(self):
        """Micro-batches one behind the other, those of the replicas side by side."""
        rows = [outputs for turn in zip(*self.of_replica) for outputs in turn]
        return [_narrow(_together([row[index] for row in rows])) for index in range(len(rows[0]))] if rows else []


def _together(tensors):
    if len(tensors) == 1:
        return tensors[0]
    return torch.cat(tensors) if tensors[0].dim() else torch.stack(tensors)


def _single(tensor):
    return tensor.float() if tensor.dtype == torch.float64 else tensor


def _narrow(tensor):
    """64-bit numbers are 32-bit on the IPU."""
    return tensor.int() if tensor.dtype == torch.int64 else _single(tensor)

