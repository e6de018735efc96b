"""Programs that mean the same must have ports that are the same, and the same messages.

No run is needed. Where only the status can be compared (a value lives elsewhere, a helper is taken out), a program that is refused although its
rewriting is ported is *needlessly* refused.
"""

import ast
import copy
import re

import registry
import compose
import ports
from structures import Program

# A function that uses the program's own names for something else, and code that never runs.
UNRELATED = """
def unrelated_things({names}):
    for {first} in range(3):
        {last} = {first} + 1
    return {last}


if False:
    print("never")
"""
# Places of a value, by dimension: any of them should do.
ELSEWHERE = {"settings": ("literals", "dictionary", "argparse", "class_attributes"), "parts": ("names", "in_dict", "in_tuple", "in_namespace"),
             "structure": ("script", "main_function", "functions", "trainer_class")}


class Normal(ast.NodeTransformer):
    """Without what a rewriting changes by itself: the order of names in an import, the sense of a test, the unrelated code."""

    def visit_ImportFrom(self, node):
        node.names.sort(key=lambda one: one.name)
        return node

    def visit_FunctionDef(self, node):
        return None if node.name == "unrelated_things" else self.generic_visit(node)

    def visit_If(self, node):
        self.generic_visit(node)
        if isinstance(node.test, ast.Constant) and node.test.value is False:
            return None
        return negated(node) if isinstance(node.test, ast.UnaryOp) and isinstance(node.test.op, ast.Not) and node.orelse else node

    def visit_IfExp(self, node):
        self.generic_visit(node)
        return negated(node) if isinstance(node.test, ast.UnaryOp) and isinstance(node.test.op, ast.Not) else node


class Swapped(ast.NodeTransformer):
    """The arms of each `if` the other way round."""

    def visit_If(self, node):
        self.generic_visit(node)
        return negated(node) if node.orelse and not isinstance(node.orelse[0], ast.If) else node

    def visit_IfExp(self, node):
        self.generic_visit(node)
        return negated(node)


def negated(node):
    test = node.test.operand if isinstance(node.test, ast.UnaryOp) and isinstance(node.test.op, ast.Not) else ast.UnaryOp(ast.Not(), node.test)
    return ast.copy_location(type(node)(test=test, body=node.orelse, orelse=node.body), node)


def normal(text):
    return ast.unparse(ast.fix_missing_locations(Normal().visit(ast.parse(text))))


def state(port, back=lambda text: text):
    """What a port is, and what it says, apart from form: `back` undoes a renaming. The port has other names of its own where the program has
    theirs, and takes its quotes from the program."""
    python = [file["path"] for file in port.report["files"] if file["path"].endswith(".py")]
    options = lambda text: re.sub(r"--[-\w]+", lambda found: found[0].replace("_", "-"), text)  # noqa: E731
    own = lambda text: re.sub(r"\bipu_opts\b", "opts", re.sub(r"(?<![-\w])(?:step_)?loss(?![-\w])", "loss", options(back(text))))  # noqa: E731
    # `--batch_x-shape` is `--batch-x-shape`: the port makes dashes of the underscores that a name had.
    texts = {path: normal(own(port.text(path))) for path in python}
    said = sorted((one["recipe"], re.sub(r"\d+", "#", own(one["message"]).replace('"', "'").replace("_", "-"))) for one in port.said)
    return texts, said


def rewritten(program, change):
    """A program whose Python files are changed as trees."""
    files = {name: ast.unparse(ast.fix_missing_locations(change(ast.parse(text)))) if name.endswith(".py") else text for name, text in program.files.items()}
    return Program(files, program.main, program.names)


def with_unrelated(program):
    names = [program.names[role] for role in ("model", "optimizer", "x", "y", "loss", "out")]
    text = program.files[program.main]
    lines = text.splitlines()
    at = max(number for number, line in enumerate(lines) if line.startswith(("import ", "from "))) + 1
    added = UNRELATED.format(names=", ".join(names), first=names[2], last=names[4]).splitlines()
    return Program({**program.files, program.main: "\n".join([*lines[:at], "", *added, "", *lines[at:]]) + "\n"}, program.main, program.names)


def exact(program, habits, name):
    """`(relation, program, what undoes a renaming)`: ports must be the same to the letter."""
    plain = rewritten(program, lambda tree: tree)
    yield "formatted", plain, None
    swapped = rewritten(program, Swapped().visit)
    if swapped.files != plain.files:
        yield "arms swapped", swapped, None
    yield "unrelated code", with_unrelated(program), None
    opaque = compose.write(habits, name, opaque=True)
    roles = {opaque.names[role]: program.names[role] for role in opaque.names.chosen}
    yield "renamed", opaque, lambda text: re.sub(r"zq\d\dv", lambda found: roles.get(found[0], found[0]), text)


def elsewhere(habits, name):
    """The same with a value in another place."""
    for dimension, places in ELSEWHERE.items():
        for place in places:
            other = {**habits, dimension: place}
            if place != habits[dimension] and registry.fits(other):
                yield f"{dimension}: {habits[dimension]} → {place}", compose.write(other, name)


def broken(judging, program, habits, name, targets):
    """The relations that do not hold, by target: `(target, relation, what differs)`."""
    found = []
    folder = judging.folder / f"{name}-relations"

    def ported(what, target):
        return judging.command.port(ports.write(what, folder / "original"), target, folder / "port")

    for target in targets:
        texts, said = state(ported(program, target))
        refusals = None
        for relation, other, back in exact(program, habits, name):
            port = ported(other, target)
            other_texts, other_said = state(port, back or (lambda text: text))
            if other_texts != texts:
                found.append((target, relation, "the port: " + first_difference(texts, other_texts)))
            elif other_said != said:
                odd = [one for one in other_said if one not in said] + [one for one in said if one not in other_said]
                found.append((target, relation, f"messages: {odd[:2]}"))
        refusals = {one["recipe"] for one in ported(program, target).refusals}
        if refusals:
            for relation, other in elsewhere(habits, name):
                if not ported(other, target).refusals:
                    found.append((target, f"needless, {relation}", ", ".join(sorted(refusals))))
                    break
    return found


def first_difference(mine, other):
    for path in mine:
        pairs = zip([*mine[path].splitlines(), "the end"], [*other.get(path, "").splitlines(), "the end"])
        for a, b in pairs:
            if a != b:
                return f"{path}: {a.strip()!r}, but {b.strip()!r}"
    return "files"
