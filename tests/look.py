"""CPython's own analysis of a text: whether it compiles, its comments, and where it uses CUDA or other software for NVIDIA GPUs.

One request per line on standard input, one answer per line on standard output, both JSON. It is independent of the engine: names are
resolved here from the imports alone, so that the engine's reports are compared with an independent result.

A place is a use, other software, or a mention: a string that is a key or is looked up, and code under a test for CUDA. Code under a test is
told by a message at the test, which is the place that matters, and keys by one in the file. These places need no message, since nothing
on the target depends on them, and are left out (the last by whoever asks, who knows the target):

- code that certainly does not run there: under `torch.cuda.is_available()`, `x.is_cuda`, `torch.cuda.device_count() > 0` or `torch.version.cuda`,
  or a name that is only ever given such an answer, under a test for another operating system, under `TYPE_CHECKING`;
- an annotation with a class of `torch.cuda`, which every build of PyTorch has;
- text for people: what is printed, logged, raised or shown as help; a string as a statement;
- `hasattr(torch.cuda, "name")` and comparisons of `getattr(torch.cuda, "name")`, whose answer is the same in every build of PyTorch;
- uses of a name that one arm imports from `torch.amp`, and another from `torch.cuda.amp` for releases without it: that import tells;
- a part of a path, and the name of an option (`dest="cuda"`), which are the same on every machine;
- what the program has in place of its own code for the target: by a chain of tests, or in a list or table that names the target too.

A name or string that speaks of NVIDIA's software in any other way is a place too (`spelled`), once for all places of the text; unless the project
itself gives something that name, which whoever asks knows from the answers about its other files (`own`).
"""

import ast
import io
import json
import os
import re
import sys
import threading
import tokenize
import warnings

ACCELERATORS = {"hpu", "xpu"}
OTHER_SYSTEMS = ("Darwin", "darwin", "Windows", "win32", "nt")
CUDA = re.compile(r"cuda(:\d+)?")
# Whoever starts this puts the modules that need CUDA before it, one per line.
MODULES = {line.split("#")[0].strip() for line in MODULES_FOR_CUDA.splitlines()} - {""}
VARIABLE = re.compile(r"(CUDA_VISIBLE_DEVICES|CUDA_|CUDNN_|CUBLAS_|NCCL_|NVIDIA_VISIBLE_DEVICES|NVIDIA_|TORCH_NCCL_)[A-Z0-9_]*(=\S*)?")
SPELLED = re.compile(r"(?<!barra)cuda|cudnn|cublas|cufft|cupti|curand|cusolver|cusparse|nccl|nvcc|nvidia(?!/)|nvjpeg|nvml|nvrtc|nvtx|tensorrt", re.IGNORECASE)
OPTION = re.compile(r"-*[A-Za-z_][\w-]*")
HINT = re.compile(SPELLED.pattern + r"|gpu:|device=|\.to\(|" + "|".join(re.escape(one.split(".")[0]) for one in sorted(MODULES)), re.IGNORECASE)
RUNS = re.compile(r"subprocess|system|popen|check_|getoutput|which|exec|shell|run|call", re.IGNORECASE)
TF_DEVICE = re.compile(r"/([^ ]*[/:])?gpu:\d+", re.IGNORECASE)
# Calls whose arguments are looked up; they are not devices for computation.
WORDS = set(
    "get getattr setattr hasattr delattr pop setdefault getenv import_module find_spec replace split startswith endswith".split()
)
KEYWORDS = set("name key".split())
# Text for people, and the name under which an option is kept.
SHOWN = set("print debug info warning warn error exception log write".split())
SHOWN_AS = set("help description title reason message msg metavar label dest".split())
PATHS = set("join open Path exists isdir isfile makedirs mkdir".split())
# Assignments over which an answer is followed.
FURTHEST = 3


def imported_in(around):
    """The meanings of names that a function imports, or the module outside of its functions."""
    names, todo = {}, list(around.body) if isinstance(around.body, list) else []
    for node in todo:
        if isinstance(node, ast.Import):
            for one in node.names:
                head = one.name.split(".")[0]
                names[one.asname or head] = one.name if one.asname else head
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.update((one.asname or one.name, f"{node.module}.{one.name}") for one in node.names)
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            todo.extend(ast.iter_child_nodes(node))
    return names


def of_either(tree):
    """The module's names that one arm imports from `torch.cuda.amp`, for releases without `torch.amp`, and another from there.

    With the lines of the first arm, in which the name is CUDA's. Of a `try` that arm is an `except`.
    """
    found, todo = {}, list(tree.body)
    for node in todo:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            continue
        todo.extend(ast.iter_child_nodes(node))
        if isinstance(node, ast.If):
            pairs = [(node.body, node.orelse), (node.orelse, node.body)]
        elif isinstance(node, ast.Try):
            pairs = [(handler.body, node.body) for handler in node.handlers]
        else:
            continue
        for older, newer in pairs:
            known, current = (imported_in(ast.Module(body=arm, type_ignores=[])) for arm in (older, newer))
            for name, meaning in known.items():
                homes = [meaning.replace("torch.cuda.amp.", "torch.amp."), meaning.replace("torch.cuda.amp.autocast", "torch.autocast")]
                if meaning.startswith("torch.cuda.amp.") and current.get(name) in homes:
                    found[name] = range(older[0].lineno, older[-1].end_lineno + 1)
    return found


def bound_in(function):
    """The names that a function binds itself, which hide the module's."""
    arguments = function.args
    given = arguments.posonlyargs + arguments.args + arguments.kwonlyargs + [arguments.vararg, arguments.kwarg]
    names = {one.arg for one in given if one}
    shared, todo = set(), list(function.body) if isinstance(function.body, list) else [function.body]
    while todo:
        node = todo.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            continue
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            names.add(node.id)
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            shared.update(node.names)
        todo.extend(ast.iter_child_nodes(node))
    return names - shared


def names_other_system(test):
    """Whether it is true only on an operating system that is not Linux."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return any(names_other_system(part) for part in test.values)
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.Eq):
        return False
    return any(getattr(side, "value", None) in OTHER_SYSTEMS for side in (test.left, *test.comparators))


def leaves(statement):
    """Whether an `if` leaves the block around it."""
    return isinstance(statement, ast.If) and isinstance(statement.body[-1], (ast.Return, ast.Raise, ast.Continue, ast.Break))


def conditions(owner, inside):
    """The tests that decide whether a part of a node runs, each with the answer for which it does."""
    if isinstance(owner, (ast.If, ast.IfExp)) and inside is not owner.test:
        body = owner.body if isinstance(owner, ast.If) else [owner.body]
        yield owner.test, inside in body
    if isinstance(owner, ast.BoolOp):
        for before in owner.values[: owner.values.index(inside)]:
            yield before, isinstance(owner.op, ast.And)
    for name in ("body", "orelse", "finalbody"):
        block = getattr(owner, name, None)
        if isinstance(block, list) and inside in block:
            # `if not available: return`
            yield from ((above.test, False) for above in block[: block.index(inside)] if leaves(above))


def wanted(test, answer, is_atom):
    """Whether a test gives an answer only if an atom of it is true."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return wanted(test.operand, not answer, is_atom)
    if isinstance(test, ast.BoolOp):
        each = any if isinstance(test.op, ast.And) == answer else all
        return each(wanted(part, answer, is_atom) for part in test.values)
    if isinstance(test, ast.Compare):
        denies = isinstance(test.ops[0], (ast.NotEq, ast.NotIn, ast.IsNot, ast.Lt, ast.LtE))
        is_nothing = isinstance(test.comparators[0], ast.Constant) and not test.comparators[0].value
        answer ^= denies ^ (is_nothing and isinstance(test.ops[0], (ast.Eq, ast.NotEq, ast.Is, ast.IsNot)))
    return answer and is_atom(test)


def mentions_cuda(test):
    return "cuda" in ast.unparse(test).lower()


def own_names(tree):
    """The names with NVIDIA's words that a program gives to things of its own: `variable NAME`, `attribute NAME`, `argument NAME`."""
    own = set()

    def add(kinds, name):
        if name and SPELLED.search(name) and OPTION.fullmatch(name):
            own.update(f"{kind} {name}" for kind in kinds)

    both, attribute = ("variable", "attribute", "argument"), ("attribute", "argument")
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            add(("variable",), node.id)
        elif isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            add(attribute, node.attr)
        elif isinstance(node, ast.arg):
            add(("variable", "argument"), node.arg)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            add(both, node.name)
        elif isinstance(node, ast.alias):
            add(both, node.asname)
        elif isinstance(node, ast.Call):
            called = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if called in ("dict", "update") or called[:1].isupper():
                for keyword in node.keywords:
                    add(attribute, keyword.arg)
            for given in node.args:
                text = getattr(given, "value", None)
                if isinstance(text, str) and (text.startswith("-") or called == "setdefault"):
                    add(attribute, option_name(text))
        elif isinstance(node, ast.Dict):
            for key in node.keys:
                if isinstance(getattr(key, "value", None), str):
                    add(attribute, option_name(key.value))
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and isinstance(getattr(node.slice, "value", None), str):
            add(attribute, option_name(node.slice.value))
        # Names of a module or a class are its attributes.
        for statement in node.body if isinstance(node, (ast.Module, ast.ClassDef)) else ():
            for part in ast.walk(statement):
                if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load):
                    add(both, part.id)
    return own


def option_name(text):
    """The attribute that an option or a key becomes: `no_cuda` for `--no-cuda`."""
    return text.lstrip("-").replace("-", "_")


def named(texts):
    """The accelerators among texts, each a text of its own."""
    return ACCELERATORS.intersection(text for text in texts if isinstance(text, str))


def named_in(code):
    """The accelerators that code names as strings."""
    return named(getattr(part, "value", None) for node in code for part in ast.walk(node))


def words_of(test):
    """The accelerators whose names are words of names or strings in a test."""
    for part in ast.walk(test):
        texts = (getattr(part, "id", None), getattr(part, "attr", None), getattr(part, "value", None))
        for text in texts:
            if isinstance(text, str) and len(text) < 50:
                yield from ACCELERATORS.intersection(re.split(r"[^a-z]+", text.lower()))


def chosen_between(owner, inside):
    """The accelerators of the other code that a program chooses between at a node: by a test, or as strings of a list or table."""
    if isinstance(owner, (ast.If, ast.IfExp)):
        arms = [arm if isinstance(arm, list) else [arm] for arm in (owner.body, owner.orelse)]
        other = [part for arm in arms if inside not in arm for part in arm]
        yield from words_of(owner.test) if inside is not owner.test else ()
        yield from named_in(other)
        # `elif xpu:`
        for part in other:
            while isinstance(part, (ast.If, ast.IfExp)):
                yield from words_of(part.test)
                part = part.orelse[0] if isinstance(part.orelse, list) and len(part.orelse) == 1 else part.orelse
    elif isinstance(owner, ast.BoolOp):
        yield from (word for other in owner.values if other is not inside for word in words_of(other))
    elif isinstance(owner, (ast.List, ast.Tuple, ast.Set, ast.Dict)):
        others = owner.keys if isinstance(owner, ast.Dict) else owner.elts
        yield from named(getattr(other, "value", None) for other in others)


def shown_in(tree):
    """Strings that are text for people: documentation, what is printed or logged, an error's message, a description."""
    shown = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            shown.add(node.value)
        called = getattr(node, "func", None)
        name = getattr(called, "attr", getattr(called, "id", None))
        if isinstance(node, ast.Raise) or name in SHOWN:
            shown.update(ast.walk(node))
        if isinstance(node, ast.keyword) and node.arg in SHOWN_AS:
            shown.update(ast.walk(node))
    return shown


class Mentions(ast.NodeVisitor):
    """Every place that uses CUDA: `(kind, first line, last line, what it is, accelerators that the code names beside it)`."""

    def __init__(self, tree):
        # For each enclosing function, from the outside in: the names that it binds, and those that it imports.
        self.found, self.functions, self.parents = [], [], []
        # The nodes that need other software of NVIDIA's, by what it is; those that the target does not reach; the lines of the tests above them; and
        # the accelerators that the code names beside each.
        self.places, self.unreached, self.tests, self.others = {}, set(), {}, {}
        # The values that each name or attribute is given, and the names of parameters, whose values are unknown.
        self.values, self.parameters = {}, set()
        # Which of the found are keys.
        self.keys = []
        for node in ast.walk(tree):
            for target in getattr(node, "targets", [getattr(node, "target", None)]):
                if isinstance(target, (ast.Name, ast.Attribute)):
                    self.values.setdefault(ast.unparse(target), []).append(getattr(node, "value", None))
            if isinstance(node, ast.arg):
                self.parameters.add(node.arg)
        self.names = imported_in(tree)
        self.of_either = of_either(tree)
        self.foreign(tree)
        self.spelled(tree)
        self.sought = {id(node) for nodes in self.places.values() for node in nodes}
        self.visit(tree)
        lines = [self.found[key][1:3] for key in self.keys]
        for key in self.keys:
            self.found[key] = (*self.found[key][:5], lines + self.found[key][5])
        for (kind, what), nodes in self.places.items():
            if all(id(node) in self.unreached for node in nodes):
                continue
            nodes.sort(key=lambda node: (id(node) in self.unreached, id(node) in self.tests))
            lines = [(node.lineno, node.end_lineno) for node in nodes]
            lines += [line for node in nodes for line in self.tests.get(id(node), ())]
            text = f"{kind} {what.split()[0] if kind == 'device' else what}"
            if kind == "spelled":
                text = what
            found = "mention" if id(nodes[0]) in self.tests else "spelled" if kind == "spelled" else "foreign"
            reached = [node for node in nodes if id(node) not in self.unreached]
            beside = set.intersection(*(self.others.get(id(node), set()) for node in reached))
            self.found.append((found, *lines[0], text, sorted(beside), lines[1:]))

    def visit_Import(self, node):
        for one in node.names:
            self.imported(node, one.name)
        self.generic_visit(node)

    def visit_ImportFrom(self, node):
        for one in node.names if node.module and not node.level else ():
            self.imported(node, f"{node.module}.{one.name}")
        self.generic_visit(node)

    def imported(self, node, name):
        if name == "torch.cuda" or name.startswith("torch.cuda."):
            self.add("import", node, name)

    def foreign(self, tree):
        """What needs NVIDIA's software beside `torch.cuda`; each module and variable counts once, wherever it is told."""
        places, shown = self.places, shown_in(tree)
        fields = ("id", "attr", "arg", "name")
        words = " ".join(str(getattr(node, field, "")) for node in ast.walk(tree) for field in fields)
        for node in ast.walk(tree):
            names = []
            if isinstance(node, ast.Import):
                names = [one.name for one in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names = [node.module, *(f"{node.module}.{one.name}" for one in node.names)]
            for module in MODULES if names else ():
                if any(name == module or name.startswith(f"{module}.") for name in names):
                    places.setdefault(("module", module), []).append(node)
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in shown:
                if variable := VARIABLE.fullmatch(node.value):
                    places.setdefault(("variable", variable[1]), []).append(node)
                    # A file that has nothing to do with the environment means something else by that name.
                    self.tests.update({id(node): []} if "env" not in words.lower() else {})
                elif re.match(r"([\w/]*/)?nvidia-smi( -|$)", node.value):
                    places.setdefault(("command", "nvidia-smi"), []).append(node)
                    self.tests.update({id(node): []} if not RUNS.search(words) else {})
                elif TF_DEVICE.fullmatch(node.value):
                    places[("device", f"{node.value} {node.lineno}")] = [node]
            if isinstance(node, ast.Attribute) and self.qualified(node) == "torch.version.cuda":
                places.setdefault(("name", "torch.version.cuda"), []).append(node)
            if isinstance(node, ast.Call):
                self.called(node, places)

    def add_spelled(self, module, node):
        head, *rest = module.split(".")
        for text in (f"variable {head}", *(f"attribute {part}" for part in rest)):
            if SPELLED.search(text):
                self.places.setdefault(("spelled", text), []).append(node)

    @staticmethod
    def is_module(name):
        return any(name == module or name.startswith(f"{module}.") for module in MODULES)

    def spelled(self, tree):
        """Names and strings that speak of NVIDIA's software."""
        shown, keys, compared = shown_in(tree), set(), set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Dict):
                keys.update(node.keys)
            elif isinstance(node, ast.Subscript) and not ast.unparse(node.value).endswith("environ"):
                keys.add(node.slice)
            elif isinstance(node, ast.Call) and getattr(node.func, "attr", None) in ("get", "pop", "setdefault"):
                keys.update(node.args[:1] if not ast.unparse(node.func.value).endswith("environ") else ())
            elif isinstance(node, ast.Compare):
                compared.update((node.left, *node.comparators))
            elif isinstance(node, ast.JoinedStr):
                texts = [part for part in node.values if isinstance(part, ast.Constant)]
                keys.update(texts if re.search(r"\S\s+\S", "x".join(part.value for part in texts)) else ())
        unread, known = shown | keys, {node for nodes in self.places.values() for node in nodes}
        named = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Name):
                named.setdefault(node.id, []).append(node)
        # What some function imports under a name, or the module.
        imports = {}
        for node in ast.walk(tree):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                for name, meaning in imported_in(ast.Module(body=[node], type_ignores=[])).items():
                    imports.setdefault(name, set()).add(meaning)

        def is_known(name):
            return name.startswith("torch.cuda") or name == "torch.version.cuda" or self.is_module(name)

        # What has a class of its own above.
        for node in ast.walk(tree):
            if isinstance(node, (ast.Name, ast.Attribute)) and re.fullmatch(r"[\w.]+", written := ast.unparse(node)):
                head, *rest = written.split(".")
                if any(is_known(".".join([meaning, *rest])) for meaning in imports.get(head, {head})):
                    known.update(ast.walk(node))
            elif isinstance(node, ast.Call) and getattr(node.func, "attr", None) == "cuda":
                known.add(node.func)
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                of = "" if isinstance(node, ast.Import) else f"{node.module}."
                # Every PyTorch has `torch.backends.cudnn`: importing it needs nothing, and what uses it is told.
                known.update(one for one in node.names if is_known(of + one.name) or (of + one.name).startswith("torch.backends."))
                if isinstance(node, ast.ImportFrom) and not node.level and not is_known(node.module):
                    self.add_spelled(node.module, node)
        for node in ast.walk(tree):
            if node in known:
                continue
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                kind, text = "variable", node.id
            elif isinstance(node, ast.Attribute):
                kind, text = "attribute", node.attr
            elif isinstance(node, ast.keyword) and node.arg:
                kind, text = "argument", node.arg
            elif isinstance(node, ast.alias):
                self.add_spelled(node.name, node)
                # What it is called here is the same thing.
                for use in named.get(node.asname, ()):
                    self.add_spelled(node.name, use)
                continue
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in unread:
                text = node.value
                is_text = re.search(r"\s", text.strip()) and (node not in compared or "\n" in text.strip())
                if CUDA.fullmatch(text) or "://" in text or is_text:
                    continue
                # `find_spec("pynvml")` asks for what an import elsewhere in the file needs.
                if ("module", text) in self.places:
                    self.places["module", text].append(node)
                    continue
                kind, text = "attribute", option_name(text)
            else:
                continue
            if SPELLED.search(text):
                self.places.setdefault(("spelled", f"{kind} {text}"), []).append(node)

    def called(self, call, places):
        name, first = self.qualified(call.func), call.args[0] if call.args else None
        if isinstance(call.func, ast.Name) and call.func.id == "getattr" and len(call.args) > 1:
            if getattr(call.args[1], "value", None) == "cuda" and self.qualified(first) in ("torch", "torch.version"):
                gotten = "getattr(torch, 'cuda')" if self.qualified(first) == "torch" else "torch.version.cuda"
                places.setdefault(("name", gotten), []).append(call)
        device = next((one.value for one in call.keywords if one.arg == "device"), None)
        moves = isinstance(call.func, ast.Attribute) and call.func.attr == "to" and not name
        if moves and device is None:
            device = first
        is_number = isinstance(device, ast.Constant) and type(device.value) is int
        if is_number and (moves or (name or "").startswith("torch.")):
            places.setdefault(("device", "number"), []).append(device)

    def certain(self, test, depth=FURTHEST):
        """Whether a test without `not`, `and` or `or` is true only with a card of NVIDIA's."""
        if isinstance(test, ast.Call):
            return self.qualified(test.func) == "torch.cuda.is_available"
        if isinstance(test, ast.Attribute) and (test.attr == "is_cuda" or self.qualified(test) == "torch.version.cuda"):
            return True
        if isinstance(test, ast.Compare):
            number = getattr(test.comparators[0], "value", 0)
            if number is None:
                return self.qualified(test.left) == "torch.version.cuda"
            least = {ast.Gt: 0, ast.GtE: 1, ast.Eq: 1}.get(type(test.ops[0]))
            counts = isinstance(test.left, ast.Call) and self.qualified(test.left.func) == "torch.cuda.device_count"
            return counts and least is not None and type(number) is int and number >= least
        name = ast.unparse(test) if isinstance(test, (ast.Name, ast.Attribute)) else None
        values = self.values.get(name, []) if depth and name not in self.parameters else []
        return bool(values) and all(
            value is not None and wanted(value, True, lambda part: self.certain(part, depth - 1)) for value in values
        )

    def mentions_cuda(self, test):
        """Whether a test speaks of CUDA, or a name whose every value does."""
        name = ast.unparse(test)
        values = self.values.get(name, []) if name not in self.parameters else []
        return mentions_cuda(test) or bool(values) and all(value is not None and mentions_cuda(value) for value in values)

    def guard(self):
        """Whether the target certainly does not reach the visited node; the lines of the tests for CUDA above it; and the first of them."""
        above = [pair for owner, inside in zip(self.parents, self.parents[1:]) for pair in conditions(owner, inside)]
        unreached = any(wanted(test, answer, self.certain) for test, answer in above)
        # The targets' software is for Linux alone; only a type checker reads the other code.
        unreached = unreached or any(answer and (names_other_system(test) or "TYPE_CHECKING" in ast.unparse(test)) for test, answer in above)
        tests = [test for test, answer in above if wanted(test, answer, self.mentions_cuda)]
        lines = [(test.lineno, test.end_lineno) for test in tests]
        # What decides the test: a name's values.
        for part in (part for test in tests for part in ast.walk(test) if isinstance(part, (ast.Name, ast.Attribute))):
            given = [value for value in self.values.get(ast.unparse(part), ()) if value is not None and mentions_cuda(value)]
            lines += [(value.lineno, value.end_lineno) for value in given]
        return unreached, lines

    def add(self, kind, node, text):
        unreached, tests = self.guard()
        # The classes are in every PyTorch, so a type needs no CUDA.
        is_type = kind == "name" and any(
            below in (getattr(p, "annotation", None), getattr(p, "returns", None)) for p, below in zip(self.parents, self.parents[1:])
        )
        if unreached or is_type:
            return
        is_word = kind == "mention" and isinstance(node, ast.Constant)
        if tests:
            kind, text = "mention", f"under a CUDA test: {text}"
        self.found.append((kind, node.lineno, node.end_lineno, text, sorted(self.beside()), tests))
        if is_word:
            if isinstance(self.parents[-2], (ast.Dict, ast.Subscript)) or self.called_around() in ("get", "pop", "setdefault"):
                self.keys.append(len(self.found) - 1)

    def beside(self):
        """The accelerators for which the program has code of its own in place of the visited node."""
        found = set()
        for owner, inside in zip(self.parents, self.parents[1:]):
            found.update(chosen_between(owner, inside))
            # Tests that follow one another: `if cuda: …` and then `if xpu: …`.
            if isinstance(inside, ast.If):
                for block in (getattr(owner, "body", None), getattr(owner, "orelse", None)):
                    if isinstance(block, list) and inside in block:
                        for one in block:
                            while isinstance(one, ast.If):
                                found.update(words_of(one.test))
                                one = one.orelse[0] if len(one.orelse) == 1 else None
        return found

    def qualified(self, node):
        parts = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return None
        # A fragment uses `torch` without importing it.
        head = self.names.get(node.id, "torch" if node.id == "torch" else None)
        for bound, imported in reversed(self.functions):
            if node.id in bound or node.id in imported:
                # A function may import it for another: `torch = import_torch()`.
                head = imported.get(node.id, "torch" if node.id == "torch" else None)
                break
        return head and ".".join([head, *reversed(parts)])

    def visit(self, node):
        self.parents.append(node)
        if id(node) in self.sought:
            unreached, tests = self.guard()
            self.unreached.update([id(node)] if unreached else [])
            self.tests.update({id(node): tests} if tests else {})
            self.others[id(node)] = self.beside()
        hides = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        if hides:
            self.functions.append((bound_in(node), imported_in(node)))
        super().visit(node)
        if hides:
            self.functions.pop()
        self.parents.pop()

    def name(self, node):
        name = self.qualified(node)
        if name and (name == "torch.cuda" or name.startswith("torch.cuda.")):
            head = ast.unparse(node).split(".")[0]
            hidden = any(head in bound or head in imported for bound, imported in self.functions)
            if not hidden and node.lineno not in self.of_either.get(head, [node.lineno]):
                return True
            # Told once in a file: whoever sets one of them often sets many.
            if not isinstance(node.ctx, ast.Load):
                self.places.setdefault(("set", "torch.cuda"), []).append(node)
                return True
            # A disabled scaler has no effect anywhere.
            call = self.parents[-2]
            off = isinstance(call, ast.Call) and any(
                k.arg == "enabled" and isinstance(k.value, ast.Constant) and k.value.value is False for k in call.keywords
            )
            called = getattr(call.func, "id", None) if isinstance(call, ast.Call) else None
            asks = called == "hasattr" or called == "getattr" and isinstance(self.parents[-3], ast.Compare)
            if not asks and not (off and name.endswith(".GradScaler")):
                self.add("name", node, name)
            return True
        return False

    def visit_Name(self, node):
        if isinstance(node.ctx, ast.Load):
            self.name(node)

    def visit_Attribute(self, node):
        if not self.name(node):
            self.generic_visit(node)

    def visit_Call(self, node):
        if isinstance(node.func, ast.Attribute) and node.func.attr == "cuda" and not self.qualified(node.func) == "torch.cuda":
            self.add("call", node, ".cuda()")
        self.generic_visit(node)

    def visit_Constant(self, node):
        if isinstance(node.value, str) and CUDA.fullmatch(node.value) and not self.is_shown() and not self.is_same_everywhere():
            self.add("mention" if self.is_mention(node) else "device", node, f"in {type(self.parents[-2]).__name__}")

    def called_around(self):
        """The name of the function that is called with the visited node."""
        called = getattr(self.parents[-2], "func", None)
        return called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", None)

    def is_same_everywhere(self):
        """Whether the visited string is a part of a path, or names what every build of PyTorch has; what that gives is a place of its own."""
        around = self.called_around()
        owner = self.parents[-2].args[0] if around in ("getattr", "hasattr") and self.parents[-2].args else None
        return around in PATHS or owner is not None and (self.qualified(owner) or "").split(".")[0] == "torch"

    def is_shown(self):
        """Whether the visited string is text for people, alone or as a part."""
        inside = self.parents[-1]
        for parent in reversed(self.parents[:-1]):
            if isinstance(parent, ast.Call):
                called = parent.func
                name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", None)
                raises = any(isinstance(around, ast.Raise) and around.exc is parent for around in self.parents)
                return inside is not called and (name in SHOWN or raises)
            if isinstance(parent, ast.keyword):
                return parent.arg in SHOWN_AS
            if not isinstance(parent, (ast.JoinedStr, ast.FormattedValue, ast.BinOp, ast.IfExp, ast.Tuple, ast.List)):
                return isinstance(parent, ast.Expr)
            inside = parent
        return False

    def is_mention(self, node):
        """Whether a string can't be a device: a key, something to look up."""
        parent = self.parents[-2]
        if isinstance(parent, (ast.Subscript, ast.JoinedStr)):
            return True
        if isinstance(parent, ast.Dict):
            return node in parent.keys
        # `Literal["cpu", "cuda"]` is a type.
        if isinstance(parent, ast.Tuple) and isinstance(self.parents[-3], ast.Subscript):
            return True
        if isinstance(parent, ast.keyword):
            return parent.arg in KEYWORDS
        if isinstance(parent, ast.Call):
            name = self.called_around()
            # The argument after the key is the default value.
            keys = {"get": 1, "pop": 1, "setdefault": 1, "getenv": 1, "getattr": 2, "setattr": 2}.get(name)
            if keys and node in parent.args[keys:]:
                return False
            return name in WORDS or (self.qualified(parent.func) or "").startswith("re.")
        return False


def look(text):
    said = {"refused": None, "comments": None, "mentions": [], "own": [], "other_tree": None, "failed": None}
    text = text[1:] if text.startswith("\ufeff") else text
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
            compile(tree, "file.py", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        said["refused"] = f"{type(error).__name__}: {error}"
        return said
    if HINT.search(text):
        said["own"] = sorted(own_names(tree))
        try:
            said["mentions"] = Mentions(tree).found
        except RecursionError:
            said["failed"] = "its uses of CUDA: nested too deep"
    return said


def comments(text):
    text = text[1:] if text.startswith("\ufeff") else text
    try:
        tokens = tokenize.generate_tokens(io.StringIO(text, newline="").readline)
        return sorted(token.string.rstrip() for token in tokens if token.type == tokenize.COMMENT)
    except (tokenize.TokenError, SyntaxError, RecursionError):
        return None


BLOCKS = ("body", "handlers", "orelse", "finalbody", "cases")


def block(node, name):
    value = getattr(node, name, None)
    return value if name in BLOCKS and isinstance(value, list) else []


class Statements:
    """The statements of a text by the byte where each begins."""

    def __init__(self, text):
        mark = text.startswith("\ufeff")
        encoded = text.encode()
        self.lines = [3 * mark, *(end.end() for end in re.finditer(rb"\r\n|\r|\n", encoded))]
        # For each: the end of what is its own, its tree without the statements in it, where it is (the statement around
        # it, and the name of the block there), and whether it has a block.
        self.found = {}
        todo = [(child, None, field) for field, child in self.children(ast.parse(text[mark:]))]
        while todo:
            node, around, field = todo.pop()
            if isinstance(node, ast.match_case):
                todo += [(child, around, field) for _, child in self.children(node)]
                continue
            start, inner = self.start(node), self.children(node)
            first = min((self.start(child) for _, child in inner), default=None)
            end = self.at(node.end_lineno, node.end_col_offset) if first is None else first
            self.found[start] = (end, self.own(node), around, field, first is not None)
            todo += [(child, start, name) for name, child in inner]

    @staticmethod
    def children(node):
        return [(name, child) for name in BLOCKS for child in block(node, name)]

    @staticmethod
    def own(node):
        own = [(name, dumped(value)) for name, value in ast.iter_fields(node) if not block(node, name) and value != []]
        return type(node).__name__, own

    def start(self, node):
        if isinstance(node, ast.match_case):
            node = node.pattern
        node = min([node, *getattr(node, "decorator_list", ())], key=lambda part: part.lineno)
        return self.at(node.lineno, node.col_offset)

    def at(self, line, column):
        return self.lines[line - 1] + column


def dumped(value):
    if isinstance(value, list):
        return [dumped(one) for one in value]
    return ast.dump(value) if isinstance(value, ast.AST) else value


def joins(text, is_before):
    """Whether an insertion continues the statement before or behind it."""
    if is_before:
        # A decorator is part of the definition below it.
        return bool(re.search(r"[^\s;:][ \t]*\Z|^[ \t]*@.*\s*\Z", text, re.MULTILINE))
    return not re.match(r"[ \t]*(\Z|[\r\n;#])", text)


def other_tree(original, ported, edits):
    """The first statement of the original, outside of all edits, whose own syntax tree or surroundings differ in the port."""
    before, after = Statements(original), Statements(ported)
    places, indented, shift, n = {}, set(), 0, 0
    for start in sorted(before.found):
        end, *_, has_block = before.found[start]
        while n < len(edits) and edits[n][1] <= start:
            shift += len(edits[n][2].encode()) - (edits[n][1] - edits[n][0])
            n += 1
        last = edits[n - 1] if n else (0, 0, "")
        touched = n < len(edits) and edits[n][0] < end
        touched = touched or last[1] == start and joins(last[2], True)
        touched = touched or not has_block and n < len(edits) and edits[n][0] == end and joins(edits[n][2], False)
        if not touched:
            places[start] = start + shift
        if last[1] == start and last[2] and not last[2].strip(" \t"):
            indented.add(start)

    def around(statements, start, known):
        """The next statement around one that both have, the name of the block in it, and the number of functions and classes between."""
        _, _, outer, field, _ = statements.found[start]
        scopes = 0
        while outer is not None and outer not in known:
            _, (kind, _), outer, field, _ = statements.found[outer]
            scopes += kind.endswith("Def")
        return outer, field, scopes

    both, originals = set(places.values()), {place: start for start, place in places.items()}
    for start, place in places.items():
        line = original.encode()[:start].count(b"\n") + 1
        if place not in after.found:
            return f"line {line}: no statement begins there in the port"
        if before.found[start][1] != after.found[place][1]:
            return f"line {line}: the statement differs in the port"
        outer, *inside = around(before, start, places)
        there = around(after, place, both)
        if start in indented and there[0] in originals:
            # An edit takes it into the `with` above it, which becomes longer.
            above = originals[there[0]]
            if before.found[above][1][0] == "With" and before.found[above][2:4] == before.found[start][2:4]:
                continue
        if there != (places.get(outer), *inside):
            return f"line {line}: the statement is in another block in the port"
    return None


def main():
    for line in sys.stdin.buffer:
        asked = json.loads(line)
        said = look(asked["text"])
        if asked["comments"] and not said["refused"]:
            said["comments"] = comments(asked["text"])
        if asked["original"] is not None and not said["refused"]:
            try:
                said["other_tree"] = other_tree(asked["original"], asked["text"], asked["edits"])
            except (SyntaxError, ValueError, RecursionError) as error:
                said["failed"] = f"its syntax tree: {type(error).__name__}: {error}"
        sys.stdout.write(json.dumps(said) + "\n")
        sys.stdout.flush()


def ended(error):
    sys.__excepthook__(error.exc_type, error.exc_value, error.exc_traceback)
    os._exit(1)


threading.excepthook = ended
# Deep expressions, as CPython's own tests have them.
sys.setrecursionlimit(20_000)
threading.stack_size(256 * 2**20)
threading.Thread(target=main).start()
