"""A folder of images, made up where a program looks for one: in it a folder for each class, as `ImageFolder` and its like read them."""

import io
import os
import random
import struct
import zlib

SIDE = 64
# ImageNet has 21,841; each class gets an image.
MOST_CLASSES = 25_000


class Wanted:
    """A folder that was asked for: `data/train`, or `data/train=2` for two classes."""

    def __init__(self, asked):
        path, _, classes = asked.partition("=")
        if not path or os.path.isabs(path) or ".." in path.replace("\\", "/").split("/"):
            raise ValueError(f"--fake-images {asked}: the folder must be below the program's working directory")
        if classes and not classes.isdigit() or classes == "0":
            raise ValueError(f"--fake-images {asked}: expected the number of classes after =")
        if classes and int(classes) > MOST_CLASSES:
            raise ValueError(f"--fake-images {asked}: at most {MOST_CLASSES} classes")
        self.path, self.classes = os.path.normpath(path), int(classes or 10)


def own_folder(place, path):
    """A folder below `place`, made if it is not there. Folders on the way that are links become folders with links, so that nothing is
    written where they lead."""
    folder = str(place)
    for part in path.split(os.sep) if path else []:
        folder = os.path.join(folder, part)
        if os.path.islink(folder):
            there = os.path.realpath(folder)
            os.unlink(folder)
            os.mkdir(folder)
            for entry in os.listdir(there):
                os.symlink(os.path.join(there, entry), os.path.join(folder, entry))
        else:
            os.makedirs(folder, exist_ok=True)
    return folder


def make(place, wanted, count, seed=20):
    """Writes `count` images below `place`."""
    folder = own_folder(place, wanted.path)
    for number in range(max(count, wanted.classes)):
        kind = number % wanted.classes
        os.makedirs(os.path.join(folder, f"class{kind}"), exist_ok=True)
        name, data = picture(random.Random(f"{seed} {wanted.path} {number}"), kind)
        with open(os.path.join(folder, f"class{kind}", f"{number:05}{name}"), "wb") as out:
            out.write(data)


def picture(draw, kind):
    """Ending and bytes of an image of a class."""
    return _file(_pixels(draw, kind))


def _pixels(draw, kind):
    """Rows of noise with a bright patch that depends on the class."""
    row, column = divmod(kind % 16, 4)
    patch = lambda y, x: 100 if (y * 4 // SIDE, x * 4 // SIDE) == (row, column) else 0  # noqa: E731
    return [bytes(value for x in range(SIDE) for value in (draw.randrange(128) + patch(y, x),) * 3) for y in range(SIDE)]


def _file(rows):
    """Ending and bytes: JPEG, which most programs look for, or PNG where nothing here writes that."""
    try:
        from PIL import Image
    except ImportError:
        return ".png", _png(rows)
    data = io.BytesIO()
    Image.frombytes("RGB", (SIDE, SIDE), b"".join(rows)).save(data, "JPEG", quality=92)
    return ".jpg", data.getvalue()


def _png(rows):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", SIDE, SIDE, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"".join(b"\0" + row for row in rows))) + chunk(b"IEND", b"")
