"""The shapes that a program's training takes, found by trying.

Where the first made-up sample is asked for, the process divides: the child goes on with the program, on samples of some shape, and tells how far it
came: which lines of the program and how many calls of PyTorch, which call failed, on tensors of which shapes, and from which parts of a sample these
were computed. The parent changes that part to what the call takes, and tries again, until a child trains.
"""

import atexit
import functools
import gc
import json
import math
import os
import re
import select
import signal
import sys
import time
import traceback

import made_up_data
from made_up_data import known, leaves, replaced

# The seconds that a child may take; one that is slow has come far enough with so many steps.
PATIENCE, ENOUGH = 30, 2
# When the search has to end, in seconds since 1970.
UNTIL = float(os.environ.get("STAND_IN_NO_DATA_UNTIL", "inf"))
# Who waits for it; where that process is gone, nobody does.
STARTED_BY = os.getppid()
MARK = "_made_up_from"
SIZES = (32, 28, 64, 16, 128, 224, 256, 96, 48, 299, 512)
# Channels, coordinates, features.
FEW = (1, 2, 3, 4, 6, 7, 8, 10)
LENGTHS = (16, 128, 1, 64, 256, 512, 1024)
# A classification's classes where nothing says how many there are.
CLASSES = 2

_state = {"child": None, "calls": 0, "lines": set(), "failed": None}


# ------------------------------------------------------------------------------------------------ what a child sees


def mark(tensor, *parts):
    setattr(tensor, MARK, frozenset(parts))


def follow():
    """Has every call of PyTorch tell what it was computed from, and where it failed."""
    import torch
    from torch.overrides import TorchFunctionMode

    class Follow(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            kwargs = kwargs or {}
            if _state["child"] is None:
                return func(*args, **kwargs)
            tensors = _tensors([args, kwargs], [])
            parts = frozenset().union(*(getattr(tensor, MARK, ()) for tensor in tensors))
            try:
                found = func(*args, **kwargs)
            except Exception as error:
                failed = _state["failed"]
                if failed is None or failed["error"] is not error:
                    _state["failed"] = {"error": error, "call": getattr(func, "__name__", str(func)), "given": [_described(one) for one in tensors],
                                        "groups": kwargs.get("groups", args[6] if len(args) > 6 and isinstance(args[6], int) else 1)}
                raise
            _state["calls"] += 1
            if parts:
                for tensor in _tensors([found], []):
                    if not isinstance(tensor, torch.nn.Parameter):
                        setattr(tensor, MARK, parts | getattr(tensor, MARK, frozenset()))
            return found

    Follow().__enter__()


def _tensors(values, found, depth=0):
    import torch

    for value in values:
        if isinstance(value, torch.Tensor):
            found.append(value)
        elif depth < 3 and isinstance(value, (list, tuple, dict)):
            _tensors(value.values() if isinstance(value, dict) else value, found, depth + 1)
    return found


def _described(tensor):
    import torch

    kind = "float" if tensor.is_floating_point() else "whole"
    return {"shape": list(tensor.shape), "type": kind, "weight": isinstance(tensor, torch.nn.Parameter),
            "parts": [[name, list(path)] for name, path in sorted(getattr(tensor, MARK, ()), key=str)]}


def _tell(error, tb=None):
    """The child's last words."""
    import twin

    fd, steps, failed = _state["child"], len(twin.RECORD["steps"]), _state["failed"]
    signal.alarm(0)
    words = {"steps": steps, "learns": _learns(twin.RECORD["steps"]), "lines": len(_state["lines"]), "calls": _state["calls"], "known": known,
             "batches": made_up_data.batches, "error": None, "failed": None}
    if error is not None:
        words["error"] = {"type": type(error).__name__, "text": str(error)[:2000], "place": _place(tb)}
    if failed and (error is None or failed["error"] is error or error.__cause__ is failed["error"] or error.__context__ is failed["error"]):
        words["failed"] = {**failed, "error": str(failed["error"])[:2000]}
    _state["child"] = None
    told = json.dumps(words).encode() + END
    while told:
        told = told[os.write(fd, told):]
    os._exit(0)


# Behind a report: a process that the program started may keep the pipe open.
END = b"\n"


def _learns(steps):
    """Whether the losses are numbers and some gradient is one, and not 0: else nothing that a port does wrong would show."""
    return all(math.isfinite(step["objective"]) for step in steps) and any(0 < step["norm"] < math.inf for step in steps)


def _count_lines():
    """Has the lines of the program that are reached counted, those of the calls that are under way, too."""
    from contracts import is_of_the_program

    is_own, lines = functools.lru_cache(None)(is_of_the_program), _state["lines"]

    def line(frame, event, _):
        if event == "line":
            lines.add((frame.f_code.co_filename, frame.f_lineno))
        return line

    frame = sys._getframe()
    while frame is not None:
        if is_own(frame.f_code.co_filename):
            frame.f_trace = line
        frame = frame.f_back
    sys.settrace(lambda frame, *_: line if is_own(frame.f_code.co_filename) else None)


def _too_slow(*_):
    import twin

    _state["failed"] = None
    error = None if len(twin.RECORD["steps"]) >= ENOUGH else TimeoutError(f"the training step takes more than {PATIENCE} seconds")
    _tell(error, error and error.__traceback__)


def _place(tb):
    from contracts import is_of_the_program

    own = [frame for frame in traceback.extract_tb(tb) if is_of_the_program(frame.filename)]
    return f"{os.path.basename(own[-1].filename)}:{own[-1].lineno}" if own else None


# ------------------------------------------------------------------------------------------------ trying


def search():
    """Tries from here. Only children come back: where one trains, or nothing helps any more, the run ends."""
    if _state["child"] is not None:
        return
    tried = set()
    best = _try(known, tried)
    while _state["child"] is None:
        known.clear()
        known.update(best["known"])
        made_up_data.batches.update(best["batches"])
        if _is_done(best):
            made_up_data.end()
        stuck = _stuck(best)
        best = _better(best, tried)
        if best is None and _state["child"] is None:
            made_up_data.end(stuck)


def _better(best, tried):
    """The first outcome that is further than the best; None where there is none in time, and in children."""
    for candidate in _candidates(best):
        outcome = _try(candidate, tried) if time.time() < UNTIL and os.getppid() == STARTED_BY else None
        if _state["child"] is not None:
            return None
        # A sample of more parts has more calls made of it, wherever the program stops.
        if outcome and _far(outcome) > _far(best) and (_parts(outcome) <= _parts(best) or outcome["lines"] > best["lines"]):
            return outcome
    return None


def _is_done(outcome):
    return outcome["learns"] and outcome["error"] is None


def _far(outcome):
    return (_is_done(outcome), outcome["learns"], outcome["steps"], outcome["lines"], outcome["calls"])


def _parts(outcome):
    return sum(len(leaves(entry["sample"])) for entry in outcome["known"].values() if entry["sample"] is not None)


def _stuck(outcome):
    error, failed = outcome["error"], outcome["failed"]
    if error is None:
        return {"why": failed["error"] if failed else "no step whose loss is a number and whose gradients are not 0", "place": None}
    return {"why": f"{error['type']}: {error['text']}" if error["type"] else error["text"], "place": error["place"]}


def _try(candidate, tried):
    """The outcome of the program's rest on what a candidate says of its data; None in the child, and for what was tried before."""
    words = json.dumps(candidate, sort_keys=True)
    if words in tried:
        return None
    tried.add(words)
    sys.stdout.flush()
    sys.stderr.flush()
    readable, writable = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(readable)
        # What it starts in turn ends with it.
        os.setpgid(0, 0)
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        _state["child"] = writable
        known.clear()
        known.update(json.loads(words))
        _count_lines()
        signal.signal(signal.SIGALRM, _too_slow)
        signal.alarm(PATIENCE)
        sys.excepthook = lambda _, error, tb: _tell(error, tb)
        atexit.register(lambda: _tell(None))
        return None
    os.close(writable)
    told, end = b"", time.monotonic() + PATIENCE + 10
    while not told.endswith(END):
        ready, _, _ = select.select([readable], [], [], max(end - time.monotonic(), 0))
        more = os.read(readable, 1 << 16) if ready else b""
        told += more
        if not more:
            break
    os.close(readable)
    for stop in (os.kill, os.killpg):
        try:
            stop(child, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
    os.waitpid(child, 0)
    if not told.endswith(END):
        return {"steps": 0, "learns": False, "lines": 0, "calls": 0, "known": json.loads(words), "batches": {}, "failed": None,
                "error": {"type": "", "text": "the process was stopped", "place": None}}
    return json.loads(told)


# ------------------------------------------------------------------------------------------------ what to try next


def _candidates(outcome):
    """What is known of the data, with one thing changed, the likeliest first."""
    data = outcome["known"]
    for name, path, node in _changes(outcome):
        entry = data.get(name)
        if entry and entry["sample"] is not None:
            yield {**data, name: {**entry, "sample": replaced(entry["sample"], path, node)}}
    yield from _together(outcome)
    for name, entry in data.items():
        for attribute in entry["attributes"]:
            for value in made_up_data.ATTRIBUTES:
                yield {**data, name: {**entry, "attributes": {**entry["attributes"], attribute: value}}}


def _together(outcome):
    """One length in the place of another in all parts of the samples: those that are joined have it in common."""
    text, data = _message(outcome), outcome["known"]
    numbers = _numbers(text)
    for old in numbers:
        for new in numbers:
            if old != new and 0 < new <= 1 << 12:
                changed = {}
                for name, entry in data.items():
                    for path, node in leaves(entry["sample"]) if entry["sample"] else []:
                        if old in node.get("shape", ()):
                            entry = {**entry, "sample": replaced(entry["sample"], path, {**node, "shape": [new if size == old else size for size in node["shape"]]})}
                    changed[name] = entry
                yield changed


def _message(outcome):
    return outcome["failed"]["error"] if outcome["failed"] else outcome["error"]["text"] if outcome["error"] else ""


def _numbers(text):
    text = re.sub(r"(?<=\d)x(?=\d)", " ", text)
    return list(dict.fromkeys(int(number) for number in re.findall(r"(?<![\w.])\d{1,7}(?![\w.]\d)", text)))[:12]


def _changes(outcome):
    """Data set, place in the sample, and node in its stead."""
    data, failed, error = outcome["known"], outcome["failed"], outcome["error"]
    samples = [(name, entry["sample"]) for name, entry in data.items() if entry["sample"] is not None]
    text = _message(outcome)
    if error and not failed:
        yield from _structures(samples, text, error["type"])
    nodes = {(name, path): node for name, entry in samples for path, node in leaves(entry)}

    def others(places):
        for name, path in places:
            node = nodes.get((name, path))
            if node is not None and node["type"] != "text":
                for other in (*_by_numbers(node, text), *_anything(node)):
                    yield name, path, other

    if failed:
        parts = {(name, tuple(path)) for given in failed["given"] for name, path in given["parts"]}
        # What went through NumPy has lost its origin.
        parts = parts or set(nodes)
        for given in failed["given"]:
            for name, path in given["parts"] or (() if given["weight"] else sorted(parts, key=str)):
                node = nodes.get((name, tuple(path)))
                if node is not None and node["type"] != "text":
                    for other in _for_call(failed, given, node):
                        yield name, tuple(path), other
        yield from others(sorted(parts, key=str))
    if error and failed:
        yield from _structures(samples, text, error["type"])
    yield from others(nodes)


def _whole(shape, below=CLASSES):
    return {"shape": list(shape), "type": "whole", "below": int(below)}


def _float(shape, kind="normal"):
    return {"shape": list(shape), "type": kind}


LOSSES_BY_CLASS = {"cross_entropy", "nll_loss", "nll_loss_nd", "cross_entropy_loss", "nll_loss2d"}


def _for_call(failed, given, node):
    """Nodes with which the call that failed may succeed."""
    call, others = failed["call"], [one for one in failed["given"] if one is not given]
    weight = next((one["shape"] for one in others if one["weight"]), None)
    first = failed["given"][0]
    digits = re.fullmatch(r"conv(_transpose)?([123])d", call)
    if digits and len(failed["given"]) > 1:
        shape = failed["given"][1]["shape"]
        channels = shape[0] if digits.group(1) else shape[1] * (failed["groups"] if isinstance(failed["groups"], int) else 1)
        for size in dict.fromkeys([*node["shape"][-1:], *SIZES]):
            yield _float([channels, *[size] * int(digits.group(2))])
            yield _float([*[size] * int(digits.group(2)), channels])
    elif call in ("embedding", "embedding_bag"):
        table = next((one["shape"] for one in failed["given"] if one["type"] == "float"), None)
        if table:
            for shape in ([node["shape"]] if node["type"] == "whole" else []) + [[length] for length in LENGTHS] + [[]]:
                yield _whole(shape, table[0])
    elif call == "linear" and len(failed["given"]) > 1:
        yield from _with_features(node, failed["given"][1]["shape"][-1], given["shape"])
    elif call in ("matmul", "mm", "bmm", "addmm") and weight:
        yield from _with_features(node, weight[0], given["shape"])
    elif call in LOSSES_BY_CLASS and given is not first and len(first["shape"]) > 1:
        batch, classes, rest = first["shape"][0], first["shape"][1], first["shape"][2:]
        yield _whole(rest, classes)
        for shape in _in_samples(batch, others, node):
            yield _whole(shape, classes)
        yield _float([classes, *rest], "unit")
    elif given is not first and len(first["shape"]) > 0 and first["parts"]:
        yield _float(first["shape"][1:], "unit")
        yield _whole(first["shape"][1:])
    for one in others:
        if one["shape"] and not one["weight"]:
            kinds = (_whole, _float) if one["type"] == "whole" else (_float, _whole)
            for kind in kinds:
                yield kind(one["shape"][1:])
                yield kind(one["shape"])


def _in_samples(rows, others, node):
    """Shapes of so many rows of a batch that was flattened: of the other parts of the same sample."""
    for other in others:
        if other["shape"]:
            yield other["shape"][1:2]
    for length in {rows, *(rows // size for size in (2, 4, 8, 16, 32, 64, 128, 256) if rows % size == 0)}:
        yield [length]


def _with_features(node, features, given):
    """Nodes whose last dimension, or whose flattened whole, is so large."""
    shape = node["shape"]
    yield _float([features])
    yield _float([*shape[:-1], features])
    for length in LENGTHS[:2]:
        yield _float([length, features])
        yield _float([features, length])
    for channels in (1, 3):
        side = round((features / channels) ** 0.5)
        if side * side * channels == features:
            yield _float([channels, side, side])
    if len(shape) > 1:
        for size in SIZES:
            yield _float([shape[0], *[size] * (len(shape) - 1)])


def _by_numbers(node, text):
    """Nodes with one number of a message in the place of another."""
    numbers = _numbers(text)
    shape = node["shape"]
    for at, size in enumerate(shape):
        for number in numbers:
            if number != size and 0 < number <= 1 << 16 and (size in numbers or number > 1):
                yield {**node, "shape": [*shape[:at], number, *shape[at + 1 :]]}
    for number in numbers:
        if node["type"] == "whole" and number > 1 and number != node["below"]:
            yield {**node, "below": number}
        for channels in (1, 3):
            side = round((number / channels) ** 0.5)
            if number and side > 3 and side * side * channels == number:
                yield {**node, "shape": [channels, side, side]}


def _anything(node):
    """Any node that samples of training programs have."""
    shape, is_whole = node["shape"], node["type"] == "whole"
    yield _float(shape, "unit") if is_whole else _whole(shape)
    if len(shape) == 3:
        for size in (*_sizes_of_transforms(), *SIZES):
            yield {**node, "shape": [shape[0], size, size]}
    for other in ([LENGTHS[0], *shape], shape[1:]):
        yield {**node, "shape": other}
    for at in range(len(shape)):
        for size in FEW:
            yield {**node, "shape": [*shape[:at], size, *shape[at + 1 :]]}
    for channels in (1, 3):
        for size in SIZES[:3]:
            yield _float([channels, size, size])
    for other in ([], [1], [10], [32, 32], [1, 32, 32], [3, 16, 32, 32], [16, 10], [1, 128]):
        yield _float(other, "unit")
    for other in ([], [1], [16], [32, 32]):
        yield _whole(other)


def _sizes_of_transforms():
    """The sizes that the program's transforms give images."""
    found = []
    for one in gc.get_objects():
        if str(type(one).__module__).startswith("torchvision.transforms"):
            size = getattr(one, "size", None)
            found += [size] if isinstance(size, int) else [size[0]] if isinstance(size, (list, tuple)) and size and isinstance(size[0], int) else []
    return list(dict.fromkeys(found))


def _structures(samples, text, kind):
    """Samples of another structure, as an error of Python asks for it."""
    expected = re.search(r"expected (?:at least )?(\d+)", text)
    for name, sample in samples:
        parts = [part for _, part in leaves(sample)]
        at = lambda number: parts[number] if number < len(parts) else made_up_data.LABEL  # noqa: E731
        key = _literal(text) if kind == "KeyError" else None
        if isinstance(key, str):
            for path in _inner(sample):
                inner = _at(sample, path)
                if "dict" in inner and key not in inner["dict"]:
                    yield name, path, {"dict": {**inner["dict"], key: made_up_data.LABEL}}
            yield name, (), {"dict": {key: at(0)}}
            for path, part in leaves(sample):
                yield name, path, {"dict": {key: part}}
        wanted = int(expected.group(1)) if kind == "ValueError" and "unpack" in text and expected else None
        if kind == "IndexError":
            wanted = len(parts) + 1
        for count in [wanted] if wanted else (1, 2, 3, 4):
            yield name, (), {"tuple": [at(number) for number in range(count)]}
            for path, part in leaves(sample) if count > 1 else []:
                yield name, path, {"tuple": [part] * count}
                yield name, path, {"tuple": [part, *[made_up_data.LABEL] * (count - 1)]}
        if "str" in text or "attribute" in text:
            for path, part in leaves(sample):
                yield name, path, {"shape": [], "type": "text"}
        for path in _inner(sample):
            yield name, path, next(part for place, part in leaves(sample) if place[: len(path)] == path)


def _at(node, path):
    for name in path:
        node = node["tuple" if "tuple" in node else "dict"][name]
    return node


def _inner(node, path=()):
    """The places of tuples and dicts in a sample, from the inside out."""
    if "tuple" not in node and "dict" not in node:
        return []
    items = enumerate(node["tuple"]) if "tuple" in node else node["dict"].items()
    return [*(place for name, item in items for place in _inner(item, (*path, name))), path]


def _literal(text):
    import ast

    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return text
