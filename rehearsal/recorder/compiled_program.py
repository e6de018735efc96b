"""A forward pass as a compiler of whole graphs takes it: recorded once, and the same operations for every batch from then on.

PopTorch and SambaFlow call `forward` a single time and compile the operations it makes. What Python decides in that one pass is
fixed: a branch, a number that counts epochs, a random choice of the module `random`. Here the calls of PyTorch are written down as they
come by (`torch.overrides.TorchFunctionMode`) and made again for each batch, so that the arithmetic, and autograd behind it, is PyTorch's
own, while the Python around them runs once.
"""

import functools

import torch
from torch.overrides import TorchFunctionMode


class Slot:
    """The place of a tensor that each run has anew."""

    __slots__ = ("number",)

    def __init__(self, number):
        self.number = number


class Call:
    """One call of PyTorch: the function, its arguments with a slot where a tensor of the run stands, and where its results go."""

    __slots__ = ("function", "name", "args", "kwargs", "results", "reads", "grad", "last_use_of")

    def __init__(self, function, name, args, kwargs, reads):
        self.function, self.name, self.args, self.kwargs, self.reads = function, name, args, kwargs, reads
        self.grad = torch.is_grad_enabled()
        self.results, self.last_use_of = (), ()


def mapped(value, function):
    """The same structure with every leaf passed through `function`."""
    if isinstance(value, (tuple, list)):
        items = [mapped(item, function) for item in value]
        if isinstance(value, torch.Size):
            return value
        if hasattr(value, "_fields"):
            return type(value)(*items)
        return tuple(items) if type(value).__module__ == "torch.return_types" else type(value)(items)
    if isinstance(value, dict):
        return {key: mapped(item, function) for key, item in value.items()} if type(value) is dict else type(value)(
            (key, mapped(item, function)) for key, item in value.items())
    if isinstance(value, slice):
        return slice(*(mapped(part, function) for part in (value.start, value.stop, value.step)))
    return function(value)


def leaves(value):
    """Every leaf of nested tuples, lists, dicts and slices, in order."""
    found = []
    mapped(value, found.append)
    return found


def tensors_of(value):
    return [leaf for leaf in leaves(value) if isinstance(leaf, torch.Tensor)]


class Rules:
    """What a vendor's compiler says to what comes by while it records. This one says nothing."""

    # Functions that make a tensor on the device although none of their arguments is one.
    factories = frozenset()

    def value_asked(self, name):
        """Python wants to know a value."""

    def call(self, name, function, args, kwargs):
        """Gives back function, args and kwargs to record."""
        return function, args, kwargs

    def instead(self, recorder, name, args, kwargs):
        """Records other calls for this one and gives their result, or NotImplemented."""
        return NotImplemented

    def host_tensor(self, name, tensor):
        """A tensor of the host that is no parameter, no buffer and no input stands among the arguments."""


# Names of what leaves the graph for a value of Python.
VALUES = frozenset(
    "item tolist numpy __bool__ __float__ __int__ __index__ __complex__ __array__ __format__ equal allclose is_nonzero __contains__".split())
# Calls that give no tensor back and change one all the same.
SETTERS = frozenset(("__setitem__", "__set__"))
MOVES = frozenset("to type_as".split())


INDEXING = ("__getitem__", "__setitem__")


@functools.lru_cache(maxsize=None)
def indexing_is_shown():
    """Whether a mode sees an index; PyTorch 2.0 shows it all other calls. Where it does, the class of all tensors is left alone: with
    an index of its own, even after it is deleted, `torch.tensor` no longer accepts a list of tensors without dimensions."""
    seen = []

    class Seen(TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            seen.append(getattr(function, "__name__", ""))
            return function(*args, **(kwargs or {}))

    tensor = torch.zeros(1)
    with Seen():
        tensor[0]  # noqa: B018
    return "__getitem__" in seen


class Recorder(TorchFunctionMode):
    """Within: every call of PyTorch on a tensor of the graph is written into the program."""

    def __init__(self, program, rules):
        super().__init__()
        self.program, self.rules = program, rules
        self.numbers = {}
        self.kept = []  # so that no id is given twice
        self.busy = False  # while PyTorch makes a call, what it calls in turn is not the program's

    def __enter__(self):
        for name in () if indexing_is_shown() else INDEXING:
            setattr(torch.Tensor, name, self._shown(name, getattr(torch._C._TensorBase, name)))
        return super().__enter__()

    def __exit__(self, *error):
        for name in () if indexing_is_shown() else INDEXING:
            delattr(torch.Tensor, name)
        return super().__exit__(*error)

    def _shown(self, name, function):
        def method(tensor, *args):
            if self.busy:
                return function(tensor, *args)
            return self.called(name, function, (tensor, *args), {})

        return method

    def slot(self, tensor):
        """The slot of a tensor, new if it has none."""
        number = self.numbers.get(id(tensor))
        if number is None:
            number = self.numbers[id(tensor)] = self.program.new_slot()
            self.kept.append(tensor)
        return number

    def known(self, tensor):
        return id(tensor) in self.numbers

    def __torch_function__(self, function, types, args=(), kwargs=None):
        name = getattr(function, "__name__", str(function))
        if name in INDEXING and not indexing_is_shown():
            return function(*args, **(kwargs or {}))  # through the method above
        return self.called(name, function, args, kwargs or {})

    def called(self, name, function, args, kwargs):
        """A call that the program made."""
        if self.busy:
            return function(*args, **kwargs)
        self.busy = True
        try:
            return self.noted(name, function, args, kwargs)
        finally:
            self.busy = False

    def noted(self, name, function, args, kwargs):
        given = tensors_of((args, kwargs))
        ours = [tensor for tensor in given if self.known(tensor)]
        if not ours and name in MOVES and given:
            return self.moved(function, args, kwargs, given)
        if not ours and name not in self.rules.factories:
            return function(*args, **kwargs)
        if name in VALUES:
            self.rules.value_asked(name)
        other = self.rules.instead(self, name, args, kwargs)
        return self.recorded(name, function, args, kwargs) if other is NotImplemented else other

    def moved(self, function, args, kwargs, given):
        """A tensor of the host that is sent to the device becomes a constant."""
        result = function(*args, **kwargs)
        targets = [leaf for leaf in leaves((args[1:], kwargs)) if isinstance(leaf, (str, torch.device))]
        if not targets:
            return result
        constant = result.detach().clone()
        return self.recorded("clone", torch.clone, (constant,), {}, quiet=True)

    def recorded(self, name, function, args, kwargs, quiet=False):
        if not quiet:
            function, args, kwargs = self.rules.call(name, function, args, kwargs)
        reads = []

        def written(leaf):
            if not isinstance(leaf, torch.Tensor):
                return leaf
            if self.known(leaf):
                reads.append(self.numbers[id(leaf)])
                return Slot(self.numbers[id(leaf)])
            if not quiet:
                self.rules.host_tensor(name, leaf)
            return leaf.detach().clone()

        call = Call(function, name, mapped(args, written), mapped(kwargs, written), reads)
        result = function(*args, **kwargs)
        made = tensors_of(result)
        if made or name in SETTERS or name.startswith("_foreach_"):
            call.results = tuple(self.slot(tensor) for tensor in made)
            self.program.calls.append(call)
        return result


class Program:
    """What was recorded. `inputs`, `weights` and `outputs` say which slots are which; weights go by name."""

    def __init__(self):
        self.calls, self.size, self.loss = [], 0, None
        self.inputs, self.weights, self.outputs = [], {}, []
        self.structure = None

    def new_slot(self):
        self.size += 1
        return self.size - 1

    def record(self, function, inputs, weights, rules, training=True, entered=None):
        """Calls `function()` and keeps what it does. `inputs`: the tensors of one batch, as `function` uses them; `weights`: a dict
        of name and tensor. `entered` is called with the recorder. Gives back what the function gave."""
        recorder = Recorder(self, rules)
        if entered is not None:
            entered(recorder)
        self.inputs = [recorder.slot(tensor) for tensor in inputs]
        self.weights = {name: recorder.slot(tensor) for name, tensor in weights.items()}
        with torch.set_grad_enabled(training), recorder:
            result = function()
        def written(leaf):
            if isinstance(leaf, torch.Tensor) and recorder.known(leaf):
                return Slot(recorder.numbers[id(leaf)])
            return leaf

        self.structure = mapped(result, written)
        self.outputs = [leaf.number for leaf in leaves(self.structure) if isinstance(leaf, Slot)]
        self.given = [leaf.detach().clone() for leaf in tensors_of(result)]
        self.made = {id(tensor): tensor for tensor in recorder.kept if id(tensor) not in {id(t) for t in (*inputs, *weights.values())}}
        return result

    def finish(self, wanted=()):
        """After this no slot is held longer than it is used; `wanted` slots are held to the end."""
        held = {*self.outputs, *self.inputs, *self.weights.values(), *wanted}
        seen = set(held)
        for call in reversed(self.calls):
            freed = {slot for slot in (*call.reads, *call.results) if slot not in seen}
            seen |= freed
            call.last_use_of = tuple(freed)
        self.made = {}

    def run(self, inputs, weights, training=True, edited=None):
        """Makes all calls with these inputs and weights (a dict by name). Gives back the tensor of every slot that is held.
        `edited` may change a call: from call, args and kwargs it gives args and kwargs."""
        values = [None] * self.size
        for slot, tensor in zip(self.inputs, inputs):
            values[slot] = tensor
        for name, slot in self.weights.items():
            values[slot] = weights[name]

        def read(leaf):
            return values[leaf.number] if isinstance(leaf, Slot) else leaf

        for call in self.calls:
            args, kwargs = mapped(call.args, read), mapped(call.kwargs, read)
            if edited is not None:
                args, kwargs = edited(call, args, kwargs)
            with torch.set_grad_enabled(training and call.grad):
                result = call.function(*args, **kwargs)
            for slot, tensor in zip(call.results, tensors_of(result)):
                values[slot] = tensor
            for slot in call.last_use_of:
                values[slot] = None
        return values

    def rebuilt(self, tensors):
        """The structure that `forward` gave back, with these tensors for its outputs in order."""
        following = iter(tensors)
        return mapped(self.structure, lambda leaf: next(following) if isinstance(leaf, Slot) else leaf)

    def reaches(self, slot, targets, by_gradient=False):
        """Whether one of `targets` is computed from `slot`; with `by_gradient`, so that a gradient comes back to it."""
        found, targets = {slot}, set(targets)
        for call in self.calls:
            if by_gradient and call.name.rpartition(".")[2] in ("detach", "detach_"):
                continue
            if found.intersection(call.reads):
                found.update(call.results)
                found.update(call.reads[:1] if call.name in SETTERS or call.name.endswith("_") else ())
        return bool((found - {slot}) & targets)


class OnDevice(torch.nn.Module):
    """A program on weights of its own, called with the tensors of one batch. Its parameters are those of the model, in its order, so that
    who looks at modules and optimizers sees the same training as in a program without a compiler."""

    def __init__(self, program, weights, parameters):
        """`weights`: name → tensor; `parameters`: the names of those that are trained or could be."""
        super().__init__()
        self.program, self.held, self.loss = program, weights, None
        for name in parameters:
            self.register_parameter(name.replace(".", "/"), weights[name])

    def weights(self):
        """Name → tensor for one batch."""
        return self.held

    def forward(self, *tensors, edited=None):
        """The outputs, in order; `loss` is then the tensor from which the backward pass begins, if the program has one."""
        values = self.program.run(tensors, self.weights(), torch.is_grad_enabled(), edited)
        self.loss = None if self.program.loss is None else values[self.program.loss]
        return [values[slot] for slot in self.program.outputs]
