"""Samba's optimizers: the step is a section of the compiled program, so `step()` on the host is a fault.

Source: `samba.optim` in https://github.com/sambanova/tutorials: SGD in `lenet/lenet.py` and `hello_world/logreg.py`, AdamW with
`max_grad_norm` in `generative_nlp/generative_train.py`, where several optimizers share a model.
"""

import torch
from contracts import broken, require
from stand_in_calls import record


class _Compiled:
    def __init__(self, params, *args, max_grad_norm=None, **options):
        super().__init__(params, *args, **options)
        self.max_grad_norm = max_grad_norm
        record("samba.optim", kind=type(self).__name__)

    def step(self, *_, **__):
        broken("rdu.host-step", "step() on the host: samba.session.run runs the step")

    def zero_grad(self, *_, **__):
        broken("rdu.host-step", "zero_grad() on the host: the gradients are on the RDU")


class SGD(_Compiled, torch.optim.SGD):
    pass


class Adam(_Compiled, torch.optim.Adam):
    pass


class AdamW(_Compiled, torch.optim.AdamW):
    pass


def sequence(optimizer):
    return [] if optimizer is None else list(optimizer) if isinstance(optimizer, (list, tuple)) else [optimizer]


def check_optimizer(optimizer, model):
    """None for inference; otherwise of Samba's kinds and over this model's parameters."""
    for one in sequence(optimizer):
        require("rdu.optimizer", isinstance(one, _Compiled), f"{type(one).__name__} of torch cannot be compiled: samba.optim has SGD and AdamW")
        own = {id(p) for p in model.parameters()}
        given = {id(p) for group in one.param_groups for p in group["params"]}
        require("rdu.optimizer", given <= own, "the optimizer holds parameters of another model")


def numbers(optimizer):
    """What of each group is compiled in: its numbers, by name."""
    kinds = (int, float, bool, tuple, list)
    return [{name: list(value) if isinstance(value, (tuple, list)) else value for name, value in group.items()
             if isinstance(value, kinds) and name not in ("params", "initial_lr")} for one in sequence(optimizer) for group in one.param_groups]


class Step:
    """The optimizer's section, on the weights of the RDU: PyTorch's own optimizers."""

    def __init__(self, optimizer, tensors):
        """`tensors`: id of a host parameter → its tensor on the device."""
        self.hosts = sequence(optimizer)
        self.optimizers, self.pairs = [], []
        for host in self.hosts:
            kind = next(base for base in type(host).__mro__ if base.__module__.startswith("torch.optim"))
            groups = [{**{k: v for k, v in group.items() if k not in ("params", "initial_lr")}, "params": [tensors[id(p)] for p in group["params"]]}
                      for group in host.param_groups]
            self.optimizers.append(kind(groups, **{k: v for k, v in host.defaults.items() if k in kind.__init__.__code__.co_varnames}))
            self.pairs += [(host, self.optimizers[-1], p, tensors[id(p)]) for group in host.param_groups for p in group["params"]]
        self.load()

    def load(self):
        """The state that the host's optimizers have, from a checkpoint."""
        for host, own, parameter, tensor in self.pairs:
            if host.state.get(parameter):
                own.state[tensor] = {k: v.clone() if isinstance(v, torch.Tensor) else v for k, v in host.state[parameter].items()}

    def fetch(self):
        """The state goes to the host's optimizers, where a checkpoint takes it from."""
        for host, own, parameter, tensor in self.pairs:
            if own.state.get(tensor):
                host.state[parameter] = {k: v.detach().clone() if isinstance(v, torch.Tensor) else v for k, v in own.state[tensor].items()}

    def __call__(self, given, with_norm):
        """One step with these hyperparameters. Gradients are clipped where their norm was computed."""
        weights = [tensor for _, _, _, tensor in self.pairs if tensor.grad is not None]
        bounds = {host.max_grad_norm for host in self.hosts if host.max_grad_norm}
        if bounds and with_norm:
            torch.nn.utils.clip_grad_norm_(weights, min(bounds))
        for own in self.optimizers:
            for group in own.param_groups:
                group.update({name: float(value) for name, value in given.items() if name in group})
            own.step()
        for tensor in weights:
            tensor.grad = None
