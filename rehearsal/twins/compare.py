"""Where two records differ: the first step, the first tensor, how far.

Records are those of `recorder/twin.py`. Two numbers are *equal* when they are the same to the last bits of float32, and *close* when
the order of a sum explains what is between them.
"""

import difflib
import math
import re
from itertools import groupby

EQUAL, CLOSE = 2e-7, 2e-4
# How often what a nudge of the original makes is taken for rounding in the port too; and what never is, of a loss, a norm or an output.
AMPLIFIED, UNSTABLE = 10.0, 2e-2
# Rounding of bfloat16.
HALF = 2.0**-8
# Where a value is printed with few digits.
PRINTED = 2e-3


def distance(a, b, scale=0.0):
    """How far two numbers are apart, relative to the greater of them (or to `scale`, for a difference of great numbers)."""
    if a == b or math.isnan(a) and math.isnan(b):
        return 0.0
    if math.isnan(a) or math.isnan(b) or math.isinf(a) or math.isinf(b):
        return math.inf
    greatest = max(abs(a), abs(b), scale)
    return 0.0 if greatest < 1e-12 else abs(a - b) / greatest


def between(mine, other):
    """Two summaries of tensors: (shape, norm, sum)."""
    if _size(mine[0]) != _size(other[0]):
        return math.inf
    # A sum cancels; it says something relative to the norm times the root of the number of values.
    scale = max(mine[1], other[1]) * math.sqrt(max(_size(mine[0]), 1))
    return max(distance(mine[1], other[1]), distance(mine[2], other[2], scale))


def _size(shape):
    return math.prod(shape)


def _seen(inputs, seen):
    """Whether all that the port's modules were given went through some module of the original: a frozen part before the one that trains."""
    return all(any(_size(shape) == _size(other) and distance(total, value, scale=abs(total)) <= 1e-5 for other, value in seen) for shape, total in inputs)


def _among(original, port):
    """All tensors of the original among more of the port, whose module holds the loss and its weights too, or a second model of the same form: the one that ends most like it."""
    plain = {name.replace("/", "."): value for name, value in port.items()}
    first = next(iter(original), "")
    within = [name[: len(name) - len(first)] for name in plain if name == first or name.endswith("." + first)]
    fits = [[(name, value, plain.get(prefix + name)) for name, value in original.items()] for prefix in within]
    fits = [pairs for pairs in fits if all(b is not None and a.shape == b.shape for _, a, b in pairs)]
    return min(fits, key=lambda pairs: sum(float(abs(a - b).sum()) for _, a, b in pairs), default=None)


def _joined(evaluations):
    """Evaluations by one module between the same steps and in the same mode are one, whether or not a step was given some of their batches."""
    found = []
    for _, calls in groupby(evaluations, key=lambda entry: (entry["step"], entry["module"], entry["training"])):
        calls = list(calls)
        found.append({**calls[0], **{name: sum(call[name] for call in calls) for name in ("samples", "batches", "output")}})
    return found


class Finding:
    """One thing that differs. `step` counts from 1; `place` is a line of the port."""

    def __init__(self, what, step=None, tensor=None, original=None, port=None, far=math.inf, place=None):
        self.what, self.step, self.tensor, self.original, self.port, self.far, self.place = what, step, tensor, original, port, far, place

    def told(self):
        where = f"step {self.step}: " if self.step else ""
        which = f" of {self.tensor}" if self.tensor else ""
        values = f": {_short(self.original)} in the original, {_short(self.port)} in the port" if self.original is not None or self.port is not None else ""
        far = f" ({self.far:.1e} apart)" if 0 < self.far < math.inf else ""
        return f"{where}{self.what}{which}{values}{far}"

    def table(self):
        return {key: value if not isinstance(value, float) or math.isfinite(value) else str(value) for key, value in vars(self).items()}


def _short(value):
    return f"{value:.7g}" if isinstance(value, float) else "nothing" if value is None else str(value)


def paired(original, port):
    """Tensors by name where the names agree, else in their order."""
    if set(original) == set(port):
        return [(name, original[name], port[name]) for name in original]
    plain = lambda name: re.sub(r"^(module|model|network|net|\d+)[./]", "", name).replace("/", ".")  # noqa: E731
    short = {plain(name): value for name, value in port.items()}
    if len(short) == len(port) and {plain(name) for name in original} == set(short):
        return [(name, value, short[plain(name)]) for name, value in original.items()]
    if len(original) == len(port):
        return [(name, value, other) for (name, value), other in zip(original.items(), port.values())]
    return None


class Comparison:
    def __init__(self, original, port, compiled=False, allowed=None, types=False):
        """`compiled`: the port is for a target that compiles the step, where whole-number buffers stay as they were. `allowed`: what → how far apart two runs of the original are whose gradients were rounded otherwise (`sensitivity`, `of_types`). `types`: the types of weights count, too."""
        self.original, self.port, self.compiled, self.allowed, self.types = original, port, compiled, allowed or {}, types
        self.findings, self.farthest = [], 0.0
        self.steps = min(len(original["steps"]), len(port["steps"]))

    def see(self, what, a, b, far, **where):
        """Notes a distance; gives whether it is more than the order of a sum explains."""
        bound = max(CLOSE, self.allowed.get((what, where.get("tensor")), 0.0))
        if far > EQUAL:
            self.farthest = max(self.farthest, far if far <= bound else 0.0)
        if far > bound:
            self.findings.append(Finding(what, original=a, port=b, far=far, **where))
            return True
        return False

    def run(self):
        if not self.original["steps"]:
            self.findings.append(Finding("the original ran no training step"))
        if not self.port["steps"]:
            self.findings.append(Finding("the port ran no training step"))
        elif self.compiled and not self.port["on_device"]:
            self.findings.append(Finding("the port trained only on the host: nothing was compiled for the target"))
        if self.findings:
            return self
        for compare in (self.start, self.types_of_weights, self.every_step, self.count, self.evaluations, self.logs, self.ends, self.states, self.saved, self.loss_scale):
            compare()
        return self

    def start(self):
        for number, (mine, other) in enumerate(zip(self.original["start"], self.port["start"])):
            for name, a, b in paired(mine, other) or []:
                if a.shape == b.shape and not self.counts(name) and abs(a - b).max(initial=0.0) > 0:
                    self.findings.append(Finding("start weights", tensor=name, far=float(abs(a - b).max())))
                    return

    def types_of_weights(self):
        """Weights in bfloat16 lose every update that is small beside them, which autocast keeps in float32. A target that compiles the step has
        types of its own."""
        if not self.types or self.compiled:
            return
        for mine, other in zip(self.original["types"], self.port["types"]):
            for name, a, b in paired(mine, other) or []:
                if a != b:
                    self.findings.append(Finding("the type of the weights", tensor=name, original=a, port=b))
                    return

    def counts(self, name):
        return self.compiled and name.replace("/", ".").endswith("num_batches_tracked")

    def every_step(self):
        for number, (a, b) in enumerate(zip(self.original["steps"], self.port["steps"])):
            if self.one_step(number + 1, a, b):
                return

    def one_step(self, step, a, b):
        """The first thing that differs in a step, in the order of cause and effect."""
        where = {"step": step, "place": b["place"]}
        forward = {"step": step, "place": b["backward"] or b["place"]}
        if a["samples"] != b["samples"] and a["samples"] and b["samples"]:
            self.findings.append(Finding("samples", original=a["samples"], port=b["samples"], **forward))
            return True
        data = [sum(total for _, total in entry["inputs"]) for entry in (a, b)]
        size = [sum(abs(total) for _, total in entry["inputs"]) for entry in (a, b)]
        if a["inputs"] and b["inputs"] and distance(*data, scale=max(size)) > 1e-5 and not _seen(b["inputs"], a["seen"]):
            self.findings.append(Finding("the batch has other data (its sum)", original=data[0], port=data[1], far=distance(*data), **forward))
            return True
        if self.see("the loss", a["objective"], b["objective"], distance(a["objective"], b["objective"]), **forward):
            return True
        pairs = paired(a["gradients"], b["gradients"])
        if pairs is None:
            self.findings.append(Finding("parameters with a gradient", original=len(a["gradients"]), port=len(b["gradients"]), **where))
            return True
        # A gradient that is all but nothing beside the others is rounding.
        floor = 1e-6 * max(a["norm"], b["norm"])
        for name, mine, other in pairs:
            if max(mine[1], other[1]) > floor and self.see("the gradient", mine[1], other[1], between(mine, other), tensor=name, **where):
                return True
        if self.see("the norm of all gradients", a["norm"], b["norm"], distance(a["norm"], b["norm"]), **where):
            return True
        for group, (mine, other) in enumerate(zip(a["rates"], b["rates"])):
            if self.see("the learning rate", mine, other, distance(mine, other), **where):
                return True
        if len(a["settings"]) == len(b["settings"]):
            for mine, other in zip(a["settings"], b["settings"]):
                for name in [name for name in mine if name in other and mine[name] != other[name] and mine[name]]:
                    if distance(_number(mine[name]), _number(other[name])) > 1e-6:
                        self.findings.append(Finding(f"{name} of the optimizer", original=str(mine[name]), port=str(other[name]), **where))
                        return True
        for name, mine, other in paired(a["weights"], b["weights"]) or []:
            if self.see("the weights after the update", mine[1], other[1], between(mine, other), tensor=name, **where):
                return True
        return False

    def count(self):
        a, b = len(self.original["steps"]), len(self.port["steps"])
        if a != b:
            self.findings.append(Finding("steps trained", original=a, port=b))

    def evaluations(self):
        mine, other = ([entry for entry in record["evaluations"] if entry["step"] <= self.steps] for record in (self.original, self.port))
        # A frozen part of the step, called while gradients are on, is inside the port's module where that holds the whole step.
        whole = [_joined(entries) for entries in (mine, other)]
        if self.compiled and len({tuple(entry["batches"] for entry in entries) for entries in whole}) > 1:
            # A part of the step without gradients, such as a teacher's, is inside the port's module too.
            whole = [_joined([entry for entry in entries if not entry.get("of_step")]) for entries in (mine, other)]
        mine, other = whole
        modules = {entry["module"] for entry in other}
        inside = {entry["module"] for entry in mine} - {entry["module"] for entry in mine if not entry["grad"]} - modules
        mine = [entry for entry in mine if entry["module"] not in inside]
        for number, (a, b) in enumerate(zip(mine, other)):
            where = {"step": a["step"] or None}
            if a["training"] != b["training"]:
                mode = {True: "in training mode", False: "in evaluation mode"}
                self.findings.append(Finding(f"evaluation {number + 1}", original=mode[a["training"]], port=mode[b["training"]], **where))
            elif a["samples"] != b["samples"]:
                self.findings.append(Finding(f"samples of evaluation {number + 1}", original=a["samples"], port=b["samples"], **where))
            elif not self.see(f"what evaluation {number + 1} gives (its sum)", a["output"], b["output"], distance(a["output"], b["output"], scale=1.0), **where):
                continue
            return
        if len(mine) != len(other):
            self.findings.append(Finding("evaluations", original=len(mine), port=len(other)))

    def logs(self):
        """Loss and metrics as Keras tells them at the end of an epoch or of an evaluation."""
        mine, other = ([entry for entry in record.get("logs", []) if entry["step"] <= self.steps] for record in (self.original, self.port))
        for a, b in zip(mine, other):
            where = {"step": a["step"] or None, "place": b["place"]}
            for name in [name for name in a["values"] if name in b["values"]]:
                x, y = a["values"][name], b["values"][name]
                if self.see(f"{name} of {a['of']}", x, y, distance(x, y), **where):
                    return
        if len(mine) != len(other):
            self.findings.append(Finding("epochs and evaluations told", original=len(mine), port=len(other)))

    def ends(self):
        if len(self.original["steps"]) != len(self.port["steps"]):
            return
        for mine, other in zip(self.original["end"], self.port["end"]):
            pairs = paired(mine, other) or _among(mine, other)
            if pairs is None:
                self.findings.append(Finding("tensors of the model at the end", original=len(mine), port=len(other)))
                return
            for name, a, b in pairs:
                if a.shape != b.shape or self.counts(name):
                    continue
                far = float(abs(a - b).max(initial=0.0) / max(abs(a).max(initial=0.0), abs(b).max(initial=0.0), 1e-12))
                far = 0.0 if abs(a - b).max(initial=0.0) < 1e-7 else far
                if self.see("the weights at the end", None, None, far, tensor=name):
                    return

    def states(self):
        if len(self.original["steps"]) != len(self.port["steps"]):
            return
        for mine, other in zip(self.original["states"], self.port["states"]):
            for name, a, b in paired(mine, other) or []:
                for key in [key for key in a if key in b and isinstance(a[key], tuple) and isinstance(b[key], tuple)]:
                    if self.see(f"the optimizer's {key} at the end", a[key][1], b[key][1], between(a[key], b[key]), tensor=name):
                        return

    def saved(self):
        mine, other = ([entry for entry in record["saved"] if entry["step"] <= self.steps] for record in (self.original, self.port))
        for a, b in zip(mine, other):
            tensors = [{key: value for key, value in entry["values"].items() if isinstance(value, tuple)} for entry in (a, b)]
            pairs = paired(*tensors)
            if pairs is None:
                self.findings.append(Finding(f"tensors in {a['file']}", original=len(tensors[0]), port=len(tensors[1])))
                return
            for name, x, y in pairs:
                if not self.counts(name) and self.see(f"what is saved in {a['file']}", x[1], y[1], between(x, y), tensor=name):
                    return
        if len(mine) != len(other):
            self.findings.append(Finding("files saved", original=len(mine), port=len(other)))

    def loss_scale(self):
        """float16 without a scaler: small gradients become nothing, which a run in float32 cannot show."""
        if self.original["scaler"] and not self.port["scaler"] and any(kind == "float16" for _, kind in self.port["autocast"]):
            self.findings.append(Finding("loss scaling under float16", original="a GradScaler", port=None))


class Sensitivity(Comparison):
    """How far two runs are apart that should be the same: nothing is a finding, everything is measured."""

    def see(self, what, a, b, far, **where):
        key = what, where.get("tensor")
        self.allowed[key] = max(self.allowed.get(key, 0.0), AMPLIFIED * far)
        return False


def sensitivity(original, nudged):
    """What → how far a difference may be that is no more than rounding, as a program's own arithmetic makes it larger."""
    measured = Sensitivity(original, nudged).run()
    return {(what, tensor): far if tensor else min(far, UNSTABLE) for (what, tensor), far in measured.allowed.items()}


def of_types(original, exact, port):
    """What → how far a difference may be that the types of numbers make, measured by how far the original is off its own run in float32
    (`exact`). An original without types of half the size shows nothing of that: then what the types of the port are good for is the bound."""
    measured = Sensitivity(original, exact).run().allowed
    kinds = [{kind for _, kind in record["autocast"]} for record in (original, port)]
    # bfloat16 has three bits fewer than float16.
    coarser = 8 if "float16" in kinds[0] and "float16" not in kinds[1] else 1
    own = max(measured.values(), default=0.0) > AMPLIFIED * EQUAL
    bound = {key: coarser * far if own else AMPLIFIED * HALF for key, far in measured.items() if key[0] != "the learning rate"}
    return {(what, tensor): far if tensor else min(far, UNSTABLE) for (what, tensor), far in bound.items()}


def _number(value):
    return float(value) if not isinstance(value, (tuple, list)) else sum((n + 1) * float(v) for n, v in enumerate(value))


# ------------------------------------------------------------------------------------------------ what was printed

NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
STAMP = re.compile(r"(?<!\d)(?:(?:(?:\d{4}-)?\d\d-\d\d[ T])?[0-2]\d:[0-5]\d:[0-5]\d(?:[.,]\d+)?"
                   r"|(?:\d{4}-)?[01]\d-[0-3]\d[ T_-][0-2]\d[-_h:][0-5]\d(?:[-_:][0-5]\d)?)(?!\d|\.\d)")
# A line of PyTorch's own log, or of any that glog writes: `W1123 11:22:33.123456 4711 file.py:8] …`, with the process in it.
LOGGED = re.compile(r"(?:\[rank\d+\]:)?[VIWEFC]\d{4} \d\d:\d\d:\d\d\.\d+\s+\d+ \S+:\d+\]")
CLOCK = re.compile(r"(?i)\bsec|\btime|\btook|it/s|img/s|/s\b|\(m?s\)|\d\s?m?s\b|elapsed|\beta\b|memory|throughput|device|cuda|hpu|ipu|warn|\busdt\b")


# A number that comes from the clock, as the recorder marks it, with its unit and the name in front of it.
ELAPSED = re.compile(r"(?i)(?:\b(?:time|took|elapsed|in)\W{0,3})?\u2063[-+\d.e]+(?:\s?(?:m?s(?:/\w+)?|sec(?:ond)?s?|min(?:ute)?s?|\w*/s(?:ec)?)\b)?")

# What tqdm says of the time: `00:02<01:15`, passed and left.
LEFT = re.compile(r"(?<=\[)\d+:\d\d(?::\d\d)?<(?:\?|\d+:\d\d(?::\d\d)?)")

BYTES = re.compile(r"[\d.]+\s?[KMG]i?B\b")


def lines(text):
    """Lines with numbers that a program prints of its training: what tells the time or the machine is left out, and so is PyTorch's own log."""
    found = []
    for line in text.replace("\r", "\n").splitlines():
        if LOGGED.match(line):
            continue
        # How wide a number is printed may depend on it.
        line = " ".join(BYTES.sub("", ELAPSED.sub("", STAMP.sub("", LEFT.sub("", line)))).split())
        numbers = NUMBER.findall(line)
        if numbers and not CLOCK.search(line):
            found.append((NUMBER.sub("#", line), [(float(number), _last_digit(number)) for number in numbers], line))
    return found


def printed(original, port, steps=()):
    """How many lines agree, the first that does not, and whether a loss is printed of all batches of a step, where it was of one of them.

    `steps` are the original's."""
    mine, other = lines(original), lines(port)
    gathered = [step["losses"] for step in steps if len(step["losses"]) > 1]
    matcher = difflib.SequenceMatcher(None, [line[0] for line in mine], [line[0] for line in other], autojunk=False)
    agree, first, of_all = 0, None, False
    for a, b, length in matcher.get_matching_blocks():
        for x, y in zip(mine[a : a + length], other[b : b + length]):
            apart = [(p, q, digit) for (p, digit), (q, _) in zip(x[1], y[1]) if not _alike(p, q, digit)]
            if all(_one_of_many(*numbers, gathered) for numbers in apart):
                agree, of_all = agree + 1, of_all or bool(apart)
            elif first is None:
                first = Finding("what is printed", original=x[2], port=y[2])
    return agree, first, of_all


def _alike(p, q, digit):
    return distance(p, q) <= PRINTED or abs(p - q) <= digit


def _one_of_many(p, q, digit, gathered):
    """Whether `p` is the loss of one small batch, and `q` that of all small batches of a step: divided by their number, or not."""
    for count in {len(losses) for losses in gathered}:
        for size in (1, count):
            if any(_alike(p, loss * size, digit) for losses in gathered for loss in losses) and any(
                    _alike(q, sum(losses) / len(losses) * size, digit) for losses in gathered):
                return True
    return False


def _last_digit(text):
    """What one in the last digit of a printed number is worth; nothing for a whole number."""
    number, _, power = text.lower().partition("e")
    digits = len(number.partition(".")[2])
    return 1.01 * 10.0 ** (int(power or 0) - digits) if digits or power else 0.0
