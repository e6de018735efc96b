from stand_in_calls import record

from .._tensor import Tensor


def clip_grad_norm_(parameters, max_norm, *_, **__):
    record("clip_grad_norm_")
    return Tensor(max_norm)


def clip_grad_value_(parameters, _):
    record("clip_grad_value_")
