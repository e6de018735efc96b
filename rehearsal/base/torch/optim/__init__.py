from stand_in_calls import record

from .._tensor import SEEN_BY, Tensor
from . import lr_scheduler  # noqa: F401


class Optimizer:
    def __init__(self, params, lr=1e-3, **options):
        params = list(params)
        if not params:
            raise ValueError("optimizer got an empty parameter list")
        groups = params if isinstance(params[0], dict) else [{"params": params}]
        lr = getattr(lr, "value", lr)
        self.param_groups = [{"lr": lr, "initial_lr": lr, **options, **g, "params": list(g["params"])} for g in groups]
        self.defaults = {"lr": lr, **options}
        self.state = {}
        record("optimizer", kind=type(self).__name__)

    def _params(self):
        return [p for group in self.param_groups for p in group["params"]]

    def zero_grad(self, set_to_none=True):
        record("zero_grad")
        for p in self._params():
            p.grad = None

    def step(self, closure=None):
        loss = closure() if closure is not None else None
        with_grad = [p for p in self._params() if p.grad is not None]
        for p in with_grad:
            if p.grad.device.type != p.device.type:
                raise RuntimeError(f"gradient on {p.grad.device}, parameter on {p.device}")
            held = self.state.setdefault(id(p), {"step": Tensor(0.0), "exp_avg": Tensor(0.0, p.shape, p.dtype, p.device)})
            if held["exp_avg"].device.type != p.device.type:
                raise RuntimeError(f"optimizer state on {held['exp_avg'].device}, parameter on {p.device}")
            held["step"].value += 1
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    p.value -= float(group["lr"]) * p.grad.value * 1e-3
        for seen in SEEN_BY["step"]:
            seen()
        record("optimizer.step", updated=len(with_grad))
        return loss

    def state_dict(self):
        order = {id(p): i for i, p in enumerate(self._params())}
        return {
            "state": {order[key]: value for key, value in self.state.items()},
            "param_groups": [
                {k: v for k, v in group.items() if k != "params"} | {"params": [order[id(p)] for p in group["params"]]}
                for group in self.param_groups
            ],
        }

    def load_state_dict(self, state):
        params = self._params()
        self.state = {}
        for index, held in state["state"].items():
            where = params[index].device
            self.state[id(params[index])] = {
                k: Tensor(v.value, v.shape, v.dtype, where if k != "step" else v.device) for k, v in held.items()
            }

    def add_param_group(self, group):
        self.param_groups.append({**self.defaults, **group, "params": list(group["params"])})


class SGD(Optimizer):
    pass


class Adam(Optimizer):
    pass


class AdamW(Optimizer):
    pass


class RMSprop(Optimizer):
    pass


class Adadelta(Optimizer):
    pass


class Adagrad(Optimizer):
    pass


class LBFGS(Optimizer):
    pass


class NAdam(Optimizer):
    pass


class RAdam(Optimizer):
    pass


class Adamax(Optimizer):
    pass


class ASGD(Optimizer):
    pass


class Rprop(Optimizer):
    pass


class SparseAdam(Optimizer):
    pass
