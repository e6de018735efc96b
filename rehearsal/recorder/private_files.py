"""What a program of a twin run writes is its own: its folder holds links to the user's files, and a link is broken before it is written through.

Environment: STAND_IN_PLACE=FOLDER, the folder of the run; without it, nothing here is put in place. What is outside of it is written as it is.
"""

import os
import shutil
import sys
import threading

PLACE = os.path.realpath(os.environ["STAND_IN_PLACE"]) if os.environ.get("STAND_IN_PLACE") else None
# Links that one path may go through.
LINKS = 40
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
# Of each event: which arguments are paths that are changed themselves, which are names in a folder that is changed; and where a descriptor of
# the folder is.
CHANGES = {
    "os.chdir": ((0,), (), ()),  # relative paths start there from then on
    "os.chmod": ((0,), (), (2,)),
    "os.chown": ((0,), (), (3,)),
    "os.link": ((0,), (1,), (2, 3)),
    "os.mkdir": ((), (0,), (2,)),
    "os.remove": ((), (0,), (1,)),
    "os.rename": ((), (0, 1), (2, 3)),
    "os.rmdir": ((0,), (), (1,)),
    "os.symlink": ((), (1,), (2,)),
    "os.truncate": ((0,), (), ()),
    "os.utime": ((0,), (), (3,)),
    "shutil.rmtree": ((0,), (), (1,)),
    "sqlite3.connect": ((0,), (), ()),
}
_lock = threading.Lock()
_here = threading.local()


def private(path, keep=True, itself=True):
    """Breaks the links of a path in the folder of the run: those to folders become folders of links; that to the file a copy, or, where its
    content is not kept, nothing. Without `itself` the last name may stay a link."""
    if PLACE is None or isinstance(path, int) or getattr(_here, "busy", False):
        return
    _here.busy = True
    try:
        with _lock:
            _break(os.fsdecode(path), keep, itself)
    except Exception:  # the program's own call says what is wrong with a path
        pass
    finally:
        _here.busy = False


def _break(path, keep, itself):
    inside, names = _inside(path)
    links = 0
    while names:
        name = names.pop(0)
        if name in ("", os.curdir):
            continue
        if name == os.pardir:
            if inside == PLACE:
                # Out of the folder, and perhaps into it again.
                inside, names = _inside(os.path.join(os.path.dirname(PLACE), *names))
            else:
                inside = os.path.dirname(inside)
            continue
        here, inside = inside, os.path.join(inside, name)
        if not os.path.islink(inside) or not (names or itself):
            continue
        target = os.path.join(here, os.readlink(inside))
        within, more = _inside(target)
        links += 1
        if within and links <= LINKS:
            # A link that the program made itself.
            inside, names = within, more + names
        elif os.path.isdir(inside):
            _folder(inside)
        elif keep and os.path.exists(inside):
            beside = _beside(inside)
            shutil.copy2(inside, beside)
            os.replace(beside, inside)
        else:
            os.unlink(inside)


def _inside(path):
    """The folder of the run and the names behind it, where a path starts there; else nothing."""
    path = os.path.join(os.getcwd(), path)
    for place in (PLACE, os.environ.get("STAND_IN_PLACE", PLACE)):
        if path == place or path.startswith(place + os.sep):
            return PLACE, path[len(place):].replace(os.altsep or os.sep, os.sep).split(os.sep)
    return None, []


def _beside(path):
    return f"{path}.{os.getpid()}.private"


def _folder(link):
    """A folder of links to what is in the folder that a link leads to, in the place of the link."""
    real, beside = os.path.realpath(link), _beside(link)
    os.mkdir(beside)
    for name in os.listdir(real):
        os.symlink(os.path.join(real, name), os.path.join(beside, name))
    os.unlink(link)
    os.rename(beside, link)


def _watch(event, args):
    try:
        if event == "open":
            path, mode, flags = args
            flags = flags if isinstance(flags, int) else 0
            if flags & WRITES or isinstance(mode, str) and not set(mode).isdisjoint("wax+"):
                private(path, keep=not flags & os.O_TRUNC)
        elif event in CHANGES:
            changed, named, folders = CHANGES[event]
            if not any(len(args) > at and args[at] not in (None, -1) for at in folders):
                for at in changed + named:
                    private(args[at], itself=at in changed)
    except Exception:  # nothing of this is the program's, nor is anything left at the interpreter's end
        pass


def _forked():
    """Another thread may have held the lock, and is not there any more."""
    global _lock
    _lock = threading.Lock()


if PLACE is not None:
    sys.addaudithook(_watch)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_forked)
