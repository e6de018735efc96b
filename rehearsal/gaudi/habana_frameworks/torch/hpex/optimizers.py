"""Fused optimizers, with the arithmetic of PyTorch's own.

Source: https://docs.habana.ai/en/latest/PyTorch/Reference/Python_Packages.html: FusedAdamW, FusedSGD, FusedLamb, FusedAdagrad.
"""

import torch


class FusedAdamW(torch.optim.AdamW):
    """AdamW with another default weight decay and epsilon than PyTorch's, as Hugging Face's AdamW has them."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-6, weight_decay=0.0, bias_correction=True, moments_dtype=None):
        super().__init__(params, lr=lr, betas=betas, eps=eps, weight_decay=weight_decay)


class FusedSGD(torch.optim.SGD):
    def __init__(self, params, lr, momentum=0, dampening=0, weight_decay=0, nesterov=False):
        super().__init__(params, lr, momentum, dampening, weight_decay, nesterov)


class FusedAdagrad(torch.optim.Adagrad):
    pass


class FusedLamb(torch.optim.Optimizer):
    """LAMB (https://arxiv.org/abs/1904.00962): Adam, each layer's step scaled by the norms of its weights and of the step."""

    def __init__(self, params, lr=1e-3, bias_correction=True, betas=(0.9, 0.999), eps=1e-6, weight_decay=0.0, max_grad_norm=1.0, **_):
        super().__init__(params, {
            "lr": lr, "bias_correction": bias_correction, "betas": betas, "eps": eps, "weight_decay": weight_decay,
            "max_grad_norm": max_grad_norm})

    @torch.no_grad()
    def step(self, closure=None):
        loss = closure() if closure is not None else None
        held = [p for group in self.param_groups for p in group["params"] if p.grad is not None]
        total = torch.linalg.vector_norm(torch.stack([torch.linalg.vector_norm(p.grad) for p in held]))
        for group in self.param_groups:
            divisor = torch.clamp(total / group["max_grad_norm"], min=1.0) if group["max_grad_norm"] else 1.0
            for p in group["params"]:
                if p.grad is not None:
                    self._update(p, p.grad / divisor, group)
        return loss

    def _update(self, p, gradient, group):
        state = self.state[p]
        if not state:
            state.update(step=0, exp_avg=torch.zeros_like(p), exp_avg_sq=torch.zeros_like(p))
        state["step"] += 1
        first, second = group["betas"]
        state["exp_avg"].mul_(first).add_(gradient, alpha=1 - first)
        state["exp_avg_sq"].mul_(second).addcmul_(gradient, gradient, value=1 - second)
        corrections = (1 - first ** state["step"], 1 - second ** state["step"]) if group["bias_correction"] else (1.0, 1.0)
        update = state["exp_avg"] / corrections[0] / ((state["exp_avg_sq"] / corrections[1]).sqrt() + group["eps"])
        update = update + group["weight_decay"] * p
        of_weights, of_update = torch.linalg.vector_norm(p), torch.linalg.vector_norm(update)
        ratio = float(of_weights / of_update) if of_weights > 0 and of_update > 0 and group["weight_decay"] else 1.0
        p.add_(update, alpha=-group["lr"] * ratio)
