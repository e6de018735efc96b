"""The update that is compiled into the training program: clipping, loss scaling and the optimizer's step, on the weights of the IPU.

Source: https://github.com/graphcore/poptorch, release 3.3: `CompilerImpl::getPopartOptimizer` in
`popart_compiler/source/CompilerImpl.cpp` for what is compiled, `python/optim.py` for LAMB and the two forms of RMSprop. The kinds that
PyTorch has are stepped by PyTorch's own classes, so their numbers are PyTorch's. Two things are PopART's: velocities start at zero, so
dampening counts in the first step too, and a norm is clipped by max_norm / max(norm, max_norm), where PyTorch has max_norm / (norm + 1e-6).
"""

import torch
import twin

from . import optim


class Update:
    """The optimizer on the IPU: its values as they were last handed over, and its state."""

    def __init__(self, values, groups):
        """`groups`: for each group of the optimizer its weights, (name, tensor)."""
        self.kind, self.names = values["kind"], {id(tensor): name for group in groups for name, tensor in group}
        parent = _Lamb if self.kind == "LAMB" else _RmspropAsTensorFlow if values["all"].get("use_tf_variant") else getattr(torch.optim, self.kind)
        self.optimizer = parent(
            [{"params": [tensor for _, tensor in group]} for group in groups if group], **_plain(values["defaults"]))
        self.filled = [index for index, group in enumerate(groups) if group]
        self.set(values)
        self.reset()

    def set(self, values):
        """Takes over new values; the state stays."""
        self.all = values["all"]
        for group, index in zip(self.optimizer.param_groups, self.filled):
            group.update(_plain(values["groups"][index] if index < len(values["groups"]) else values["defaults"]))
            group["bias_correction"] = self.all.get("bias_correction", True)

    def reset(self):
        """The state as it is in a program that was just loaded."""
        self.optimizer.state.clear()

    def _start_velocities(self):
        for group in self.optimizer.param_groups:
            for tensor in group["params"] if group["momentum"] else ():
                if tensor.grad is not None and self.optimizer.state[tensor].get("momentum_buffer") is None:
                    self.optimizer.state[tensor]["momentum_buffer"] = torch.zeros_like(tensor)

    def has_state(self):
        return any(value is not None for parts in self.optimizer.state.values() for value in parts.values())

    @property
    def loss_scaling(self):
        """By what the loss is multiplied before the backward pass, and gradients divided after it. Where numbers have 32 bits it has no effect
        but on the last of them, so it is left out of a comparison in float32."""
        return self.all.get("loss_scaling", 1.0) if twin.precision() == "target" else 1.0

    def step(self):
        """From the gradients that lie at the weights; they are gone afterwards."""
        weights = [tensor for group in self.optimizer.param_groups for tensor in group["params"] if tensor.grad is not None]
        if self.loss_scaling != 1.0:
            for tensor in weights:
                tensor.grad.div_(self.loss_scaling)
        bound = self.all.get("max_grad_norm", float("inf"))
        if bound != float("inf") and weights:
            norm = torch.linalg.vector_norm(torch.stack([torch.linalg.vector_norm(tensor.grad.float()) for tensor in weights]))
            factor = bound / torch.clamp(norm, min=bound)
            for tensor in weights:
                tensor.grad.mul_(factor)
        if self.kind == "SGD":
            self._start_velocities()
        self.optimizer.step()
        for tensor in weights:
            tensor.grad = None

    # ------------------------------------------------------------------ the state, by name of the weight

    def state(self):
        """Name of a weight → its state, as PyTorch names the parts."""
        return {self.names[id(tensor)]: {part: value.clone() if isinstance(value, torch.Tensor) else value for part, value in parts.items()}
                for tensor, parts in self.optimizer.state.items()}

    def fill(self, state):
        """Takes a state like the one that `state` gives; what it does not have starts anew."""
        self.reset()
        for group in self.optimizer.param_groups:
            for tensor in group["params"]:
                for part, value in state.get(self.names[id(tensor)], {}).items():
                    self.optimizer.state[tensor][part] = value.clone() if isinstance(value, torch.Tensor) else value

    def written(self):
        """State and parameters in the form of `poptorch.optim`'s `state_dict()`: one tensor for each part of each weight."""
        state = {f"{part}___{name}": torch.as_tensor(value).clone()
                 for name, parts in self.state().items() for part, value in parts.items() if value is not None}
        numbers = {}
        for index, group in enumerate(self.optimizer.param_groups):
            numbers.update({f"{name}___group{index}": torch.tensor(float(group[name]))
                            for name in optim.GROUP[self.kind] if isinstance(group.get(name), (int, float))})
        return {"ipu_state": state, "ipu_param": {"lossScaling_FLOAT": torch.tensor(float(self.all.get("loss_scaling", 1.0))), **numbers}}

    def read(self, written):
        """Takes what `written` gave."""
        state = {}
        for key, value in written["ipu_state"].items():
            part, _, name = key.partition("___")
            state.setdefault(name, {})[part] = value
        self.fill(state)


def _plain(values):
    return {name: value for name, (value, _) in values.items()}


class _Lamb(torch.optim.Optimizer):
    def __init__(self, params, **defaults):
        super().__init__(params, defaults)

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for tensor in (tensor for tensor in group["params"] if tensor.grad is not None):
                state = self.state[tensor]
                if not state:
                    state.update(step=torch.zeros(()), exp_avg=torch.zeros_like(tensor), exp_avg_sq=torch.zeros_like(tensor))
                state["step"] += 1
                state["exp_avg"].lerp_(tensor.grad, 1 - beta1)
                state["exp_avg_sq"].mul_(beta2).addcmul_(tensor.grad, tensor.grad, value=1 - beta2)
                count = float(state["step"])
                first, second = (1 - beta1**count, 1 - beta2**count) if group["bias_correction"] else (1.0, 1.0)
                change = (state["exp_avg"] / first) / ((state["exp_avg_sq"] / second).sqrt() + group["eps"]) + group["weight_decay"] * tensor
                own, other = tensor.norm().clamp(max=group["max_weight_norm"]), change.norm()
                trust = own / other if own > 0 and other > 0 else 1.0
                tensor.sub_(change * (group["lr"] * trust))


class _RmspropAsTensorFlow(torch.optim.Optimizer):
    """Squares start at one, eps stands under the root, and the rate goes into the momentum."""

    def __init__(self, params, **defaults):
        super().__init__(params, defaults)

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for tensor in (tensor for tensor in group["params"] if tensor.grad is not None):
                state = self.state[tensor]
                if not state:
                    state.update(square_avg=torch.ones_like(tensor), grad_avg=torch.zeros_like(tensor), momentum_buffer=torch.zeros_like(tensor))
                grad = tensor.grad + group["weight_decay"] * tensor if group["weight_decay"] else tensor.grad
                state["square_avg"].mul_(group["alpha"]).addcmul_(grad, grad, value=1 - group["alpha"])
                mean = state["square_avg"]
                if group["centered"]:
                    state["grad_avg"].mul_(group["alpha"]).add_(grad, alpha=1 - group["alpha"])
                    mean = mean - state["grad_avg"] ** 2
                change = group["lr"] * grad / (mean + group["eps"]).sqrt()
                tensor.sub_(state["momentum_buffer"].mul_(group["momentum"]).add_(change) if group["momentum"] else change)
