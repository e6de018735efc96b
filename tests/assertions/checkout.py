"""A checkout of a project: its functions, its enum of compute modes, and each function reduced to one mode.

The project's names are not known: the enum of compute modes is the one with members CPU and GPU. Tests of the mode are evaluated,
branches not taken are dropped.
"""

import ast
import copy
import pathlib
import re

# ---------------------------------------------------------------------------------------------- reading a checkout


class Function:
    """A function with its location."""

    def __init__(self, path, name, node, owner):
        self.path, self.name, self.node, self.owner = path, name, node, owner
        self.text = text(node)

    def at(self, node=None):
        return f"{self.path}:{(node or self.node).lineno}"


def parents_of(tree):
    return {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}


def text(node):
    return ast.unparse(node)


class Checkout:
    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.files, self.functions, self.classes, self._seen = {}, {}, {}, {}
        for path in sorted(self.root.rglob("*.py")):
            relative = path.relative_to(self.root).as_posix()
            if any(part.startswith(".") for part in path.relative_to(self.root).parts):
                continue
            try:
                tree = ast.parse(path.read_bytes())
            except (SyntaxError, ValueError) as fault:
                raise SystemExit(f"{relative}: does not parse: {fault}")
            self.files[relative] = tree
            self._collect(relative, tree, "", None)
        self.enum = self._mode_enum()
        self.flags = self._flags()
        self.identities = {node.name for tree in self.files.values() for node in ast.walk(tree) if gives_back(node)}

    def _collect(self, path, node, prefix, owner):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ClassDef):
                self.classes[path, prefix + child.name] = child
                self._collect(path, child, prefix + child.name + ".", child)
            elif isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                self.functions[path, prefix + child.name] = Function(path, prefix + child.name, child, owner)
                self._collect(path, child, prefix + child.name + ".", owner)
            else:
                self._collect(path, child, prefix, owner)

    def _mode_enum(self):
        """The enum that has CPU and GPU among its members: (path, class, {member: value})."""
        for (path, _), node in self.classes.items():
            if any("Enum" in text(base) for base in node.bases):
                members = {
                    s.targets[0].id: s.value for s in node.body if isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name)
                }
                if {"CPU", "GPU"} <= set(members):
                    return path, node, members
        return None

    def _flags(self):
        """Names assigned a test of the mode: `on_hpu = mode == ComputeMode.HPU`."""
        found = {}
        for tree in self.files.values():
            for node in ast.walk(tree):
                if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], (ast.Name, ast.Attribute)):
                    if isinstance(node.value, (ast.Compare, ast.BoolOp)) and self._members_in(node.value):
                        found.setdefault(text(node.targets[0]), []).append(node.value)
        return {name: values[0] for name, values in found.items() if len(values) == 1}

    def member(self, node):
        """`HPU` of `ComputeMode.HPU`."""
        if self.enum and isinstance(node, ast.Attribute) and text(node.value).split(".")[-1] == self.enum[1].name:
            return node.attr
        return None

    def _members_in(self, node):
        if not self.enum:
            return []
        return [m for m in (self.member(n) for n in ast.walk(node)) if m]

    def decide(self, test, mode):
        """True, False, or None if the mode alone does not determine it."""
        if isinstance(test, ast.Constant):
            return bool(test.value)
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            inner = self.decide(test.operand, mode)
            return None if inner is None else not inner
        if isinstance(test, ast.BoolOp):
            parts = [self.decide(part, mode) for part in test.values]
            stop = isinstance(test.op, ast.Or)
            if stop in parts:
                return stop
            return None if None in parts else not stop
        if isinstance(test, ast.Compare) and len(test.ops) == 1:
            op, right = test.ops[0], test.comparators[0]
            one = self.member(right) or self.member(test.left)
            if one is None and text(test.left).endswith(".name") and isinstance(right, ast.Constant) and right.value in self.enum[2]:
                one = right.value
            if one is not None and isinstance(op, (ast.Eq, ast.Is)):
                return one == mode
            if one is not None and isinstance(op, (ast.NotEq, ast.IsNot)):
                return one != mode
            if isinstance(op, (ast.In, ast.NotIn)) and isinstance(right, (ast.Tuple, ast.List, ast.Set)):
                members = [self.member(item) for item in right.elts]
                if members and None not in members:
                    return (mode in members) == isinstance(op, ast.In)
        if isinstance(test, (ast.Name, ast.Attribute)) and text(test) in self.flags:
            return self.decide(self.flags[text(test)], mode)
        return None

    def seen_by(self, node, mode):
        """The function or module reduced to this mode."""
        if (node, mode) not in self._seen:
            self._seen[node, mode] = ast.fix_missing_locations(Seen(self, mode).visit(copy.deepcopy(node)))
        return self._seen[node, mode]


class Seen(ast.NodeTransformer):
    """Evaluates tests of the mode and drops branches that are not taken."""

    def __init__(self, checkout, mode):
        self.checkout, self.mode = checkout, mode

    def visit_If(self, node):
        answer = self.checkout.decide(node.test, self.mode)
        if answer is None:
            node.test = self.rest(node.test)
            self.generic_visit(node)
            node.body = node.body or [ast.Pass()]
            if all(isinstance(s, ast.Pass) for s in node.body) and not node.orelse:
                return []
            return node
        out = []
        for statement in node.body if answer else node.orelse:
            got = self.visit(statement)
            out += got if isinstance(got, list) else [got] if got is not None else []
        return out

    def visit_IfExp(self, node):
        answer = self.checkout.decide(node.test, self.mode)
        if answer is None:
            return self.generic_visit(node)
        return self.visit(node.body if answer else node.orelse)

    def rest(self, test):
        """The part of an `and`/`or` that the mode does not determine."""
        if isinstance(test, ast.BoolOp):
            open_parts = [self.rest(p) for p in test.values if self.checkout.decide(p, self.mode) is None]
            return open_parts[0] if len(open_parts) == 1 else ast.BoolOp(test.op, open_parts)
        return test

    def visit_BoolOp(self, node):
        self.generic_visit(node)
        if self.checkout.decide(node, self.mode) is None:
            return self.rest(node)
        return node

    def visit_FunctionDef(self, node):
        self.generic_visit(node)
        node.body = after_return(node.body) or [ast.Pass()]
        return node

    def _filled(self, node):
        self.generic_visit(node)
        node.body = node.body or [ast.Pass()]
        return node

    visit_With = visit_For = visit_While = visit_ClassDef = visit_ExceptHandler = visit_Try = _filled


def after_return(body):
    """Nothing runs after a `return` or `raise`."""
    for i, statement in enumerate(body):
        if isinstance(statement, (ast.Return, ast.Raise)):
            return body[: i + 1]
    return body


def is_no_grad(expression):
    name = text(expression)
    return bool(re.search(r"\b(no_grad|inference_mode)\(", name)) or "set_grad_enabled(False)" in name


def gives_back(node):
    """Whether a function returns its only argument, unless poprun started the program."""
    if not isinstance(node, ast.FunctionDef) or len(node.args.args) != 1:
        return False
    *rest, last = [s for s in node.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))] or [None]
    under_poprun = all(isinstance(s, ast.If) and "isPopdistEnvSet()" in text(s.test) and " or " not in text(s.test) for s in rest)
    return bool(rest) and under_poprun and isinstance(last, ast.Return) and text(last) == f"return {node.args.args[0].arg}"


class Neutral(ast.NodeTransformer):
    """Removes what a port may change for every mode: no_grad around validation, `nullcontext` called, `.item()`,
    Hydra's `version_base`, and functions that return their argument."""

    def __init__(self, identities=()):
        self.identities = identities

    def visit_With(self, node):
        self.generic_visit(node)
        node.items = [item for item in node.items if not is_no_grad(item.context_expr)]
        return node if node.items else node.body

    def visit_FunctionDef(self, node):
        self.generic_visit(node)
        node.decorator_list = [d for d in node.decorator_list if not is_no_grad(d) and text(d) not in ("torch.no_grad",)]
        return node

    def visit_Return(self, node):
        if node.value is not None and text(node.value) in ("contextlib.nullcontext", "nullcontext"):
            node.value = ast.Call(node.value, [], [])
        return self.generic_visit(node)

    def visit_Call(self, node):
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "item" and not node.args:
            return node.func.value
        if isinstance(node.func, ast.Name) and node.func.id in self.identities and len(node.args) == 1:
            return node.args[0]
        if text(node.func) == "hydra.main":
            node.keywords = [k for k in node.keywords if k.arg != "version_base"]
        return node


def neutral(node, identities=()):
    return text(ast.fix_missing_locations(Neutral(identities).visit(copy.deepcopy(node))))


def calls(node):
    return [n for n in ast.walk(node) if isinstance(n, ast.Call)]


def called(call):
    """Last part of the function's name: `step` of `self._opt.step()`."""
    return call.func.attr if isinstance(call.func, ast.Attribute) else call.func.id if isinstance(call.func, ast.Name) else ""


def returned(function, env=None):
    """Texts of the values that a function (already reduced to a mode) may return; a name is replaced by the value assigned to it."""
    found = set()

    def resolve(value, env):
        if isinstance(value, ast.Name) and value.id in env:
            return set(env[value.id])
        return {text(value)}

    def run(body, env):
        for s in body:
            if isinstance(s, ast.Return):
                if s.value is not None:
                    found.update(resolve(s.value, env))
                return None
            if isinstance(s, ast.Raise):
                return None
            if isinstance(s, ast.Assign) and len(s.targets) == 1 and isinstance(s.targets[0], ast.Name):
                env = {**env, s.targets[0].id: resolve(s.value, env)}
            elif isinstance(s, ast.If):
                env = merge([run(s.body, env), run(s.orelse, env)])
            elif isinstance(s, ast.Try):
                env = merge([run(s.body, env), *[run(h.body, env) for h in s.handlers]])
            elif isinstance(s, (ast.With, ast.For, ast.While)):
                env = merge([run(s.body, env)] + ([] if isinstance(s, ast.With) else [env]))
            if env is None:
                return None
        return env

    def merge(envs):
        envs = [e for e in envs if e is not None]
        if not envs:
            return None
        out = {}
        for e in envs:
            for name, values in e.items():
                out[name] = out.get(name, set()) | set(values)
        return out

    run(function.body, {})
    return found


class Report:
    def __init__(self):
        self.failed, self.lines = [], []

    def say(self, name, faults, good):
        if faults:
            self.failed.append(name)
        self.lines.append(f"{name} FAIL " + "; ".join(faults) if faults else f"{name} PASS {good}")


def lost_statements(before, after):
    """Missing statements of modules and classes. Statements may be added; existing ones must remain."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    faults = []

    def compare(where, old, new):
        new = [s for s in new if not isinstance(s, kinds)]
        same = {text(s) for s in new}
        for s in old:
            if isinstance(s, kinds) or text(s) in same:
                continue
            if neutral(s) not in {neutral(s) for s in new}:
                faults.append(f"{where}:{s.lineno} {text(s).splitlines()[0]!r} is gone")

    for path, tree in before.files.items():
        compare(path, tree.body, after.files[path].body if path in after.files else [])
    for key, cls in before.classes.items():
        compare(key[0], cls.body, after.classes[key].body if key in after.classes else [])
    return faults


def changed_for(before, after, modes, functions):
    """Changes for other modes. None, in a correct port."""
    faults = []
    for key, was in functions.items():
        now = after.functions.get(key)
        if now is None:
            faults.append(f"{key[0]}: {key[1]} is gone")
            continue
        if was.text == now.text:
            continue
        for mode in modes:
            old, new = before.seen_by(was.node, mode), after.seen_by(now.node, mode)
            if text(old) == text(new):
                continue
            old, new = neutral(old), neutral(new, after.identities)
            if old != new:
                pairs = zip(old.splitlines() + [""] * 999, new.splitlines())
                line = next((f"{b.strip()!r} for {a.strip()!r}" for a, b in pairs if a != b), "lines are missing")
                faults.append(f"{now.at()} {key[1]} is changed for {mode}: {line}")
                break
    return faults
