"""Updates that no optimizer makes: `weight -= lr * weight.grad`.

Nothing tells of them. So where a program made no optimizer, the tensors that a gradient went to are looked at again when it goes on: where
one has other values then, that was a step.
"""

import torch

# Tensor by its id, with its values from before the gradient went to it.
_before = {}
# What they and their gradients were when the last gradient had come to them, in three numbers each.
_gradients = {}


def leaves(tensors):
    """The tensors with a gradient of their own that a value was computed from."""
    found, seen, open_ = {}, set(), [tensor.grad_fn for tensor in tensors]
    while open_:
        node = open_.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if hasattr(node, "variable"):
            found.setdefault(id(node.variable), node.variable)
        open_.extend(following for following, _ in node.next_functions)
    return found


def remember(tensors):
    """In front of `backward`."""
    for number, leaf in leaves(tensors).items():
        if number not in _before:
            _before[number] = (leaf, leaf.detach().clone())


def gathered(summary):
    """Behind it."""
    for number, (leaf, _) in _before.items():
        if leaf.grad is not None:
            _gradients[number] = summary(leaf.grad.coalesce().values() if leaf.grad.is_sparse else leaf.grad)


def taken():
    """The tensors of a step that was taken since, with their gradients; nothing, where none was."""
    if not any(leaf.shape != value.shape or not torch.equal(leaf, value) for leaf, value in _before.values()):
        return None
    found = [(leaf, _gradients.get(number)) for number, (leaf, _) in _before.items()]
    _before.clear()
    _gradients.clear()
    return found
