"""When gradients are cleared."""

from registry import habit


@habit("order")
def clear_first(d):
    pass


@habit("order")
def clear_before_backward(d):
    d.order = "clear before backward"


@habit("order")
def clear_last(d):
    d.order = "clear last"


@habit("order")
def model_clears(d):
    d.clear = ["$model.zero_grad()"]


@habit("order")
def clears_to_none(d):
    d.clear = ["$optimizer.zero_grad(set_to_none=True)"]


@habit("order")
def clears_by_hand(d):
    d.clear = ["for p in $model.parameters():", "    p.grad = None"]
