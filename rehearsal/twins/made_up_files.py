"""Files that a program opens and that are not there, made up for a run that needs no data.

What is in a file can't be known; so a program gets what its name suggests, and the next thing where that does not take it further.
"""

import os
import pathlib
import random
import re

from . import images

LINES, COLUMNS = 2048, 8
# Files that one program may have made up.
MOST = 12
LISTS = re.compile(r"\b(listdir|scandir|iterdir|walk|glob)\(")
NOT_FOUND = re.compile(r"No such file or directory: '([^']+)'")


def _words(path):
    draw = random.Random(path.name)
    words = ["".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=draw.randint(2, 8))) for _ in range(200)]
    path.write_text("".join(" ".join(draw.choices(words, k=12)) + ".\n" for _ in range(LINES)), encoding="utf-8")


def _table(path):
    draw = random.Random(path.name)
    path.write_text("".join(",".join(f"{draw.gauss(0, 1):.6f}" for _ in range(COLUMNS)) + "\n" for _ in range(LINES)), encoding="utf-8")


def _image(path):
    path.write_bytes(images.picture(random.Random(path.name), 0)[1])


def _images(path):
    path.mkdir(parents=True, exist_ok=True)
    for number in range(16):
        name, data = images.picture(random.Random(number), number)
        (path / f"{number:04}{name}").write_bytes(data)


def _weights(path):
    """Nothing: what loads it takes the model's own (`recorder/made_up_data.py`)."""
    path.touch()


CONTENTS = {"weights": _weights, "words": _words, "table": _table, "image": _image, "folder": _images}
TOLD = {"weights": "the model's own weights", "words": "words", "table": f"{COLUMNS} columns of numbers", "image": "an image", "folder": "images"}


def _contents(path, printed):
    suffix = pathlib.Path(path).suffix.lower()
    if suffix in (".png", ".jpg", ".jpeg", ".bmp"):
        return ["image"]
    if suffix in (".pth", ".pt", ".ckpt", ".tar", ".bin"):
        return ["weights"]
    if suffix == "" and LISTS.search("\n".join(printed.splitlines()[-4:])):
        return ["folder"]
    return ["table", "words"] if suffix in (".csv", ".dat") else ["words", "table"] if suffix in ("", ".txt", ".text", ".tokens") else []


class Files:
    """The files that are made up in each run's folder. A path outside of it is not made up."""

    def __init__(self):
        self.made, self.left = {}, []

    def add(self, printed):
        """Makes up what a program could not open, or tries the next content of the last such file; false where there is nothing left to try."""
        missing = NOT_FOUND.search((printed.strip().splitlines() or [""])[-1])
        path = missing and missing.group(1)
        if path and path not in self.made:
            if os.path.isabs(path) or os.pardir in pathlib.PurePath(path).parts or len(self.made) >= MOST:
                return False
            self.left = [(path, content) for content in _contents(path, printed)]
        if not self.left:
            return False
        path, content = self.left.pop(0)
        self.made[path] = content
        return True

    def make(self, place):
        for path, content in self.made.items():
            folder, name = os.path.split(os.path.normpath(path))
            file = pathlib.Path(images.own_folder(place, folder), name)
            if not file.exists():
                # A link that leads nowhere would be written through.
                if file.is_symlink():
                    file.unlink()
                CONTENTS[content](file)
