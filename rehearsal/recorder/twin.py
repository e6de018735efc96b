"""What a program trained, step by step, so that two programs can be held against each other.

With STAND_IN_TWIN=FILE everything below is recorded and written there at the end; without it, every function here does nothing.

- A *step* is one `step()` of an optimizer; in a program that makes none, an update of its weights by hand (`by_hand.py`). Its *objective* is the
  sum of the values that were differentiated since the update before it: whatever is accumulated, averaged or replicated, this is the number
  whose gradient is applied.
- A *training forward* is a call of an outermost module with parameters while gradients are on, through which a gradient then goes; any
  other call of one is an *evaluation*.
- The *n-th module* is the n-th that had a training forward.

Two runs must draw the same numbers, though they may draw them in other places. So each training forward starts from a seed of its own
number, each pass of a sampler from one of its own, and each sample is read with one of its place in the pass.

Environment: STAND_IN_TWIN_STEPS, how many steps there are at most (16); STAND_IN_TWIN_SEED; STAND_IN_TWIN_START=FILE, weights to start from;
STAND_IN_PRECISION=float32|target; STAND_IN_TWIN_DROP_LAST=training|all, which leaves the last batch of a
loader that trains (their numbers follow the word), or of any, out where it is incomplete;
STAND_IN_TWIN_NUDGE=E, which changes each gradient by that much of its size before it is applied;
STAND_IN_TWIN_INSTANCES=N, which makes a loader's batches N times as large: what N instances take together;
STAND_IN_TWIN_DEALT=1, with which processes deal out the samples in the order of one that reads them all;
STAND_IN_TWIN_BATCHES=N, with which an update takes N of the program's batches, and STAND_IN_TWIN_TIMES=F, which multiplies the loss of Keras;
STAND_IN_TWIN_SHARES=N, how many copies of the model share a batch (STAND_IN_TWIN_TURNS=1: in turns); STAND_IN_TWIN_NORM=shares, with which batch norm takes the statistics of each
share, and STAND_IN_TWIN_LOSS=shares, with which the loss is the mean of those of the shares.

Of a program of TensorFlow the record is that of `keras_twin.py`.
"""

import atexit
import contextlib
import functools
import math
import os
import pickle
import random
import sys

FILE = os.environ.get("STAND_IN_TWIN")
STEPS = int(os.environ.get("STAND_IN_TWIN_STEPS", "16"))
SEED = int(os.environ.get("STAND_IN_TWIN_SEED", "20"))
# A pass over a loader that trains nothing ends behind so many batches.
EVALUATED = int(os.environ.get("STAND_IN_TWIN_EVALUATED", "16"))

RECORD = {
    "steps": [], "evaluations": [], "modules": [], "start": [], "end": [], "types": [], "states": [], "saved": [], "passes": [], "notes": [],
    "autocast": [], "scaler": False, "ended": "", "on_device": False, "copies": 1, "steps_of_a_call": 1, "devices": set(), "drew_on_device": False, "call": None,
    "shares": False,
}
_roots, _hosts, _optimizers, _before_end = [], {}, [], []
# Of a training forward behind the last step: how many steps there were, and the buffers of each root before it.
_behind = []
_pending = {"objective": [], "places": [], "forwards": [], "seen": [], "given": []}
_counts = {"optimizers": 0, "forward": 0, "loaders": 0, "quiet": 0, "unbroken": 0, "depth": 0}


def precision():
    """`"float32"`: types of half the size are kept out of both runs; `"target"`: what the program says holds."""
    return os.environ.get("STAND_IN_PRECISION", "float32") if FILE else "target"


class EndOfRun(SystemExit):
    """All steps that were wanted are done, and another would begin."""


# ------------------------------------------------------------------------------------------------ for stand-ins


@contextlib.contextmanager
def quiet():
    """Nothing inside is recorded, and what it draws is put back: tracing, probing a shape, a copy."""
    import torch_calls

    with torch_calls.quiet(), _state_of_random():
        _counts["quiet"] += 1
        try:
            yield
        finally:
            _counts["quiet"] -= 1


@contextlib.contextmanager
def unbroken():
    """A loop of the device ends what it began, however many steps that is."""
    _counts["unbroken"] += 1
    try:
        yield
    finally:
        _counts["unbroken"] -= 1


def own(module, host):
    """`module` lives on the device in the place of the program's `host`."""
    if FILE:
        _hosts[id(module)] = (module, host)
        RECORD["on_device"] |= module.training


def copies(number):
    """How many copies of the model this process trains, each with a share of the batch that one call is given."""
    RECORD["copies"] = max(RECORD["copies"], number)


def steps_of_a_call(number):
    """How many steps the device takes in one call of a model."""
    RECORD["steps_of_a_call"] = max(RECORD["steps_of_a_call"], number)


def before_end(function):
    """Has a function called before the last weights are read."""
    if FILE:
        _before_end.append(function)


def note(kind, text, **facts):
    """Something that explains a difference: kind is `dropped`, `precision`, `order`, `reduction`, `instances`, `start`,
    `loss`, `data` or `saved`."""
    if FILE and (entry := {"kind": kind, "text": text, **facts}) not in RECORD["notes"]:
        RECORD["notes"].append(entry)


def steps_left():
    return max(STEPS - len(RECORD["steps"]), 0) if FILE else None


def start_weights(module):
    """Gives a module the weights that the other run started from, once."""
    if FILE:
        _root(module)


# ------------------------------------------------------------------------------------------------ told by the recorder's hooks


def autocast(device, kind):
    if FILE and (device, kind) not in RECORD["autocast"]:
        RECORD["autocast"].append((device, kind))


def scaler():
    RECORD["scaler"] = True


def optimizer():
    """One was made: from here on it takes the steps."""
    _counts["optimizers"] += 1


def saved(value, file):
    if FILE and not _counts["quiet"]:
        with _plainly():
            RECORD["saved"].append({"file": os.path.basename(str(getattr(file, "name", file))), "values": _flat(value), "step": len(RECORD["steps"])})


def loader(made, given):
    """Numbers a loader, and notes what it is asked for."""
    if not FILE:
        return
    made.__dict__["_twin"] = [_counts["loaders"], 0]
    _counts["loaders"] += 1
    if not hasattr(made, "batch_of_one_call") and "batch_size" in given:
        import made_up_data

        given["batch_size"] = made_up_data.batch(given["batch_size"])
    instances = int(os.environ.get("STAND_IN_TWIN_INSTANCES", "1")) * int(os.environ.get("STAND_IN_TWIN_BATCHES", "1"))
    if instances > 1 and given.get("batch_sampler") is None and given.get("batch_size", 1) is not None:
        given["batch_size"] = given.get("batch_size", 1) * instances
    dropped = os.environ.get("STAND_IN_TWIN_DROP_LAST")
    chosen = dropped == "all" or dropped and str(made.__dict__["_twin"][0]) in dropped.split()
    if chosen and given.get("batch_sampler") is None and given.get("batch_size", 1) is not None:
        given["drop_last"] = True


# ------------------------------------------------------------------------------------------------ what is recorded


@contextlib.contextmanager
def _plainly():
    """Tensors as they are, without marks of devices, gradients or regions of autocast."""
    import torch

    with torch._C.DisableTorchFunction(), torch.no_grad():
        yield


def _summary(tensor):
    """A tensor in three numbers: how many values, their norm and their sum."""
    values = tensor.detach().double()
    return (tuple(values.shape), float(values.norm()), float(values.sum()))


def _flat(value, path="", found=None):
    """Tensors and numbers in whatever is saved, by where they stand."""
    import torch

    found = {} if found is None else found
    if isinstance(value, torch.nn.Module):
        value = value.state_dict()
    if isinstance(value, torch.Tensor):
        found[path] = _summary(value) if not value.is_complex() else _summary(torch.view_as_real(value))
    elif isinstance(value, dict):
        if "ipu_state" in value and "ipu_param" in value:
            # What PopTorch's own optimizers save: their settings as tensors beside the moments.
            note("saved", "the optimizer state is saved in PopTorch's format, which only PopTorch can read")
            value = {"state": value["ipu_state"] or {}}
        for key, item in value.items():
            _flat(item, f"{path}.{key}" if path else str(key), found)
    elif isinstance(value, (list, tuple)):
        for number, item in enumerate(value):
            _flat(item, f"{path}.{number}", found)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        found[path] = float(value)
    return found


def _array(tensor):
    return tensor.detach().to("cpu").double().numpy().copy()


def _weights(module):
    return {name: _array(value) for name, value in [*module.named_parameters(), *module.named_buffers()]}


def _bare(module):
    """A module without what wraps it: DDP, DataParallel, Lightning's strategies."""
    import torch

    while isinstance(module, (torch.nn.parallel.DistributedDataParallel, torch.nn.DataParallel)):
        module = module.module
    return _hosts.get(id(module), (module, module))[1]


def _root(module):
    """The number of a module that trains."""
    module = _bare(module)
    for number, known in enumerate(_roots):
        if known is module:
            return number
    _roots.append(module)
    with _plainly():
        start = _weights(module)
        _hand_over(len(_roots) - 1, module, start)
        RECORD["start"].append(start)
    RECORD["modules"].append(type(module).__name__)
    return len(_roots) - 1


@functools.lru_cache(maxsize=None)
def _others_start():
    file = os.environ.get("STAND_IN_TWIN_START")
    if not file:
        return []
    with open(file, "rb") as source:
        return pickle.load(source)["start"]


def _hand_over(number, module, start):
    """The other run's start weights, where the modules are alike and these are others."""
    import torch

    others = _others_start()
    if number >= len(others):
        return
    theirs, mine = others[number], dict([*module.named_parameters(), *module.named_buffers()])
    if [value.shape for value in theirs.values()] == [value.shape for value in start.values()]:
        places = dict(zip(theirs, mine))
    else:
        # A module that holds more than the original's, such as the loss and its weights.
        fits = {name: [own for own in mine if own == name or own.endswith(f".{name}")] for name in theirs}
        if all(own and all(_is_same(start[name], theirs[of]) for name in own) for of, own in fits.items()):
            # A copy of the model, such as a teacher, begins like it.
            return
        places = {name: own[0] for name, own in fits.items() if len(own) == 1 and tuple(mine[own[0]].shape) == theirs[name].shape}
        if len(places) != len(theirs):
            note("start", "the modules differ, so each started with its own weights")
            return
    if all((start[own] == theirs[name]).all() for name, own in places.items()):
        return
    note("start", f"{type(module).__name__} drew different initial weights: both started with the original's")
    for name, own in places.items():
        mine[own].data.copy_(torch.from_numpy(theirs[name]))
        start[own] = theirs[name]


def _is_same(one, other):
    return one.shape == other.shape and bool((one == other).all())


def _place():
    from contracts import place

    file, line = place()
    return (os.path.abspath(file), line)


def _samples(args, kwargs):
    import torch

    first = next((value for value in _leaves((args, kwargs)) if isinstance(value, torch.Tensor) and value.dim() > 0), None)
    return first


def _leaves(value):
    if isinstance(value, dict):
        value = list(value.values())
    elif type(value).__module__ not in ("builtins", "torch", "torch.nn.parameter") and hasattr(value, "__dict__") and not callable(value):
        value = list(vars(value).values())
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from _leaves(item)
    else:
        yield value


def _call(original, self, *args, **kwargs):
    """Around `nn.Module.__call__`."""
    import torch

    # What records the model as a graph, for TensorBoard or a file, trains nothing.
    if _counts["depth"] or _counts["quiet"] or torch.jit.is_tracing() or type(self).__module__.startswith("torchvision.transforms"):
        return original(self, *args, **kwargs)
    _settle()
    parameters = list(self.parameters())
    if not parameters:
        return original(self, *args, **kwargs)
    _counts["depth"] += 1
    try:
        trains = torch.is_grad_enabled() and any(p.requires_grad for p in parameters)
        if self.training and len(RECORD["steps"]) >= STEPS and not (_behind or _counts["unbroken"]):
            _left_behind()
        if trains:
            _root(self)
            _forget_cleared()
            # Whether a forward belongs to a step is known later, and dropout draws in training mode alone.
            _counts["forward"] += self.training
            # The global generators alone: a program that gives dropout a generator of its own has seeded it.
            if self.training:
                import stand_in_random

                stand_in_random.begin(SEED * 7919 + _counts["forward"])
        found = original(self, *args, **kwargs)
        _note_forward(self, args, kwargs, found, trains)
        return found
    finally:
        _counts["depth"] -= 1


def _left_behind():
    """A forward pass may follow the last step, of a step that is not taken any more, or in training mode though it trains nothing: it changes
    running statistics, and a device may not bring these back."""
    for function in _before_end:
        function()
    with _plainly():
        _behind.append((len(RECORD["steps"]), [{name: _array(value) for name, value in root.named_buffers()} for root in _roots]))


def _note_forward(module, args, kwargs, found, trains):
    """Writes a forward down: as an evaluation, or as one that may turn out to be a step's when a gradient goes through its output."""
    import torch

    first = _samples(args, kwargs)
    outputs = [value for value in _leaves(found) if isinstance(value, torch.Tensor) and value.is_floating_point()]
    grad = torch.is_grad_enabled()
    with _plainly():
        entry = {
            "step": len(RECORD["steps"]), "module": type(_bare(module)).__name__, "training": module.training,
            "samples": 0 if first is None else first.shape[0] if first.dim() else 1, "batches": 1, "grad": grad,
            "output": float(outputs[0].double().sum()) if outputs else 0.0,
            # Whether it is a part of the step, as a teacher's of the step's own batch is.
            "of_step": False,
        }
        through = [value for value in outputs if value.requires_grad] if trains else []
        if through or trains and not outputs:
            # Whether a gradient goes through something that is no tensor can't be seen.
            _pending["forwards"].append({"went": not outputs, "entry": entry, "module": _bare(module), "given": first, "input": None if first is None else _summary(first)})
            forward = _pending["forwards"][-1]
            for value in through:
                value.register_hook(lambda gradient, forward=forward: forward.update(went=True))
        if trains and RECORD["call"] is None:
            RECORD["call"] = [list(value.shape) for value in _leaves((args, kwargs)) if isinstance(value, torch.Tensor)]
        if first is not None:
            _pending["seen"].append(_summary(first))
            _pending["given"].append((entry, _bare(module), _pending["seen"][-1]))
        # One that trains after all is taken out again.
        RECORD["evaluations"].append(entry)


def _taken_forwards():
    """Those that the step which ends here has gone back through; they are no evaluations."""
    taken = [forward for forward in _pending["forwards"] if forward["went"]]
    _pending["forwards"] = [forward for forward in _pending["forwards"] if not forward["went"]]
    gone = {id(forward["entry"]) for forward in taken}
    RECORD["evaluations"] = [entry for entry in RECORD["evaluations"] if id(entry) not in gone]
    return taken


def _merged(evaluations):
    """Calls of one module between the same steps and in the same mode are one evaluation."""
    found = []
    for entry in evaluations:
        if found and all(found[-1].get(key) == entry.get(key) for key in ("step", "module", "training", "of_step")):
            for key in ("samples", "batches", "output"):
                found[-1][key] += entry[key]
        else:
            found.append(dict(entry))
    return found


def _differentiated(tensors):
    """Behind `backward`'s name: a value whose gradient is on its way."""
    import torch

    if not FILE or _counts["quiet"]:
        return
    _settle()
    tensors = [tensors] if isinstance(tensors, torch.Tensor) else list(tensors)
    if len(RECORD["steps"]) >= STEPS and not _counts["unbroken"]:
        _go_back(tensors)
        raise EndOfRun(0)
    if _by_hand():
        import by_hand

        with _plainly():
            by_hand.remember(tensors)
    with _plainly():
        _pending["objective"].append(sum(float(tensor.detach().double().sum()) for tensor in tensors))
    _pending["places"].append(_place())


def _go_back(tensors):
    """Goes back through the step that is not taken any more, so that its forward passes are known from evaluations. No weight gets a gradient."""
    import torch

    with torch._C.DisableTorchFunction():
        leaves, nodes, seen = [], [tensor.grad_fn for tensor in tensors], set()
        while nodes:
            node = nodes.pop()
            if node is not None and node not in seen:
                seen.add(node)
                leaves += [node.variable] if hasattr(node, "variable") else []
                nodes += [following for following, _ in node.next_functions]
        if leaves:
            torch.autograd.grad(tensors, leaves, [torch.ones_like(tensor) for tensor in tensors], allow_unused=True)
    # Where a device goes back by itself, from what the host tells it, the last forward pass is the one.
    if _pending["forwards"] and not any(forward["went"] for forward in _pending["forwards"]):
        _pending["forwards"][-1]["went"] = True


def _names(parameters):
    known = {}
    for number, root in enumerate(_roots):
        for name, value in root.named_parameters():
            known.setdefault(id(value), name if len(_roots) == 1 else f"{number}.{name}")
    for module, host in _hosts.values():
        for (name, value), _ in zip(module.named_parameters(), host.named_parameters()):
            known.setdefault(id(value), name)
    return [known.get(id(value), f"parameter {number}") for number, value in enumerate(parameters)]


def _by_hand():
    """Whether nothing but the program itself can update weights: it made no optimizer, and no device holds them."""
    return not _counts["optimizers"] and not _counts["quiet"] and not _hosts


def _came():
    """Behind `backward`: gradients have come."""
    if FILE and _by_hand():
        import by_hand

        with _plainly():
            by_hand.gathered(_summary)


def _settle():
    """Writes down the step that was taken by hand since gradients came."""
    if not (_by_hand() and _pending["places"]):
        return
    import by_hand

    with _plainly():
        found = by_hand.taken()
    if found:
        parameters = [leaf for leaf, _ in found]
        gradients = {name: gradient for name, (_, gradient) in zip(_names(parameters), found) if gradient}
        _note_step(gradients, parameters, _pending["places"][-1], {"optimizer": 0, "kind": "by hand", "rates": [], "settings": []})


@contextlib.contextmanager
def step(optimizer):
    """Around the update of an optimizer."""
    if not FILE or _counts["quiet"]:
        yield
        return
    if optimizer not in _optimizers:
        _optimizers.append(optimizer)
    place = _place()
    _nudge(optimizer)
    yield
    parameters = [value for group in optimizer.param_groups for value in group["params"]]
    with _plainly():
        gradients = {}
        for name, value in zip(_names(parameters), parameters):
            if value.grad is not None:
                gradients[name] = _summary(value.grad.coalesce().values() if value.grad.is_sparse else value.grad)
    _note_step(gradients, parameters, place, {
        "optimizer": _optimizers.index(optimizer), "kind": type(optimizer).__name__,
        "rates": [float(group["lr"]) for group in optimizer.param_groups if "lr" in group],
        "settings": [_settings(group) for group in optimizer.param_groups]})


def _note_step(gradients, parameters, place, of_optimizer):
    """Writes a step down, and what led to it; what comes next belongs to another."""
    RECORD["devices"].update(value.device.type for value in parameters)
    forwards = _taken_forwards()
    inputs = [(shape, total) for shape, _, total in (forward["input"] for forward in forwards if forward["input"])]
    _note_given(forwards)
    objective = sum(_pending["objective"])
    if not math.isfinite(objective) and not any(one["kind"] == "loss" for one in RECORD["notes"]):
        note("loss", f"the loss of step {len(RECORD['steps']) + 1} is {objective}: from there on nothing can be seen to differ")
    with _plainly():
        weights = {name: _summary(value) for name, value in zip(_names(parameters), parameters)}
    RECORD["steps"].append({
        **of_optimizer, "objective": objective,
        "losses": list(_pending["objective"]), "samples": _samples_of(forwards), "inputs": inputs,
        "seen": [(shape, total) for shape, _, total in _pending["seen"]],
        "norm": math.sqrt(sum(norm * norm for _, norm, _ in gradients.values())), "gradients": gradients, "weights": weights,
        "place": place, "backward": _pending["places"][-1:] and _pending["places"][-1],
    })
    for key in ("objective", "places", "seen", "given"):
        _pending[key].clear()


def _note_given(forwards):
    """Marks the evaluations that belong to the step: by other models, of a batch that the step was given, too; and by the step's own model,
    in its mode and without gradients, of as many samples."""
    trained = [forward["input"] for forward in forwards if forward["input"]]
    for entry, module, given in _pending["given"]:
        own = [forward["entry"] for forward in forwards if forward["module"] is module]
        alike = any((entry["training"], entry["samples"]) == (one["training"], one["samples"]) for one in own)
        entry["of_step"] = alike and not entry["grad"] if own else given in trained


def _forget_cleared():
    """What was differentiated and then cleared, before any update, is of no step: the rest of an accumulation, at the end of an epoch."""
    # A device that holds the weights has their gradients, too.
    if not _pending["objective"] or _hosts or _by_hand():
        return
    with _plainly():
        if any(value.grad is not None and bool(value.grad.any()) for root in _roots for value in root.parameters()):
            return
    _note_given(_taken_forwards())
    for key in ("objective", "places", "seen", "given"):
        _pending[key].clear()


def _samples_of(forwards):
    """One tensor that goes through a model more than once is counted once."""
    # They are all kept until the step ends, so that no two have one identity.
    return sum({number if forward["given"] is None else ("tensor", id(forward["given"])): forward["entry"]["samples"] for number, forward in enumerate(forwards)}.values())


def _nudge(optimizer):
    """Changes each gradient by so much of the largest of all: that is what rounding is measured by, in a gradient that is zero but for it too."""
    import torch

    size = float(os.environ.get("STAND_IN_TWIN_NUDGE", "0"))
    gradients = [value.grad for group in optimizer.param_groups for value in group["params"] if value.grad is not None and not value.grad.is_sparse]
    if not size or not gradients:
        return
    generator = torch.Generator().manual_seed(len(RECORD["steps"]))
    with _plainly():
        largest = max(float(gradient.abs().max()) for gradient in gradients if gradient.numel())
        for gradient in gradients:
            gradient.add_(torch.empty(gradient.shape, dtype=gradient.dtype).uniform_(-1, 1, generator=generator) * (size * largest))


def _settings(group):
    names = ("momentum", "dampening", "nesterov", "betas", "eps", "weight_decay", "alpha", "amsgrad", "maximize")
    return {name: group[name] for name in names if isinstance(group.get(name), (int, float, tuple, bool))}


# ------------------------------------------------------------------------------------------------ random numbers


def quiet_random():
    """What is drawn inside is put back."""
    return _state_of_random()


@contextlib.contextmanager
def _state_of_random(seed=None):
    """Puts the generators back as they were; inside they start from a seed, where one is given."""
    from stand_in_random import generators

    numpy = sys.modules.get("numpy")
    before = [generator.get_state() for generator in generators()], random.getstate(), numpy.random.get_state() if numpy else None
    if seed is not None:
        _seed(seed)
    try:
        yield
    finally:
        for generator, state in zip(generators(), before[0]):
            generator.set_state(state)
        random.setstate(before[1])
        if numpy:
            numpy.random.set_state(before[2])


def _seed(seed):
    from stand_in_random import generators

    for generator in generators():
        generator.manual_seed(seed)
    random.seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed % 2**32)


def seed_sample(loader, passes, sample):
    """The generators, as they are for the n-th sample of a pass over a loader."""
    _seed(SEED + 1000003 * loader + 10007 * passes + 31 * sample)


class _Seeded:
    """A data set each sample of which is read with random numbers of its place in the pass."""

    def __init__(self, dataset, place):
        self._dataset, self._place = dataset, place

    def __getitem__(self, index):
        self._place[2] += self._place[3]
        seed_sample(*self._place[:3])
        return self._dataset[index]

    def __len__(self):
        return len(self._dataset)


def _fetch(original, self, index):
    place = self.__dict__.get("_twin")
    if place is None:
        return original(self, index)
    dataset = self.dataset
    self.dataset = _Seeded(dataset, place)
    try:
        with _state_of_random(SEED):
            return original(self, index)
    finally:
        self.dataset = dataset


def _iterate(original, self):
    """Around `DataLoader.__iter__`: the same order in both runs, and an end when there are steps enough."""
    number, passes = self.__dict__.get("_twin", [0, 0])
    self.__dict__.setdefault("_twin", [number, 0])[1] += 1
    with _state_of_random(SEED + 1000003 * number + 10007 * passes):
        iterator = original(self)
    fetcher = getattr(iterator, "_dataset_fetcher", None)
    if fetcher is not None:
        # Its place among the samples of all processes that take turns.
        turns = getattr(self.sampler, "num_replicas", 1) if _deals() else 1
        fetcher.__dict__["_twin"] = [number, passes, (self.sampler.rank + 1 - turns) if turns > 1 else 0, turns]
    return _batches(self, iterator, number, passes)


def _batches(loader, iterator, number, passes):
    begun = len(RECORD["steps"])
    entry = {"loader": number, "pass": passes, "batches": 0, "samples": 0, "whole": False, "batch_size": loader.batch_size,
             "length": _length(loader), "trains": False}
    RECORD["passes"].append(entry)
    while True:
        entry["trains"] = len(RECORD["steps"]) > begun
        if entry["trains"] and len(RECORD["steps"]) >= STEPS or not entry["trains"] and entry["batches"] >= max(EVALUATED, STEPS):
            return
        try:
            batch = next(iterator)
        except StopIteration:
            entry["whole"] = True
            return
        entry["batches"] += 1
        entry["samples"] += _size(batch)
        yield batch


def _size(batch):
    import torch

    first = next((value for value in _leaves(batch) if isinstance(value, torch.Tensor) and value.dim()), None)
    return 0 if first is None else first.shape[0]


def _length(loader):
    try:
        return len(loader.dataset)
    except TypeError:
        return None


def _sampled(original, self):
    if self.generator is not None:
        yield from original(self)
        return
    import torch

    self.__dict__["_passes"] = self.__dict__.get("_passes", 0) + 1
    self.generator = torch.Generator()
    self.generator.manual_seed(SEED + 104729 * self.__dict__["_passes"])
    try:
        yield from original(self)
    finally:
        self.generator = None


def _deals():
    """Whether processes deal out the samples of a program that had one: then it is what this one would read."""
    return os.environ.get("STAND_IN_TWIN_DEALT") == "1"


def _dealt(original, self):
    """Around `DistributedSampler.__iter__`."""
    if not (_deals() and self.shuffle):
        return original(self)
    import torch

    self.__dict__["_passes"] = self.__dict__.get("_passes", 0) + 1
    generator = torch.Generator()
    generator.manual_seed(SEED + 104729 * self.__dict__["_passes"])
    order = torch.randperm(len(self.dataset), generator=generator).tolist()
    note("order", "the samples are read in the original's order; DistributedSampler has one of its own, the same for each seed and epoch")
    return iter((order + order)[self.rank:self.total_size:self.num_replicas])


# ------------------------------------------------------------------------------------------------ start and end


def install():
    if not FILE:
        return
    import torch
    import torch_calls
    from torch.utils.data import _utils, sampler

    torch_calls.around(torch.nn.Module, "__call__", _call)
    torch_calls.SEEN_BY["backward"].append(_differentiated)
    torch_calls.SEEN_BY["gradients"].append(_came)
    torch_calls.around(torch.utils.data.DataLoader, "__iter__", _iterate)
    torch_calls.around(_utils.fetch._MapDatasetFetcher, "fetch", _fetch)
    for kind in (sampler.RandomSampler, sampler.SubsetRandomSampler, sampler.WeightedRandomSampler):
        torch_calls.around(kind, "__iter__", _sampled)
    torch_calls.around(torch.utils.data.distributed.DistributedSampler, "__iter__", _dealt)
    if precision() == "float32":
        _keep_float32(torch)
    if "STAND_IN_TWIN_NORM" in os.environ:
        import shares_of_replicas

        torch_calls.around(torch, "batch_norm", shares_of_replicas.batch_norm)
    if "STAND_IN_TWIN_LOSS" in os.environ:
        import shares_of_replicas

        torch_calls.around(torch.nn.Module, "__call__", shares_of_replicas.of_module)
        for name in ("cross_entropy", "nll_loss"):
            torch_calls.around(torch.nn.functional, name, shares_of_replicas.loss)
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.set_num_threads(1)
    _seed(SEED)
    atexit.register(dump)


def kept(dtype):
    """The type that stands for one: float32 for those of half its size, in both runs alike."""
    import torch

    if dtype in (torch.float16, torch.bfloat16) and precision() == "float32":
        note("precision", "the program uses a half-precision type, but was run in float32")
        return torch.float32
    return dtype


def _keep_float32(torch):
    import torch_calls
    from stand_in_calls import MACHINE

    def to(original, self, *args, **kwargs):
        keep = lambda value: kept(value) if isinstance(value, torch.dtype) else value  # noqa: E731
        return original(self, *map(keep, args), **{key: keep(value) for key, value in kwargs.items()})

    # Where there is a device, its function mode sees calls on tensors.
    for kind in (torch.nn.Module, torch.Tensor)[: 2 if MACHINE == "cpu" else 1]:
        torch_calls.around(kind, "to", to)
        for name in ("half", "bfloat16"):
            torch_calls.around(kind, name, lambda original, self, *_, name=name, **__: self.to(getattr(torch, {"half": "float16"}.get(name, name))))


def dump():
    """Writes the record. Nothing of a program's last words may keep it from being written."""
    if RECORD.get("of") == "tensorflow":
        return
    import stand_in_random

    _settle()
    for function in _before_end:
        function()
    with _plainly():
        RECORD["end"] = [_weights(root) for root in _roots]
        RECORD["types"] = [{name: str(value.dtype) for name, value in root.named_parameters()} for root in _roots]
        for steps, buffers in _behind:
            if steps == len(RECORD["steps"]):
                RECORD["end"] = [{**end, **before} for end, before in zip(RECORD["end"], [*buffers, *({} for _ in RECORD["end"])])]
        for optimizer in _optimizers:
            parameters = [value for group in optimizer.param_groups for value in group["params"]]
            RECORD["states"].append({
                name: _flat(optimizer.state.get(value, {})) for name, value in zip(_names(parameters), parameters)})
    # A batch that was gone through when all steps were done is none of an evaluation.
    cut = {id(forward["entry"]) for forward in _pending["forwards"] if forward["went"]}
    RECORD["evaluations"] = _merged([entry for entry in RECORD["evaluations"] if id(entry) not in cut])
    RECORD["unfinished"] = {"objective": list(_pending["objective"])}
    RECORD["stand_ins"] = _stand_ins()
    RECORD["drew_on_device"] = stand_in_random.used[0]
    with open(FILE, "wb") as out:
        pickle.dump(RECORD, out)


def _stand_ins():
    """The packages of the kit that the program imported in the place of the vendors' own."""
    from contracts import KIT

    files = {name: getattr(module, "__file__", None) or "" for name, module in list(sys.modules.items()) if "." not in name}
    recorder = os.path.dirname(os.path.abspath(__file__))
    return sorted(name for name, file in files.items() if file.startswith(KIT + os.sep) and not file.startswith((recorder, os.path.join(KIT, "server"))))
