"""The cells of a notebook that runs as one program, `NAME.ipynb.py`: each begins with a heading `# %% [NUMBER:FIRST LINE]`."""

import pathlib
import re

PROGRAM = ".ipynb.py"
HEADING = re.compile(r"# %% \[(\d+)(?::(\d+))?\]")


def place(program, file, line):
    """File and line as their author knows them: of a notebook its name with the cell, and the line in that."""
    if not file.endswith(PROGRAM) or pathlib.Path(file).name != pathlib.Path(program).name:
        return file, line
    lines = pathlib.Path(program).read_text(encoding="utf-8").split("\n")[:line]
    for below, text in enumerate(reversed(lines)):
        heading = HEADING.match(text)
        if heading:
            return f"{file[:-3]} cell {heading[1]}", max(below + int(heading[2] or 1) - 1, 1)
    return file, line
