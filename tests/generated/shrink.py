"""Makes a failing program small: plain habits in the place of others first, then statement after statement away."""

import ast

import compose
import registry
from structures import Program


def habits(chosen, name, fails, tries=60):
    """Fewer habits that are not plain, with which the program still fails."""
    plain = registry.plain()
    for dimension in registry.ORDER:
        other = {**chosen, dimension: plain[dimension]}
        if other != chosen and registry.fits(other) and tries > 0:
            tries -= 1
            if fails(compose.write(other, name)):
                chosen = other
    return chosen


def statements(program, fails, tries=150):
    """A program without the statements that the failure doesn't need."""
    left = [tries]

    def attempt(files):
        left[0] -= 1
        return left[0] >= 0 and fails(Program(files, program.main, program.names))

    files = {name: ast.unparse(ast.parse(text)) if name.endswith(".py") else text for name, text in program.files.items()}
    for name in sorted(files, key=lambda name: name != program.main):
        if name.endswith(".py"):
            size = max(count(files[name]) // 4, 1)
            while size and left[0] > 0:
                at = count(files[name])
                while at > 0 and left[0] > 0:
                    at -= size
                    smaller = without(files[name], range(max(at, 0), at + size))
                    if smaller is not None and smaller != files[name] and attempt({**files, name: smaller}):
                        files[name] = smaller
                size //= 2
    return Program(files, program.main, program.names)


def bodies(tree):
    for node in ast.walk(tree):
        for field in ("body", "orelse", "finalbody"):
            body = getattr(node, field, None)
            if isinstance(body, list) and body and isinstance(body[0], ast.stmt):
                yield body


def count(text):
    return sum(map(len, bodies(ast.parse(text))))


def without(text, numbers):
    """A text without the statements of these numbers; None where nothing is left of it."""
    tree, at = ast.parse(text), 0
    for body in list(bodies(tree)):
        keep = [statement for number, statement in enumerate(body, at) if number not in numbers]
        at += len(body)
        body[:] = keep
    for node in ast.walk(tree):
        if hasattr(node, "body") and node.body == [] and not isinstance(node, ast.Module):
            node.body = [ast.Pass()]
    try:
        return ast.unparse(ast.fix_missing_locations(tree))
    except ValueError:
        return None
