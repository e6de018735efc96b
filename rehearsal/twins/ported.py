"""The recipe behind a line of the port, out of the report that `portolan port --format json` gives."""

import json

from . import notebooks


def recipe_at(report, place):
    """Of the edit that wrote a line of the port, or the nearest one before it in the same file; None where there is none."""
    if not place:
        return None
    file, line = place
    file = file.replace("\\", "/")
    if file.endswith(notebooks.PROGRAM):
        file = file[: -len(".py")]
    entries = [entry for entry in report["files"] if entry["path"] == file]
    for entry in entries or [entry for entry in report["files"] if entry["path"].split("/")[-1] == file.split("/")[-1]]:
        found, shift = None, 0
        source = entry.get("original")
        for edit in entry["edits"]:
            if source is None:
                return None
            first = source[: edit["start"]].count(b"\n") + 1 + shift
            last = first + edit["text"].count("\n")
            if first <= line <= last:
                return edit["recipe"]
            if first <= line:
                found = edit["recipe"]
            shift += edit["text"].count("\n") - source[edit["start"] : edit["end"]].count(b"\n")
        return found
    return None


def read(path, root):
    """The report, with the bytes of each original file beside it."""
    import pathlib

    report = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    for entry in report["files"]:
        # The edits of a notebook are those of its program.
        program = entry["path"] + ".py" if entry["path"].endswith(".ipynb") else entry["path"]
        for file in (pathlib.Path(root) / program, pathlib.Path(root) / program.split("/")[-1]):
            if file.is_file():
                entry["original"] = file.read_bytes()
                break
    return report
