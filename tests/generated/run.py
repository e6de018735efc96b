#!/usr/bin/env python3
"""Generates programs, ports them, runs both, and says what the ports are worth.

    python3 run.py --minutes 10 --command portolan
    python3 run.py --minutes 10 --target ipu --habit rest_after_loop --seed 7 --resume
    python3 run.py --bounded

Needs a Python with PyTorch. Each result is a line of `target/generated/results.jsonl`; `--resume` goes on where an earlier run of the same
seed ended. `--show SEED-NUMBER` prints a program and its ports.
"""

import argparse
import collections
import datetime
import itertools
import json
import pathlib
import re
import shutil
import sys
import tempfile
import threading
import time
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True

import compose  # noqa: E402
import judge  # noqa: E402
import ports  # noqa: E402
import registry  # noqa: E402
import shrink  # noqa: E402

ROOT = HERE.parents[1]
# The seeds of the bounded run; one more is that of the day.
FIXED = (1, 2)
FAULTS = ("silent", "false", "kit", "invalid")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=2, help="how long to draw programs (default 2)")
    parser.add_argument("--programs", type=int, default=100000, help="how many programs at most")
    parser.add_argument("--target", action="append", choices=judge.TARGETS + judge.AGNOSTIC, help="only this target; may be given again")
    parser.add_argument("--habit", action="append", default=[], help="a habit that every program has")
    parser.add_argument("--seed", default="1", help="of the plan and of each program (default 1)")
    parser.add_argument("--jobs", type=int, default=2, help="programs at the same time (default 2)")
    parser.add_argument("--resume", action="store_true", help="keep the results that are there")
    parser.add_argument("--bounded", action="store_true", help="two minutes, with fixed seeds and that of the day; fails on any silent or false port")
    parser.add_argument("--command", default=ROOT / "target/release/portolan", help="the command to test")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "target/generated", help="where results go")
    parser.add_argument("--show", metavar="SEED-NUMBER", help="print a program, its ports and the verdicts")
    parser.add_argument("--shrink", type=int, default=0, metavar="N", help="then make a program of each of the N most frequent faults small")
    parser.add_argument("--agnostic", action="store_true", help="one program for all devices: run each port on its target, with CUDA and on the CPU")
    parser.add_argument("--relations", action="store_true", help="also port each program rewritten so that it means the same")
    chosen = parser.parse_args()
    if not shutil.which(chosen.command):
        parser.error(f"there is no command {chosen.command}: cargo xtask generated builds it")
    return chosen


class Results:
    """The lines of a file, by program."""

    def __init__(self, file, resume):
        self.file, self.lock = file, threading.Lock()
        file.parent.mkdir(parents=True, exist_ok=True)
        if not resume:
            file.unlink(missing_ok=True)
        self.all = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
        self.done = {line["name"] for line in self.all}

    def add(self, line):
        with self.lock:
            self.all.append(line)
            with self.file.open("a") as out:
                out.write(json.dumps(line) + "\n")


def one(judging, habits, name, targets, relations):
    """The line of a program's results."""
    began = time.monotonic()
    program = compose.write(habits, name)
    found = judging.judge(program, name, targets)
    line = {"name": name, "habits": habits, "verdicts": {target: vars(verdict) for target, verdict in found.items()}}
    if relations:
        import relations as rewritten

        line["relations"] = rewritten.broken(judging, program, habits, name, targets)
    return {**line, "seconds": round(time.monotonic() - began, 2)}


def work(options, judging, results, seeds):
    """Judges programs until the time is over."""
    end = time.monotonic() + 60 * options.minutes
    targets = options.target or (judge.AGNOSTIC if options.agnostic else judge.TARGETS)
    with ThreadPoolExecutor(options.jobs) as pool:
        running = set()
        for name, habits in drawn(seeds, options):
            if time.monotonic() > end:
                break
            if name in results.done:
                continue
            running.add(pool.submit(one, judging, habits, name, targets, options.relations))
            if len(running) >= options.jobs:
                done, running = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    results.add(future.result())
        for future in running:
            results.add(future.result())


def drawn(seeds, options):
    """Programs of several plans in turn: the name of each, which is its seed, and its habits."""
    plans = [(seed, enumerate(compose.plan(seed, options.programs, options.habit))) for seed in seeds]
    while plans:
        for plan in list(plans):
            seed, numbered = plan
            found = next(numbered, None)
            if found is None:
                plans.remove(plan)
                continue
            number, habits = found
            yield f"{seed}-{number}", habits


def summary(results, minutes):
    """Verdicts by target; habits with faults; pairs covered."""
    by_target, what, of_habit = collections.defaultdict(collections.Counter), collections.Counter(), collections.defaultdict(collections.Counter)
    refusals, covered, ran = collections.Counter(), set(), collections.defaultdict(set)
    for line in results:
        covered |= compose.pairs(line["habits"])
        for target, verdict in line["verdicts"].items():
            by_target[target][verdict["kind"]] += 1
            if verdict["kind"] not in ("refused", "invalid", "kit"):
                ran[target] |= compose.pairs(line["habits"])
            if verdict["kind"] not in ("equal", "refused"):
                what[target, verdict["kind"], verdict["what"]] += 1
            for habit in line["habits"].items():
                of_habit[habit][verdict["kind"]] += 1
            refusals.update((target, recipe) for recipe in set(verdict["recipes"]))
    runs = sum(map(sum, (counts.values() for counts in by_target.values())))
    possible = compose.possible_pairs()
    print(f"{len(results)} programs, {runs} programs × targets, {runs / max(minutes, 1e-9):.0f} a minute; "
          f"{len(covered & possible)} of {len(possible)} pairs of habits")
    print("pairs in ports that ran: " + ", ".join(f"{target} {len(pairs & possible)}" for target, pairs in ran.items()))
    kinds = ("equal", "explained", "accounted", "refused", "silent", "false", "invalid", "kit")
    print(f"{'':10}" + "".join(f"{kind:>10}" for kind in kinds))
    for target, counts in by_target.items():
        print(f"{target:10}" + "".join(f"{counts[kind]:10}" for kind in kinds))
    for (target, kind, words), count in what.most_common(60):
        print(f"{count:5}  {target:8} {kind:10} {words}")
    print("refusals:")
    for (target, recipe), count in refusals.most_common(30):
        print(f"{count:5}  {target:8} {recipe}")
    print("habits with the most silent ports:")
    worst = sorted(of_habit.items(), key=lambda entry: -entry[1]["silent"] / sum(entry[1].values()))[:15]
    for (dimension, habit), counts in worst:
        print(f"  {dimension + ':' + habit:40} " + ", ".join(f"{kind} {count}" for kind, count in counts.most_common()))


def shrunk(options, judging, results):
    """Writes a small program of each fault, with its seed and its verdict, to the folder `small`."""
    faults = {}
    for line in results:
        for target, verdict in line["verdicts"].items():
            if verdict["kind"] in FAULTS:
                faults.setdefault((target, verdict["kind"], verdict["what"]), []).append(line)
    # The same on IPU and PopDist is one.
    seen, wanted = set(), []
    for (target, kind, what), lines in sorted(faults.items(), key=lambda entry: -len(entry[1])):
        if (kind, what) not in seen:
            seen.add((kind, what))
            wanted.append((target, kind, what, min(lines, key=lambda line: sum(name != plain for name, plain in zip(line["habits"].values(), registry.plain().values())))))
    with ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(lambda fault: small(options, judging, *fault), wanted[: options.shrink]))


def small(options, judging, target, kind, what, line):
    name, numbers = line["name"], itertools.count()

    def fails(program):
        return judging.judge(program, f"{name}-{target}-{next(numbers)}", (target,))[target].signature == (kind, what)

    habits = shrink.habits(line["habits"], name, fails)
    program = shrink.statements(compose.write(habits, name), fails)
    verdict = judging.judge(program, f"{name}-{target}-small", (target,))[target]
    slug = re.sub(r"\W+", "-", what)[:50]
    folder = ports.write(program, options.out / "small" / f"{target}-{kind}-{slug}")
    (folder / "verdict.txt").write_text("\n".join([f"{target}: {kind}: {what}", f"from {name}", verdict.told, *verdict.said]) + "\n")
    print(f"small: {folder}")


def show(options, judging):
    seed, number = options.show.rsplit("-", 1)
    habits = next(habits for n, habits in enumerate(compose.plan(seed, int(number) + 1, options.habit)) if n == int(number))
    program = compose.write(habits, options.show)
    for name, text in program.files.items():
        print(f"# ---- {name}\n{text}")
    for target, verdict in judging.judge(program, "shown", options.target or judge.TARGETS).items():
        print(f"==== {target}: {verdict.kind} {verdict.what}\n{verdict.told}\n" + "\n".join(verdict.said))


def main():
    options = arguments()
    with tempfile.TemporaryDirectory(prefix="generated-") as scratch:
        server = judge.Server(pathlib.Path(scratch) / "socket")
        try:
            judging = judge.Judge(options.command, scratch)
            if options.show:
                return show(options, judging)
            seeds = [*map(str, FIXED), datetime.date.today().strftime("%Y%m%d")] if options.bounded else [options.seed]
            print(f"seeds: {', '.join(seeds)}")
            results = Results(options.out / "results.jsonl", options.resume)
            began = time.monotonic()
            work(options, judging, results, seeds)
            summary(results.all, (time.monotonic() - began) / 60)
            if options.shrink:
                shrunk(options, judging, results.all)
            return 1 if options.bounded and any(verdict["kind"] in FAULTS for line in results.all for verdict in line["verdicts"].values()) else 0
        finally:
            server.stop()


if __name__ == "__main__":
    sys.exit(main())
