"""The bridge's operation for a step of AdamW, with PyTorch's own arithmetic.

Source: its callers, `FusedAdamW` of the bridge and DeepSpeed's op_builder/hpu/fused_adam.py, which put the rate, its correction and the
decay into two numbers.
"""

import torch


def optimizer_adamw(gradients, weights, first, second, negative_step, beta1, beta2, epsilon, decay, is_decaying=True):
    with torch.no_grad():
        for gradient, weight, mean, square in zip(gradients, weights, first, second):
            mean.mul_(beta1).add_(gradient, alpha=1 - beta1)
            square.mul_(beta2).addcmul_(gradient, gradient, value=1 - beta2)
            weight.mul_(decay).add_(negative_step * mean / (square.sqrt() + epsilon))


torch.ops.hpu.optimizer_adamw = optimizer_adamw
