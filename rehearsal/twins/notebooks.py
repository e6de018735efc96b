"""The cells of a notebook that runs as one program, `NAME.ipynb.py`: each begins with a heading `# %% [NUMBER:FIRST LINE]`."""

import pathlib
import re

PROGRAM = ".ipynb.py"
HEADING = re.compile(r"# %% \[(\d+)(?::(\d+))?\]")


FRAME = re.compile(r'File "([^"\n]*' + re.escape(PROGRAM) + r')", line (\d+)')


def traced(text):
    """A traceback whose lines of a notebook's program are named by its cells."""

    def named(frame):
        file, line = place(frame[1], pathlib.Path(frame[1]).name, int(frame[2]))
        return f'File "{file}", line {line}'

    return FRAME.sub(named, text)


def name(program):
    """The file that its author knows: of a notebook's program the notebook."""
    return program[:-3] if program.endswith(PROGRAM) else program


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
