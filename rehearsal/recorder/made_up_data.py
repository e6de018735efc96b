"""Samples for data sets of the program whose files are not there: random tensors of the shapes that its training step takes.

`STAND_IN_NO_DATA=FILE` asks for them. A run with `STAND_IN_NO_DATA_FIND=1` finds the shapes (`shapes_by_trying.py`) and writes them to the file;
it ends there. Other runs read the file, so that original and port get the same samples. Nothing here touches a data set that can be read.

What the file has:

    {"data": {"Pets": {"why": "No such file or directory: 'pets'", "sample": NODE, "attributes": {"classes": VALUE}, "code": 4711}},
     "batches": {"16": 6}, "arguments": {"root": "no-data-root"}, "stuck": null}

`code` tells whether the port's class reads its samples as the original's does.

A NODE is a tensor without the dimension of the batch, `{"shape": [3, 32, 32], "type": "normal"}`, or `{"tuple": [NODE, …]}`, or `{"dict": {"image": NODE}}`.
The types: `normal`, numbers around 0; `unit`, numbers from 0 to 1; `whole`, whole numbers from 0 up to, not including, `below`; `text`.
"""

import ast
import builtins
import functools
import inspect
import json
import os
import random
import sys
import textwrap
import zlib

FILE = os.environ.get("STAND_IN_NO_DATA")
FINDS = os.environ.get("STAND_IN_NO_DATA_FIND") == "1"
# Samples of a data set that is made up.
COUNT = 2048
# A step on made-up data shows no more with a larger batch than with a small one.
BATCH = int(os.environ.get("STAND_IN_NO_DATA_BATCH", "0"))
# What a missing package or an interrupted run is, is no missing data.
NOT_DATA = (ImportError, MemoryError)
MADE_UP = "_made_up"
IMAGE = {"shape": [3, 32, 32], "type": "normal"}
LABEL = {"shape": [], "type": "whole", "below": 2}

# By the name of the class. What is found is filled in here.
known = {}
# The arguments that the program requires and was not given, with their values.
filled = {}
# The sizes of batches that the original asks for, with those that it gets.
batches = {}


# ------------------------------------------------------------------------------------------------ samples


def leaves(node, path=()):
    """The tensors of a sample, by where they stand."""
    if "tuple" in node or "dict" in node:
        items = enumerate(node["tuple"]) if "tuple" in node else node["dict"].items()
        return [leaf for name, item in items for leaf in leaves(item, (*path, name))]
    return [(path, node)]


def replaced(node, path, other):
    """A sample with another node at a place."""
    if not path:
        return other
    first, rest = path[0], path[1:]
    if "tuple" in node:
        return {"tuple": [replaced(item, rest, other) if at == first else item for at, item in enumerate(node["tuple"])]}
    return {"dict": {name: replaced(item, rest, other) if name == first else item for name, item in node["dict"].items()}}


def told(node):
    """A sample in words."""
    if "tuple" in node:
        return f"({', '.join(told(item) for item in node['tuple'])})"
    if "dict" in node:
        return f"{{{', '.join(f'{name}: {told(item)}' for name, item in node['dict'].items())}}}"
    if node["type"] == "text":
        return "text"
    kind = f"whole number{'s' if node['shape'] else ''} below {node['below']}" if node["type"] == "whole" else "float32"
    return f"{kind} {' × '.join(map(str, node['shape']))}".strip()


def sample(name, node, index):
    """The sample of a data set at an index, always the same."""
    import torch
    import twin

    with twin.quiet_random():
        generator = torch.Generator().manual_seed(zlib.crc32(f"{name} {index}".encode()))
        return _drawn(name, node, generator, ())


def _drawn(name, node, generator, path):
    import torch

    if "tuple" in node:
        return tuple(_drawn(name, item, generator, (*path, at)) for at, item in enumerate(node["tuple"]))
    if "dict" in node:
        return {key: _drawn(name, item, generator, (*path, key)) for key, item in node["dict"].items()}
    if node["type"] == "text":
        return " ".join(random.Random(torch.randint(2**31, (), generator=generator).item()).choices(("a", "port", "of", "words"), k=8))
    if node["type"] == "whole":
        found = torch.randint(max(node["below"], 1), node["shape"], generator=generator)
    else:
        draw = torch.rand if node["type"] == "unit" else torch.randn
        found = draw(node["shape"], generator=generator)
    if FINDS:
        import shapes_by_trying

        shapes_by_trying.mark(found, (name, path))
    return found


def guessed(kind, methods=("__getitem__", "__iter__")):
    """What a sample of a data set looks like, as the method that reads one says; two tensors, where that can't be read."""
    for name in methods:
        method = inspect.getattr_static(kind, name, None)
        try:
            function = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(method)))).body[0]
        except (OSError, TypeError, SyntaxError, IndexError):
            continue
        given = [node.value for node in ast.walk(function) if isinstance(node, (ast.Return, ast.Yield)) and node.value is not None]
        handed_on = given and isinstance(given[-1], ast.Call) and isinstance(given[-1].func, ast.Attribute)
        if handed_on and given[-1].func.attr not in methods and hasattr(kind, given[-1].func.attr):
            return guessed(kind, (given[-1].func.attr,))
        if given:
            return _first_is_image(_shape_of(given[-1], function, 0))
    return {"tuple": [IMAGE, LABEL]}


def _shape_of(value, function, depth):
    if isinstance(value, (ast.Tuple, ast.List)) and value.elts:
        return {"tuple": [_shape_of(item, function, depth) for item in value.elts]}
    if isinstance(value, ast.Dict) and value.keys and all(isinstance(key, ast.Constant) for key in value.keys):
        shapes = (_shape_of(item, function, depth) if isinstance(item, (ast.Dict, ast.Tuple, ast.List)) else LABEL for item in value.values)
        return {"dict": {key.value: shape for key, shape in zip(value.keys, shapes)}}
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "dict" and value.keywords:
        return {"dict": {keyword.arg: LABEL for keyword in value.keywords if keyword.arg}}
    if isinstance(value, ast.Name) and depth < 3:
        is_it = lambda target: isinstance(target, ast.Name) and target.id == value.id  # noqa: E731
        bound = [node.value for node in ast.walk(function) if isinstance(node, ast.Assign) and any(map(is_it, node.targets))]
        found = next((shape for shape in (_shape_of(one, function, depth + 1) for one in bound) if shape is not LABEL), LABEL)
        keys = [node.slice for node in ast.walk(function)
                if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and is_it(node.value)]
        # Python 3.8 has an `Index` around the constant.
        keys = [getattr(getattr(key, "value", key), "value", getattr(key, "value", key)) for key in keys]
        if "dict" in found or keys and all(isinstance(key, str) for key in keys) and any(isinstance(one, ast.Dict) for one in bound):
            return {"dict": {**found.get("dict", {}), **{key: LABEL for key in keys if isinstance(key, str)}}}
        return found
    return LABEL


def _first_is_image(node):
    first = leaves(node)
    return replaced(node, first[0][0], IMAGE) if first else node


def batch(size):
    """The size of a batch in the place of the one that a program asks for. A size of the port is to the original's as the one that it gets."""
    if not BATCH or not size:
        return size
    if FINDS:
        batches[str(size)] = min(size, BATCH)
    known_sizes = batches if FINDS else _found().get("batches", {})
    if str(size) in known_sizes:
        return known_sizes[str(size)]
    asked = max((int(one) for one in known_sizes), key=lambda one: (size % one == 0 or one % size == 0, one), default=0)
    return max(round(size * known_sizes[str(asked)] / asked), 1) if asked else min(size, BATCH)


# ------------------------------------------------------------------------------------------------ data sets


def install():
    """Puts itself around the data sets that the program defines."""
    if not FILE:
        return
    import contracts
    import torch

    known.update(_found().get("data", {}))
    build = builtins.__build_class__
    _kinds.extend((torch.nn.Module, dict, list, tuple, set, str, torch.Tensor))

    def defined(function, name, *bases, **given):
        kind = build(function, name, *bases, **given)
        is_own = contracts.is_of_the_program(function.__code__.co_filename)
        if is_own and isinstance(kind, type) and _reads_samples(kind, torch.utils.data.IterableDataset):
            _watch(kind)
        return kind

    builtins.__build_class__ = defined
    _own_weights(torch)
    if FINDS:
        import shapes_by_trying

        shapes_by_trying.follow()


# Classes that are read like data sets and are none.
_kinds = []


def _reads_samples(kind, streams):
    """Whether a class may be one of data sets: many have no base that says so. Objects without a table can't be told what is made up for them."""
    has = lambda name: any(name in vars(base) for base in kind.__mro__)  # noqa: E731  (a metaclass has methods of its own)
    read = has("__getitem__") and has("__len__") or issubclass(kind, streams)
    return read and kind.__dictoffset__ != 0 and not issubclass(kind, tuple(_kinds))


def _watch(kind):
    own = vars(kind)
    if "__init__" in own:
        kind.__init__ = _made(own["__init__"])
    if "__getitem__" in own:
        kind.__getitem__ = _read(own["__getitem__"])
    if "__iter__" in own and "__getitem__" not in own:
        kind.__iter__ = _streamed(own["__iter__"])
    if "__len__" in own:
        kind.__len__ = _counted(own["__len__"])


def _make_up(data_set, error):
    """From here on the data set has made-up samples; false where another run read it."""
    name = type(data_set).__name__
    if isinstance(error, NOT_DATA) or not FINDS and name not in known:
        return False
    if MADE_UP not in vars(data_set):
        vars(data_set)[MADE_UP] = name
        _answer(type(data_set))
        code = _code(type(data_set))
        entry = known.setdefault(name, {"why": f"{type(error).__name__}: {error}", "sample": None, "attributes": {}, "code": code})
        if entry["sample"]:
            _note(name, entry, entry["code"] == code)
    return True


def _code(kind):
    """What the code of a class is, whatever its comments and its formatting are."""
    try:
        return zlib.crc32(ast.dump(ast.parse(textwrap.dedent(inspect.getsource(kind)))).encode())
    except (OSError, TypeError, SyntaxError):
        return 0


def _note(name, entry, is_same):
    import twin

    told_why = f"the samples of {name} are made up, each {told(entry['sample'])} ({entry['why']})"
    twin.note("data", told_why if is_same else f"{told_why}. The port changes this class, and its code is not run: this run shows nothing of that")


def _answer(kind):
    """Has the objects of a class answer for what could not be made."""
    if "_answers" not in vars(kind):
        kind._answers = True
        kind.__getattr__ = _asked(next((vars(base)["__getattr__"] for base in kind.__mro__ if "__getattr__" in vars(base)), None))


def _is_made_up(data_set):
    return MADE_UP in vars(data_set)


def _made(original):
    @functools.wraps(original)
    def init(self, *args, **kwargs):
        try:
            original(self, *args, **kwargs)
        except Exception as error:
            if not _make_up(self, error):
                raise

    return init


def _read(original):
    @functools.wraps(original)
    def getitem(self, index):
        if not _is_made_up(self):
            try:
                return original(self, index)
            except Exception as error:
                # The end of a loop over the indices is no fault, nor is a name that a table does not have.
                ends = isinstance(error, IndexError) and _length(self) not in (None, 0)
                if ends or isinstance(index, str) or not _make_up(self, error):
                    raise
        if isinstance(index, int) and index >= COUNT:
            raise IndexError(index)
        return _sample(self, int(index) if not isinstance(index, (str, slice)) else 0)

    return getitem


def _streamed(original):
    @functools.wraps(original)
    def iterate(self):
        count = 0
        if not _is_made_up(self):
            try:
                for one in original(self):
                    count += 1
                    yield one
                return
            except Exception as error:
                if count or not _make_up(self, error):
                    raise
        for index in range(COUNT):
            yield _sample(self, index)

    return iterate


def _counted(original):
    @functools.wraps(original)
    def count(self):
        if _is_made_up(self):
            return COUNT
        try:
            found = original(self)
        except Exception as error:
            if not _make_up(self, error):
                raise
            return COUNT
        # A list of files that were looked for and not found.
        if found == 0 and _is_to_have_samples(self, sys._getframe(1)) and _make_up(self, LookupError("it has no samples")):
            return COUNT
        return found

    return count


def _is_to_have_samples(data_set, asking):
    """Whether something that is empty is a data set without its data: a loader asks, or it has the base of data sets and is not being filled."""
    import torch

    is_loader = str(asking.f_globals.get("__name__")).startswith("torch.utils.data")
    return is_loader or isinstance(data_set, torch.utils.data.Dataset) and asking.f_locals.get("self") is not data_set


def _length(data_set):
    try:
        return len(data_set)
    except Exception:
        return None


def _asked(original):
    """What the program reads of a data set that could not be made."""

    def answer(self, name):
        if original is not None:
            try:
                return original(self, name)
            except AttributeError:
                pass
        if not _is_made_up(self) or name.startswith("__"):
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        return _attribute(self, name)

    return answer


def _entry(data_set):
    return known.setdefault(vars(data_set)[MADE_UP], {"why": "", "sample": None, "attributes": {}})


def _sample(data_set, index):
    entry = _entry(data_set)
    if entry["sample"] is None:
        if not FINDS:
            raise RuntimeError(f"no sample of {vars(data_set)[MADE_UP]} was found that its training takes")
        entry["sample"] = guessed(type(data_set))
    _try_from_here()
    return sample(vars(data_set)[MADE_UP], _entry(data_set)["sample"], index)


# What an attribute of a data set may be: how many there are of something, or their names.
ATTRIBUTES = (10, [f"class{number}" for number in range(10)], {f"class{number}": number for number in range(10)}, 1.0)


def _attribute(data_set, name):
    attributes = _entry(data_set)["attributes"]
    if name not in attributes:
        if not FINDS:
            raise AttributeError(name)
        attributes[name] = ATTRIBUTES[0]
    _try_from_here()
    return _entry(data_set)["attributes"][name]


def _try_from_here():
    if FINDS:
        import shapes_by_trying

        shapes_by_trying.search()


def end(stuck=None):
    """Writes down what was found, and ends the run that looked for it."""
    _save(stuck)
    sys.stdout.flush()
    os._exit(0)


def _save(stuck=None):
    with open(FILE, "w", encoding="utf-8") as out:
        json.dump({"data": known, "batches": batches, "arguments": filled, "stuck": stuck}, out)


# ------------------------------------------------------------------------------------------------ arguments and weights


@functools.lru_cache(None)
def _found():
    if FINDS or not os.path.exists(FILE):
        return {}
    with open(FILE, encoding="utf-8") as source:
        return json.load(source)


def fill_in_arguments():
    """Arguments that the original requires and was not given: they name data, more often than not."""
    import argparse
    import atexit

    parse = argparse.ArgumentParser.parse_known_args
    if FINDS:
        # A program that needs nothing else has its arguments alone, if it came to its end.
        atexit.register(lambda: filled and not getattr(sys, "last_value", None) and _save())

    def parsed(self, args=None, namespace=None):
        given = list(sys.argv[1:] if args is None else args)
        for action in self._actions:
            named = any(word.partition("=")[0] in action.option_strings for word in given)
            if not (FINDS or action.dest in _found().get("arguments", ())):
                continue
            if action.option_strings and action.required and not named:
                action.required, action.default = False, _argument(action)
            elif not action.option_strings and action.nargs is None and not isinstance(action, argparse._SubParsersAction):
                action.nargs, action.default = "?", _argument(action)
        return parse(self, args, namespace)

    argparse.ArgumentParser.parse_known_args = parsed


def _argument(action):
    value = next(iter(action.choices)) if action.choices else {int: 1, float: 1.0}.get(action.type, f"no-data-{action.dest}")
    filled[action.dest] = str(value)
    several = {"+": 1, "*": 1}.get(action.nargs, action.nargs)
    return [value] * several if isinstance(several, int) else value


def _own_weights(torch):
    """Weights of a file that was made up, or would be downloaded, are those that the model has."""
    import stand_in_data
    import torch_calls
    import torch.utils.model_zoo

    def load(original, file, *args, **kwargs):
        is_made_up = isinstance(file, (str, os.PathLike)) and os.path.isfile(file) and os.path.getsize(file) == 0
        return stand_in_data.Own() if is_made_up else original(file, *args, **kwargs)

    torch_calls.around(torch, "load", load)

    stand_in_data.own_weights(torch)
    torch.utils.model_zoo.load_url = torch.hub.load_state_dict_from_url
