"""What DeepSpeed compiles for its `DeepSpeedCPUAdam`, in the place of the C++ code: a step on one tensor.

Source: DeepSpeed 0.19, csrc/adam/cpu_adam_impl.cpp and op_builder/hpu/cpu_adam.py.
"""

import torch

_decouples = {}


def create_adam(number, lr, beta1, beta2, epsilon, decay, adamw_mode, _):
    _decouples[number] = adamw_mode


def destroy_adam(number):
    _decouples.pop(number, None)


def adam_update(number, step, lr, beta1, beta2, epsilon, decay, bias_correction, weight, gradient, mean, square):
    with torch.no_grad():
        if not _decouples[number]:
            gradient = gradient + decay * weight
        mean.mul_(beta1).add_(gradient, alpha=1 - beta1)
        square.mul_(beta2).addcmul_(gradient, gradient, value=1 - beta2)
        first, second = (1 - beta1**step, 1 - beta2**step) if bias_correction else (1.0, 1.0)
        if _decouples[number]:
            weight.mul_(1 - lr * decay)
        weight.sub_(lr * (mean / first) / ((square / second).sqrt() + epsilon))
