"""Starts a program with the recorder and gives its record."""

import contextlib
import json
import math
import os
import pathlib
import pickle
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from . import images, made_up_files, notebooks

KIT = pathlib.Path(__file__).resolve().parent.parent
# Images of a folder that is made up, where no number was given.
IMAGES = 256
# Seconds in which made-up data has to be found.
SEARCH = 240
# As torchrun sets them for one process.
RANKS = {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "localhost", "MASTER_PORT": "29500"}
# The end of a program whose communication library PyTorch was built without.
NO_BACKEND = "Distributed package doesn't have"
# Lines of what a program printed to standard error that are shown where it failed.
TRACE = 20


class Failed(Exception):
    """A program ended before it left a record, or with an error. `printed` is what it printed of that, `trace` the end, `missing` the arguments
    that it asks for."""

    def __init__(self, why, printed="", missing=()):
        super().__init__(why)
        self.printed = printed
        self.trace = notebooks.traced(printed).strip().splitlines()[-TRACE:]
        self.missing = list(missing)


class Runner:
    """Runs programs of one twin run: folders that look like the one it was started in, and one way to start a process."""

    def __init__(self, steps=16, seed=20, precision="float32", fake_data=0, fake_images=(), folder=None, timeout=None, projects=(), environment=None,
                 home=None, no_data=False):
        """`home` is the folder that the programs believe to be started in; the present one, where it is not given. `no_data`: what the programs
        would read is made up."""
        self.folder = tempfile.TemporaryDirectory() if folder is None else None
        self.root = pathlib.Path(folder or self.folder.name)
        self.home, self.counting = pathlib.Path(home or pathlib.Path.cwd()).resolve(), threading.Lock()
        self.projects = [pathlib.Path(project).resolve() for project in projects]
        self.steps, self.timeout, self.count = steps, timeout, 0
        self.images, self.samples = list(fake_images), fake_data or IMAGES
        self.common = {
            "STAND_IN_TWIN_SEED": str(seed), "STAND_IN_PRECISION": precision, "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0",
            # A run that is compared is none to be kept elsewhere.
            "WANDB_MODE": "disabled",
            # Bars of tqdm are printed at each step, not when a tenth of a second has passed.
            "TQDM_MININTERVAL": "0", "TQDM_MINITERS": "1",
            # TensorFlow is to compute in one order, and to say less; Keras is to be that of TensorFlow.
            "TF_ENABLE_ONEDNN_OPTS": "0", "TF_CPP_MIN_LOG_LEVEL": "3", "KERAS_BACKEND": "tensorflow",
            **({"STAND_IN_FAKE_DATA": str(fake_data)} if fake_data else {}),
            **(environment or {}),
        }

        self.no_data = self.root / "no-data.json" if no_data else None
        self.files = made_up_files.Files()
        if no_data:
            self.common.update({"STAND_IN_NO_DATA": str(self.no_data), "STAND_IN_TWIN_EVALUATED": "2"})

    precision = property(lambda self: self.common["STAND_IN_PRECISION"])

    @contextlib.contextmanager
    def in_float32(self):
        """Runs inside keep types of half the size out."""
        as_asked = self.precision
        self.common["STAND_IN_PRECISION"] = "float32"
        try:
            yield
        finally:
            self.common["STAND_IN_PRECISION"] = as_asked

    def project(self, program):
        """The folder of the project that a program is in, where it was named."""
        holding = [project for project in self.projects if project in pathlib.Path(program).resolve().parents]
        return max(holding, key=lambda project: len(project.parts), default=None)

    def beside(self, folder, project):
        """A folder of the original in the port, where the program is the port's: its modules are to be those that were ported."""
        original, folder = (self.projects or [None])[0], folder.resolve()
        inside = project is not None and (folder == original or original in folder.parents)
        return project / folder.relative_to(original) if inside else folder

    def told(self, program):
        """A program in the words of a message."""
        project = self.project(program)
        if project is None:
            return str(program)
        which = ("the original", "the port")[self.projects.index(project)]
        return f"{which} ({notebooks.name(pathlib.Path(program).resolve().relative_to(project).as_posix())})"

    def place(self, project=None):
        """A folder with everything of the program's project and of the one the twin run was started in, by links: what a program
        writes there is its own (`recorder/private_files.py`)."""
        self.count += 1
        place = self.root / str(self.count)
        place.mkdir(parents=True)
        for folder in [project, self.home] if project else [self.home]:
            for entry in folder.iterdir():
                if entry.resolve() != self.root.resolve() and not os.path.lexists(place / entry.name):
                    (place / entry.name).symlink_to(entry.resolve())
        for wanted in self.images:
            images.make(str(place), wanted, self.samples)
        self.files.make(place)
        return place

    def run(self, program, arguments, machine, folders, steps=None, start=None, environment=None, before=(), must_train=True):
        """The record of a run, with what was printed as `printed`. `before` are arguments of starts in front of it, in the same folder."""
        project = self.project(program)
        with self.counting:
            place, number = self.place(project), self.count
        record = self.root / f"record{number}"
        env = {
            **{key: value for key, value in os.environ.items() if not key.startswith(("STAND_IN_", "POPDIST_", "PYTHONPATH"))},
            **self.common, "STAND_IN_MACHINE": machine, "STAND_IN_TWIN_STEPS": str(steps or self.steps),
            "STAND_IN_CONTRACTS": str(self.root / f"contracts{number}"), "STAND_IN_PLACE": str(place),
            **RANKS, **(environment or {}),
        }
        # Behind the kit's own: what the user's variable holds, from the folder of the start.
        own = [str(self.beside(self.home / folder, project)) for folder in os.environ.get("PYTHONPATH", "").split(os.pathsep) if folder]
        path = [*(str(KIT / folder) for folder in ("recorder", "base", *folders)), *own]
        for first in before:
            status, _, err = self.start([program, *first], place, {**env, "STAND_IN_TWIN": f"{record}.first"}, path)
            if status:
                told = f"{self.told(program)}, started as `{' '.join(first)}`, ended with {_last(err) or f'status {status}'}"
                missing = _missing(err)
                raise Failed(told + _how_to_give(missing) + _how_to_install(err), err, missing)
        env["STAND_IN_TWIN"] = str(record)
        if start is not None:
            env["STAND_IN_TWIN_START"] = str(start)
        status, out, err = self.start([program, *arguments], place, env, path)
        if status and NO_BACKEND in err and RANKS.keys().isdisjoint(environment or {}):
            # It joins a group because a launcher seems to have started it; alone it may train without one.
            for left in (record, self.root / f"contracts{number}"):
                left.unlink(missing_ok=True)
            env = {key: value for key, value in env.items() if key not in RANKS}
            status, out, err = self.start([program, *arguments], place, env, path)
        if not record.exists():
            ended = f"signal {-status}" if status < 0 else _last(err) or f"status {status}"
            raise Failed(f"{self.told(program)} ended with {ended}{_how_to_install(err)}", err)
        with open(record, "rb") as source:
            found = pickle.load(source)
        if status and must_train:
            raise Failed(f"{self.told(program)} ended with {_last(err)}{_how_to_install(err)}", err)
        if project is not None:
            _name_places(found, self.root / f"contracts{number}", place, project)
        found["notes"] += self._made_up()
        found.update(printed=out + "\n" + err, file=record, contracts=self.root / f"contracts{number}", program=str(program))
        return found

    def make_up_data(self, program, arguments, machine, batch):
        """Has the original find the shapes of the samples that its training takes, and the files that it reads, for all runs that follow. `batch`: the
        largest batch, or 0; where its training needs its own, that is taken."""
        self.common["STAND_IN_NO_DATA_BATCH"], self.common["STAND_IN_NO_DATA_UNTIL"] = str(batch), str(time.time() + SEARCH)
        stuck = self._search(program, arguments, machine)
        if stuck and batch:
            self.common["STAND_IN_NO_DATA_BATCH"] = "0"
            stuck = self._search(program, arguments, machine) and stuck
        if stuck:
            place = f" ({stuck['stuck']['place']})" if stuck["stuck"].get("place") else ""
            names = " and ".join(stuck["data"])
            raise Failed(f"no data could be made up for {names}: with the best that was tried, {self.told(program)} ends with {stuck['stuck']['why']}{place}")

    def _search(self, program, arguments, machine):
        """What it was stuck at; None where it found what it looked for, or nothing that it needs."""
        self.no_data.unlink(missing_ok=True)
        first = None
        while True:
            try:
                self.run(program, arguments, machine, [], environment={"STAND_IN_NO_DATA_FIND": "1"})
            except Failed as failure:
                # It ends where it has found them.
                if not self.no_data.exists():
                    # What is wrong with a file that was made up is not what the program lacks.
                    first = first or failure
                    if time.time() < float(self.common["STAND_IN_NO_DATA_UNTIL"]) and self.files.add(failure.printed):
                        continue
                    tried = f" ({', '.join(self.files.made)} made up did not help)" if self.files.made else ""
                    raise Failed(f"{first}{tried}", first.printed, first.missing) from None
            if not self.no_data.exists():
                return None
            found = json.loads(self.no_data.read_text(encoding="utf-8"))
            if not found["stuck"]:
                return None
            if not self.files.add(found["stuck"]["why"]):
                return found
            self.no_data.unlink()

    def _made_up(self):
        """What was made up beside samples, for the result."""
        given = json.loads(self.no_data.read_text(encoding="utf-8"))["arguments"] if self.no_data and self.no_data.exists() else {}
        told = [f"the file {path} is made up: {made_up_files.TOLD[content]}" for path, content in self.files.made.items()]
        told += [f"the argument {name} is required, and is {value!r} here" for name, value in given.items()]
        return [{"kind": "data", "text": text} for text in told]

    def instances(self, program, arguments, machine, folders, environments, **options):
        """The record of several processes that train together, one for each environment."""
        store = self.root / f"store{self.count}"
        with ThreadPoolExecutor(len(environments)) as together:
            return joined(list(together.map(
                lambda environment: self.run(program, arguments, machine, folders, environment={**environment, "STAND_IN_STORE": str(store)}, **options),
                environments)))

    def near(self, file, program):
        """A file's name as its author knows it: from the folder of the start, or from that of the program."""
        if self.projects:
            return file
        real = pathlib.Path(file).resolve()
        for base in (self.home, pathlib.Path(program).resolve().parent):
            if real.is_relative_to(base):
                return str(real.relative_to(base))
        return str(file)

    def start(self, argv, place, env, path):
        argv = [str(pathlib.Path(argv[0]).resolve()), *argv[1:]]
        server = os.environ.get("STAND_IN_SERVER")
        # The search for shapes divides its process, and sees what ends it; what a program started ends with its own.
        if server and not self.no_data:
            sys.path.append(str(KIT))
            from server import ask

            out, err = place / ".printed", place / ".errors"
            status = ask(server, {"argv": argv, "cwd": str(place), "env": env, "path": path, "out": str(out), "err": str(err)})
            return status, out.read_text(errors="replace"), err.read_text(errors="replace")
        env = {**env, "PYTHONPATH": os.pathsep.join(path), "PYTHONDONTWRITEBYTECODE": "1"}
        if self.no_data:
            return self._start_alone(argv, place, env)
        done = subprocess.run(
            [sys.executable, *argv], cwd=place, env=env, text=True, capture_output=True, errors="replace", timeout=self.timeout,
            stdin=subprocess.DEVNULL)
        return done.returncode, done.stdout, done.stderr

    def _start_alone(self, argv, place, env):
        """The same for a run that ends where it has found what it looks for: what the program started until then ends with it, and keeps nothing
        open that somebody waits for."""
        printed = [place.with_name(f"{place.name}.{name}") for name in ("printed", "errors")]
        with open(printed[0], "wb") as out, open(printed[1], "wb") as err:
            run = subprocess.Popen([sys.executable, *argv], cwd=place, env=env, stdout=out, stderr=err, stdin=subprocess.DEVNULL, start_new_session=True)
            try:
                status = run.wait(self.timeout)
            finally:
                run.kill()
                if hasattr(os, "killpg"):
                    with contextlib.suppress(ProcessLookupError, PermissionError):
                        os.killpg(run.pid, signal.SIGKILL)
        return (status, *(file.read_text(encoding="utf-8", errors="replace") for file in printed))


def _name_places(record, contracts, place, project):
    """Places by the path in the project, or as somebody in the folder of the twin run would write it."""
    base = os.path.realpath(project)
    named = lambda file: os.path.relpath(os.path.realpath(os.path.join(place, file)), base).replace(os.sep, "/")  # noqa: E731
    for step in record["steps"]:
        for key in ("place", "backward"):
            if step[key]:
                step[key] = (named(step[key][0]), step[key][1])
    if contracts.exists():
        rules = [json.loads(line) for line in contracts.read_text(encoding="utf-8").splitlines()]
        for fault in (fault for rule in rules for fault in rule["broken"]):
            fault["file"] = named(fault["file"])
        contracts.write_text("".join(json.dumps(rule) + "\n" for rule in rules), encoding="utf-8")


def joined(records):
    """One record of several: what is a mean over the samples is the mean of theirs, what counts them is the sum; the rest is the first's."""
    first, others = records[0], records[1:]
    for steps in zip(*(record["steps"] for record in records)):
        step = steps[0]
        step["objective"] = sum(one["objective"] for one in steps) / len(steps)
        step["samples"] = sum(one["samples"] for one in steps)
        step["inputs"] = [((sum(shape[0] for shape, _ in same), *same[0][0][1:]), sum(total for _, total in same))
                          for same in zip(*(one["inputs"] for one in steps))]
    for evaluations in zip(*(record["evaluations"] for record in records)):
        if _on_the_same_samples(evaluations):
            note = {"kind": "evaluation", "text": "every instance evaluates the same samples"}
            first["notes"] += [note] if note not in first["notes"] else []
            continue
        for name in ("samples", "batches", "output"):
            evaluations[0][name] = sum(evaluation[name] for evaluation in evaluations)
    for other in others:
        first["notes"] += [note for note in other["notes"] if note not in first["notes"]]
    return first


def _on_the_same_samples(evaluations):
    """Whether instances, which have the same weights, evaluated the same samples: then the same came out."""
    first = evaluations[0]
    return all(one["samples"] == first["samples"] and math.isclose(one["output"], first["output"], rel_tol=1e-6, abs_tol=1e-9) for one in evaluations[1:])


def _last(text):
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return lines[-1].replace("[rank0]: ", "") if lines else ""


def _missing(text):
    """The arguments that a port asks for, such as a shape that its source did not have."""
    _, said, names = _last(text).partition("the following arguments are required: ")
    return names.split(", ") if said else []


def _how_to_give(missing):
    return f". Pass it to the port with --port-args='{' '.join(f'{name} …' for name in missing)}'" if missing else ""


def _how_to_install(text):
    """Where a program imports what this Python has not. The package that brings a module may have another name."""
    name = re.search(r"No module named '([\w.]+)'$", _last(text))
    return f". This Python has no {name.group(1).partition('.')[0]}: install it, or use a Python that has it" if name else ""


def words(text):
    return shlex.split(text) if text else []
