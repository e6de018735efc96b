"""CPython's own analysis of a text: whether it compiles, its comments, and where it uses CUDA or other software for NVIDIA GPUs.

One request per line on standard input, one answer per line on standard output, both JSON. It is independent of the engine: names are
resolved here from the imports alone, so that the engine's reports are compared with an independent result.
"""

import ast
import io
import json
import re
import sys
import tokenize
import warnings

ACCELERATORS = {"hpu", "xpu"}
OTHER_SYSTEMS = ("Darwin", "darwin", "Windows", "win32", "nt")
CUDA = re.compile(r"cuda(:\d+)?")
# Whoever starts this puts the modules that need CUDA before it, one per line.
MODULES = {line.split("#")[0].strip() for line in MODULES_FOR_CUDA.splitlines()} - {""}
VARIABLE = re.compile(r"(CUDA_VISIBLE_DEVICES|CUDA_|CUDNN_|CUBLAS_|NCCL_|NVIDIA_VISIBLE_DEVICES|NVIDIA_|TORCH_NCCL_)[A-Z0-9_]*(=\S*)?")
HINT = re.compile(r"cuda|nccl|nvidia|gpu:|device=|\.to\(|" + "|".join(re.escape(one.split(".")[0]) for one in sorted(MODULES)), re.IGNORECASE)
RUNS = re.compile(r"subprocess|system|popen|check_|getoutput|which|exec|shell|run|call", re.IGNORECASE)
TF_DEVICE = re.compile(r"/([^ ]*[/:])?gpu:\d+", re.IGNORECASE)
# Calls whose arguments are looked up or displayed; they are not devices for computation.
WORDS = set(
    "print debug info warning warn error exception log write get getattr setattr hasattr delattr pop setdefault getenv join "
    "open Path exists isdir isfile makedirs mkdir import_module find_spec replace split startswith endswith".split()
)
KEYWORDS = set("dest help metavar title description label name key".split())


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
    """Whether it compares something with the name of an operating system that is not Linux."""
    equal = [part for part in ast.walk(test) if isinstance(part, ast.Compare) and isinstance(part.ops[0], ast.Eq)]
    return any(getattr(side, "value", None) in OTHER_SYSTEMS for part in equal for side in (part.left, *part.comparators))


def guards_above(owner, statement):
    """The negated tests whose code leaves the block before this statement: `if not available: return`."""
    for name in ("body", "orelse", "finalbody"):
        block = getattr(owner, name, None)
        if isinstance(block, list) and statement in block:
            for above in block[: block.index(statement)]:
                leaves = isinstance(above, ast.If) and isinstance(above.body[-1], (ast.Return, ast.Raise, ast.Continue, ast.Break))
                if leaves and any(isinstance(part, ast.Not) for part in ast.walk(above.test)):
                    yield above.test


def alternatives(node):
    """What a program chooses between at a node: tests and codes of an if chain, of a conditional expression, or values."""
    if isinstance(node, (ast.If, ast.IfExp)):
        return [node.test, *(node.body if isinstance(node, ast.If) else [node.body]), *(node.orelse if isinstance(node, ast.If) else [node.orelse])]
    if isinstance(node, ast.BoolOp):
        return node.values
    return node.elts if isinstance(node, (ast.List, ast.Tuple, ast.Set)) else []


def device_words(node):
    """The accelerators whose names are words of names or strings."""
    for part in ast.walk(node):
        texts = (getattr(part, "id", None), getattr(part, "attr", None), getattr(part, "value", None))
        for text in texts:
            if isinstance(text, str) and len(text) < 50:
                yield from ACCELERATORS.intersection(re.split(r"[^a-z]+", text.lower()))


def shown_in(tree):
    """Strings that are text for people: documentation, what is printed or logged, an error's message, a description."""
    shown = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            shown.add(node.value)
        called = getattr(node, "func", None)
        name = getattr(called, "attr", getattr(called, "id", None))
        if isinstance(node, ast.Raise) or name in ("print", "debug", "info", "warning", "warn", "error", "exception", "log", "write"):
            shown.update(ast.walk(node))
        if isinstance(node, ast.keyword) and node.arg in ("help", "description", "title", "reason", "message", "msg"):
            shown.update(ast.walk(node))
    return shown


class Mentions(ast.NodeVisitor):
    """Every place that uses CUDA: `(kind, first line, last line, what it is, accelerators that the code names beside it)`."""

    def __init__(self, tree):
        # For each enclosing function, from the outside in: the names that it binds, and those that it imports.
        self.found, self.functions, self.parents = [], [], []
        # The nodes that need other software of NVIDIA's, by what it is, and those that the target does not reach.
        self.places, self.guarded = {}, set()
        self.names = imported_in(tree)
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for one in node.names:
                    self.imported(node, one.name)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                for one in node.names:
                    self.imported(node, f"{node.module}.{one.name}")
        self.foreign(tree)
        self.sought = {id(node) for nodes in self.places.values() for node in nodes}
        self.visit(tree)
        for (kind, what), nodes in self.places.items():
            reached = [node for node in nodes if id(node) not in self.guarded]
            lines = [(node.lineno, node.end_lineno) for node in sorted(nodes, key=lambda node: id(node) in self.guarded)]
            text = f"{kind} {what.split()[0] if kind == 'device' else what}"
            self.found.append(("foreign" if reached else "mention", *lines[0], text, [], lines[1:]))

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
            for module in MODULES:
                if any(name == module or name.startswith(f"{module}.") for name in names):
                    places.setdefault(("module", module), []).append(node)
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in shown:
                if variable := VARIABLE.fullmatch(node.value):
                    places.setdefault(("variable", variable[1]), []).append(node)
                    # A file that has nothing to do with the environment means something else by that name.
                    self.guarded.update([id(node)] if "env" not in words.lower() else [])
                elif re.match(r"([\w/]*/)?nvidia-smi( -|$)", node.value):
                    places.setdefault(("command", "nvidia-smi"), []).append(node)
                    self.guarded.update([id(node)] if not RUNS.search(words) else [])
                elif TF_DEVICE.fullmatch(node.value):
                    places[("device", f"{node.value} {node.lineno}")] = [node]
            if isinstance(node, ast.Attribute) and self.qualified(node) == "torch.version.cuda":
                places.setdefault(("name", "torch.version.cuda"), []).append(node)
            if isinstance(node, ast.Call):
                self.called(node, places)

    def called(self, call, places):
        name, first = self.qualified(call.func), call.args[0] if call.args else None
        if isinstance(call.func, ast.Name) and call.func.id == "getattr" and len(call.args) > 1:
            if getattr(call.args[1], "value", None) == "cuda" and self.qualified(first) in ("torch", "torch.version"):
                places.setdefault(("name", "getattr(torch, 'cuda')"), []).append(call)
        device = next((one.value for one in call.keywords if one.arg == "device"), None)
        moves = isinstance(call.func, ast.Attribute) and call.func.attr == "to" and not name
        if moves and device is None:
            device = first
        is_number = isinstance(device, ast.Constant) and type(device.value) is int
        if is_number and (moves or (name or "").startswith("torch.")):
            places.setdefault(("device", "number"), []).append(device)

    def guard(self, node):
        """Why the target does not reach the visited node, if so."""
        # Code that a CUDA test disables is reported at the test, if at all.
        around = [p.test for p in self.parents if isinstance(p, (ast.If, ast.IfExp))]
        around += [one for p in self.parents if isinstance(p, ast.BoolOp) for one in p.values]
        tests = [test for test in around if all(part is not node for part in ast.walk(test))]
        for owner, inside in zip(self.parents, self.parents[1:]):
            tests += guards_above(owner, inside)
        if any("cuda" in ast.unparse(test).lower() for test in tests):
            return "under a CUDA test"
        # The targets' software is for Linux alone.
        if any(names_other_system(test) for test in around):
            return "under a test for another operating system"
        # Only a type checker reads it.
        return "for types" if any("TYPE_CHECKING" in ast.unparse(test) for test in tests) else None

    def add(self, kind, node, text):
        # Counted as a mention.
        why = self.guard(node) if kind != "import" else None
        if why:
            kind, text = "mention", f"{why}: {text}"
        # The classes are in every PyTorch, so a type needs no CUDA.
        elif kind != "import" and any(
            below in (getattr(p, "annotation", None), getattr(p, "returns", None)) for p, below in zip(self.parents, self.parents[1:])
        ):
            kind, text = "mention", "in an annotation"
        self.found.append((kind, node.lineno, node.end_lineno, text, sorted(self.beside()), []))

    def beside(self):
        """The accelerators for which the program has code of its own in place of the visited node."""
        named = set()
        for owner, inside in zip(self.parents, self.parents[1:]):
            for other in alternatives(owner):
                named.update(device_words(other))
            # Tests that follow one another: `if cuda: …` and then `if xpu: …`.
            if isinstance(inside, ast.If):
                for block in (getattr(owner, "body", None), getattr(owner, "orelse", None)):
                    if isinstance(block, list) and inside in block:
                        named.update(word for one in block if isinstance(one, ast.If) for word in device_words(one.test))
        return named

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
                head = None if node.id in bound else imported[node.id]
                break
        return head and ".".join([head, *reversed(parts)])

    def visit(self, node):
        self.parents.append(node)
        if id(node) in self.sought and self.guard(node):
            self.guarded.add(id(node))
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
            # A disabled scaler has no effect anywhere.
            call = self.parents[-2]
            off = isinstance(call, ast.Call) and any(
                k.arg == "enabled" and isinstance(k.value, ast.Constant) and k.value.value is False for k in call.keywords
            )
            if not (off and name.endswith(".GradScaler")):
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
        if isinstance(node.value, str) and CUDA.fullmatch(node.value):
            self.add("mention" if self.is_mention(node) else "device", node, f"in {type(self.parents[-2]).__name__}")

    def is_mention(self, node):
        """Whether a string can't be a device: a key, displayed text, something to look up."""
        parent = self.parents[-2]
        if isinstance(parent, (ast.Expr, ast.Subscript, ast.JoinedStr)):
            return True
        if isinstance(parent, ast.Dict):
            return node in parent.keys
        # `Literal["cpu", "cuda"]` is a type.
        if isinstance(parent, ast.Tuple) and isinstance(self.parents[-3], ast.Subscript):
            return True
        if isinstance(parent, ast.keyword):
            return parent.arg in KEYWORDS
        if isinstance(parent, ast.Call):
            called = parent.func
            name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", None)
            # The argument after the key is the default value.
            keys = {"get": 1, "pop": 1, "setdefault": 1, "getenv": 1, "getattr": 2, "setattr": 2}.get(name)
            if keys and node in parent.args[keys:]:
                return False
            return name in WORDS or (self.qualified(called) or "").startswith("re.")
        return False


def look(text):
    said = {"refused": None, "comments": None, "mentions": [], "other_tree": None}
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
        try:
            said["mentions"] = Mentions(tree).found
        except RecursionError:
            pass
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
    places, shift, n = {}, 0, 0
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

    def around(statements, start, known):
        """The next statement around one that both have, the name of the block in it, and the number of functions and classes between."""
        _, _, outer, field, _ = statements.found[start]
        scopes = 0
        while outer is not None and outer not in known:
            _, (kind, _), outer, field, _ = statements.found[outer]
            scopes += kind.endswith("Def")
        return outer, field, scopes

    both = set(places.values())
    for start, place in places.items():
        line = original.encode()[:start].count(b"\n") + 1
        if place not in after.found:
            return f"line {line}: no statement begins there in the port"
        if before.found[start][1] != after.found[place][1]:
            return f"line {line}: the statement differs in the port"
        outer, *inside = around(before, start, places)
        if around(after, place, both) != (places.get(outer), *inside):
            return f"line {line}: the statement is in another block in the port"
    return None


def main():
    sys.setrecursionlimit(4000)
    for line in sys.stdin.buffer:
        asked = json.loads(line)
        said = look(asked["text"])
        if asked["comments"] and not said["refused"]:
            said["comments"] = comments(asked["text"])
        if asked["original"] is not None and not said["refused"]:
            try:
                said["other_tree"] = other_tree(asked["original"], asked["text"], asked["edits"])
            except (SyntaxError, ValueError, RecursionError):
                pass
        sys.stdout.write(json.dumps(said) + "\n")
        sys.stdout.flush()


main()
