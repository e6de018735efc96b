"""PopTorch's optimizers: those of PyTorch with a few arguments more, and LAMB. The step itself is made by `update.py`.

Source: https://github.com/graphcore/poptorch, release 3.3, `python/optim.py` and `python/_optimizer_attributes.py`. What an optimizer
of `poptorch.optim` is given is variable, what it is not given is a constant of the compiled program; of PyTorch's own, the rate is
variable, and what was left at its default is constant. `state_dict()` of PopTorch's kinds fetches the state from the IPU, and one that
no IPU wrote can't be loaded; PyTorch's own kinds know nothing of the state on the IPU.
"""

import torch
from contracts import refused, require

KINDS = ("LAMB", "AdamW", "Adam", "RMSprop", "SGD")
# Values per group and per optimizer that the compiled program knows, by kind.
GROUP = {
    "SGD": ("lr", "momentum", "dampening", "weight_decay", "nesterov"),
    "Adam": ("lr", "betas", "eps", "weight_decay"),
    "AdamW": ("lr", "betas", "weight_decay", "eps"),
    "RMSprop": ("lr", "momentum", "weight_decay", "alpha", "eps", "centered"),
    "LAMB": ("lr", "weight_decay", "betas", "eps", "max_weight_norm"),
}
_MOMENTA = ("accum_type", "first_order_momentum_accum_type", "second_order_momentum_accum_type")
# Arguments beside PyTorch's, with their defaults.
OWN = {
    "SGD": {"loss_scaling": 1.0, "velocity_scaling": 1.0, "use_combined_accum": False, "accum_type": torch.float32,
            "velocity_accum_type": torch.float32, "max_grad_norm": float("inf")},
    "Adam": {"loss_scaling": 1.0, **dict.fromkeys(_MOMENTA, torch.float32), "max_grad_norm": float("inf")},
    "AdamW": {"loss_scaling": 1.0, "bias_correction": True, **dict.fromkeys(_MOMENTA, torch.float32), "max_grad_norm": float("inf")},
    "RMSprop": {"loss_scaling": 1.0, **dict.fromkeys(_MOMENTA, torch.float32), "use_tf_variant": False},
    "LAMB": {"bias_correction": True, "loss_scaling": 1.0, "max_weight_norm": 65500.0, **dict.fromkeys(_MOMENTA, torch.float32)},
}


class VariableAttributes:
    """Which values can change after the program is compiled."""

    def __init__(self, variable, allowed):
        self.variable, self.allowed = set(variable), set(allowed)

    def isConstant(self, name):
        return name not in self.variable

    def markAsConstant(self, name):
        require("ipu.variable-rate", name in self.allowed, f"markAsConstant({name!r}): this optimizer has {sorted(self.allowed)}")
        self.variable.discard(name)

    def markAsVariable(self, name):
        require("ipu.variable-rate", name in self.allowed, f"markAsVariable({name!r}): this optimizer has {sorted(self.allowed)}")
        self.variable.add(name)


class Optimizer:
    """What PopTorch's kinds share: the arguments beside PyTorch's, and a state that lives on the IPU."""

    def _start(self, own, options):
        kind = type(self)._kind
        for name in own:
            if name not in OWN[kind]:
                raise refused("ipu.optimizer-kind", f"poptorch.optim.{kind} has no {name}")
        for name, value in {**OWN[kind], **{name: value for name, value in own.items() if value is not None}}.items():
            setattr(self, name, value)
        for name in (name for name in OWN[kind] if name.endswith("accum_type")):
            require("ipu.options", getattr(self, name) in (torch.float16, torch.float32), f"{name} is torch.float32 or torch.float16")
        given = {name for name, value in {**own, **options}.items() if value is not None}
        self.variable_attrs = VariableAttributes(given, [*self.defaults, "loss_scaling"])
        self._ipu_state = {"ipu_state": None, "ipu_param": None}
        self._holder = None  # a weak reference to the executor whose state is newer than this one

    def __getstate__(self):
        kept = {name: value for name, value in self.__dict__.items() if name not in ("_holder", "_ipu_executor", "step", "zero_grad")}
        return {**kept, "_holder": None}

    def has_state(self):
        return self._ipu_state["ipu_state"] is not None

    def state_dict(self):
        if self._holder is not None and self._holder() is not None:
            self._holder()._read_optimizer_state()
        return {**self._ipu_state, **torch.optim.Optimizer.state_dict(self)}

    def load_state_dict(self, state):
        require("ipu.optimizer-state", state and "ipu_state" in state and "ipu_param" in state,
                "only the state of a poptorch.optim optimizer can be loaded: this one was saved without an IPU")
        own = {name: state[name] for name in ("ipu_state", "ipu_param")}
        torch.optim.Optimizer.load_state_dict(self, {name: value for name, value in state.items() if not name.startswith("ipu_")})
        self._ipu_state, self._holder = own, None
        self._loaded = True

    _loaded = False


def _made(kind, parent):
    """PopTorch's class for one of PyTorch's."""

    def __init__(self, params, lr=None, *positional, **options):
        names = [name for name in parent.__init__.__code__.co_varnames[3:parent.__init__.__code__.co_argcount]]
        options.update(zip(names, positional))
        own = {name: options.pop(name) for name in list(options) if name in OWN[kind] or name == "max_grad_norm"}
        if lr is None and kind == "SGD":
            raise TypeError("SGD.__init__() missing 1 required positional argument: 'lr'")
        options = {"lr": lr, **options}
        parent.__init__(self, params, **{name: value for name, value in options.items() if value is not None})
        self._start(own, options)

    return type(kind, (Optimizer, parent), {"__init__": __init__, "_kind": kind, "__module__": __name__})


SGD, Adam, AdamW, RMSprop = (_made(kind, getattr(torch.optim, kind)) for kind in ("SGD", "Adam", "AdamW", "RMSprop"))


class LAMB(Optimizer, torch.optim.Optimizer):
    """Layer-wise adaptive moments; PyTorch has none."""

    _kind = "LAMB"

    def __init__(self, params, lr=None, betas=None, eps=None, weight_decay=None, bias_correction=None, loss_scaling=None,
                 max_weight_norm=None, **own):
        options = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay}
        defaults = {"lr": 1e-3, "betas": (0.9, 0.999), "eps": 1e-8, "weight_decay": 1e-2}
        defaults.update({name: value for name, value in options.items() if value is not None})
        defaults["max_weight_norm"] = 65500.0 if max_weight_norm is None else max_weight_norm
        torch.optim.Optimizer.__init__(self, params, defaults)
        self._start({"bias_correction": bias_correction, "loss_scaling": loss_scaling, "max_weight_norm": max_weight_norm, **own}, options)

    def step(self, closure=None):
        raise NotImplementedError("LAMB runs its step on the IPU")


def kind_of(optimizer):
    """The name of the kind that can be compiled, or None."""
    if isinstance(optimizer, LAMB):
        return "LAMB"
    return next((kind for kind in KINDS[1:] if isinstance(optimizer, getattr(torch.optim, kind))), None)


# Where a value of PyTorch's own optimizers is left at this, it is compiled in.
_CONSTANT_AT = {"weight_decay": 0.0, "momentum": 0.0, "dampening": 0.0, "eps": 1e-8, "max_weight_norm": 65500.0}
_ALWAYS_CONSTANT = ("alpha", "nesterov", "betas", "centered")


def values_of(optimizer):
    """What the compiled program is told: for each group and for the defaults name → (value, is it constant), and what holds for all."""
    kind = kind_of(optimizer)
    variable = getattr(optimizer, "variable_attrs", None)

    def constant(name, value):
        if variable is not None:
            return variable.isConstant(name)
        return name in _ALWAYS_CONSTANT or (name in _CONSTANT_AT and value == {**_CONSTANT_AT, **(
            {"weight_decay": 1e-2} if kind == "AdamW" else {})}[name])

    def read(group):
        return {name: (group[name], constant(name, group[name])) for name in GROUP[kind] if name in group}

    of_all = {name: getattr(optimizer, name, default) for name, default in OWN[kind].items()}
    return {"kind": kind, "groups": [read(group) for group in optimizer.param_groups], "defaults": read(optimizer.defaults), "all": of_all}


def changed_constants(before, after):
    """Names of values that changed and are compiled in."""
    pairs = list(zip([*before["groups"], before["defaults"]], [*after["groups"], after["defaults"]]))
    return sorted({name for was, now in pairs for name in was if was[name] != now[name] and (was[name][1] or now[name][1])})
