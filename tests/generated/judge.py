"""Runs a program and its ports, and says what the ports are worth.

*equal*; *explained*, where the difference is the one that a message names; *accounted*, where only the account of the step does; *refused*, with a reason at a line; *silent*, where numbers differ or
the port stops and no message names it; *false*, where a message or the account says what the run disproves. A program that fails by itself is
*invalid*: a fault of the generator. `needless` refusals are found by the relations.
"""

import os
import pathlib
import pickle
import re
import shutil
import subprocess
import sys
import threading
import traceback

import explained
import ports
import structures

HERE = pathlib.Path(__file__).resolve().parent
KIT = HERE.parents[1] / "rehearsal"
sys.path.append(str(KIT))

import rehearse  # noqa: E402
from twins import compare, explain, runs  # noqa: E402

TARGETS = ("hpu", "xpu", "ipu", "popdist", "rdu")
# One program for all devices: on the target, and where there is CUDA or only the CPU.
AGNOSTIC = tuple(target + machine for target in TARGETS for machine in ("@", "@cuda", "@cpu"))
# More updates than any program takes: a run goes through to its end.
STEPS = 200
# Processor time of one run.
SECONDS = 60
# A warning of Python, with the line that it shows.
WARNING = re.compile(r"^.*\w+Warning: .*\n(?:Consider using .*\n)?(?:  .*\n)?", re.MULTILINE)
DROPOUT = re.compile(r"(\bDropout)\([^()]*\)")
_current = threading.local()


class Runner(runs.Runner):
    """Runs an original once for all targets that run it alike."""

    def run(self, program, arguments, machine, folders, **options):
        if machine != "cuda":
            return super().run(program, arguments, machine, folders, **options)
        environment = dict(options.get("environment") or {})
        key = repr((str(program), arguments, options.get("steps"), environment))
        kept = _current.originals.get(key)
        if kept is None and environment.pop("STAND_IN_ONE_GENERATOR", None):
            # It makes no difference to a program that draws nothing on its device.
            other = _current.originals.get(repr((str(program), arguments, options.get("steps"), environment)))
            kept = other if other and not isinstance(other, Exception) and not pickle.loads(other)["drew_on_device"] else None
        if kept is None:
            try:
                found = super().run(program, arguments, machine, folders, **options)
                file = _current.folder / f"original{len(_current.originals)}"
                shutil.copy(found["file"], file)
                kept = pickle.dumps({**found, "file": file})
            except runs.Failed as failure:
                kept = failure
        _current.originals[key] = kept
        if isinstance(kept, Exception):
            raise kept
        return pickle.loads(kept)


runs.Runner = Runner


class Server:
    """A process with PyTorch from which all programs are forked."""

    MODULES = ("torch", "torchvision", "yaml", "omegaconf", "csv", "lightning")

    def __init__(self, socket):
        pathlib.Path(socket).unlink(missing_ok=True)
        self.process = subprocess.Popen([sys.executable, str(KIT / "server.py"), str(socket), *self.MODULES], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, env={**os.environ, "OMP_NUM_THREADS": "1", "STAND_IN_SECONDS": str(SECONDS)})
        assert self.process.stdout.readline().strip() == "ready"
        os.environ["STAND_IN_SERVER"] = str(socket)

    def stop(self):
        self.process.stdin.close()
        self.process.wait()


class Verdict:
    """`kind`; `what` differs, in words that don't depend on a program's numbers; and everything to read."""

    def __init__(self, kind, what="", told="", said=(), recipes=()):
        self.kind, self.what, self.told, self.said, self.recipes = kind, what, told, list(said), list(recipes)

    @property
    def signature(self):
        """What stays the same while a failing program is made smaller."""
        return self.kind, self.what


class Judge:
    def __init__(self, command, folder):
        self.command, self.folder = ports.Command(command), pathlib.Path(folder)

    def judge(self, program, name, targets=TARGETS):
        """The verdict for each target, and the ports."""
        folder = self.folder / name
        shutil.rmtree(folder, ignore_errors=True)
        _current.originals, _current.folder = {}, folder / "records"
        original = ports.write(program, folder / "original")
        _current.folder.mkdir()
        (folder / "home").mkdir()
        found = {}
        for target in targets:
            try:
                found[target] = self.one(program, original, target, folder)
                still = without_dropout(program) if found[target].kind == "silent" else None
                if still:
                    # A step that the port leaves out draws no numbers, so that the later ones draw others.
                    verdict = self.one(still, ports.write(still, folder / "without_dropout"), target, folder)
                    found[target] = found[target] if verdict.kind == "silent" else verdict
            except Exception:
                found[target] = Verdict("kit", traceback.format_exc().strip().splitlines()[-1][:100], traceback.format_exc())
        shutil.rmtree(folder, ignore_errors=True)
        return found

    def one(self, program, original, target, folder):
        target, one_program, machine = target.partition("@")
        port = self.command.port(original, target, folder / target, style="agnostic" if one_program else "auto")
        if port.refusals:
            # The original alone, so that what is refused is a program.
            return self.refused(program, original, folder, port)
        argv = ["--target", target, "--project", str(port.folder), "--twin", str(original), "--twin-steps", str(STEPS), "--batch-size", "8",
                *(["--on", machine] if machine else []), program.main]
        result = rehearse.twin_result(rehearse.arguments(argv), home=str(folder / "home"))
        return self.verdict(result, port, target)

    def refused(self, program, original, folder, port):
        runner = Runner(STEPS, projects=[str(original), str(port.folder)], home=str(folder / "home"))
        try:
            runner.run(str(original / program.main), [], "cuda", [], environment={}, steps=None)
        except runs.Failed as failure:
            return Verdict("invalid", short(str(failure)), "\n".join(failure.trace))
        return Verdict("refused", told="\n".join(shown(one) for one in port.refusals), recipes=[one["recipe"] for one in port.refusals])

    def verdict(self, result, port, target):
        said = port.said
        if result.failed.startswith("the original"):
            return Verdict("invalid", short(result.failed), "\n".join(result.trace))
        differences = list(self.differences(result, port, target))
        wrong = list(false_statements(result, port))
        told = "\n".join([result.failed or result.verdict.told(), *result.trace, *(finding.told() for finding in result.verdict.findings),
                          *(f"rule {rule}: {fault['why']} ({fault['file']}:{fault['line']})" for rule, fault in result.contracts)])
        named = [explained.how(kind, where, port) for kind, _, where in differences]
        open_ones = [(kind, words) for (kind, words, _), how in zip(differences, named) if how is None]
        if open_ones:
            return Verdict("silent", open_ones[0][0], "\n".join([*(words for _, words in open_ones), told]), map(shown, said))
        if wrong:
            return Verdict("false", wrong[0][0], "\n".join([*(words for _, words in wrong), told]), map(shown, said))
        if differences:
            return Verdict("accounted" if "accounted" in named else "explained", differences[0][0], told, map(shown, said))
        return Verdict("equal", told=result.verdict.told())

    def differences(self, result, port, target):
        """`(kind, words, lines of the port where it shows)` for each."""
        if result.failed:
            yield f"stops: {error(result.trace) or short(result.failed)}", result.failed, places(result.trace, port)
            return
        # What is saved in another form comes last: it hides nothing else.
        for reason in sorted(result.verdict.reasons, key=lambda reason: reason.startswith("the form in which")):
            plain = reason.partition(" (")[0]
            if plain not in ("rounding", "amplified rounding", "the order of a sum", "the start weights"):
                yield plain, reason, []
        lost = [finding for finding in result.verdict.findings if finding.what == "steps trained"]
        if lost:
            yield "updates lost" if lost[0].port < lost[0].original else "more updates", lost[0].told(), []
        for finding in [] if lost else result.verdict.findings[:1]:
            if ("evaluation" in finding.what or "running_" in str(finding.tensor)) and explain.has_batch_norm(result.original):
                yield "running statistics", finding.told(), []
                continue
            yield re.sub(r"\d+", "#", finding.what.partition(":")[0]), finding.told(), [tuple(finding.place)] if finding.place else []
        for rule, fault in [] if result.verdict.findings else result.contracts:
            yield f"rule {rule}", fault["why"], [(fault["file"], fault["line"])]
        if not result.verdict.findings:
            mine, other = (compare.lines(WARNING.sub("", record["printed"])) for record in (result.original, result.port))
            if [line[0] for line in mine] == [line[0] for line in other]:
                _, first, _ = compare.printed(*(WARNING.sub("", record["printed"]) for record in (result.original, result.port)), result.original["steps"])
                if first is not None:
                    yield "what is printed", first.told(), []
            else:
                missing = next((line[2] for line in mine if line[0] not in {one[0] for one in other}), None)
                yield "lines printed", f"{len(mine)} lines with numbers in the original, {len(other)} in the port; missing: {missing}", []


def without_dropout(program):
    """The program with layers that drop nothing; None if it has none."""
    files = {name: DROPOUT.sub(r"\1(0.0)", text) for name, text in program.files.items()}
    return structures.Program(files, program.main, program.names) if files != program.files else None


def false_statements(result, port):
    """What the account states and the run disproves."""
    if result.port is None or not result.port["steps"]:
        return
    for ledger in port.report["ledgers"]:
        for entry in ledger["entries"]:
            if entry["quantity"] != "samples-per-step":
                continue
            for which, record in (("before", result.original), ("after", result.port)):
                text = entry[which]["text"]
                seen = {step["samples"] for step in record["steps"]}
                if text.isdigit() and int(text) not in seen:
                    yield f"samples per step {which}", f"{entry['name']}: {text} {which}, but the run shows {sorted(seen)}"


def shown(one):
    return f"{one['path']}:{one['line']} {one['severity']} {one['recipe']}: {one['message']}"


def error(trace):
    """The last line of a trace without what depends on a program's names and numbers."""
    last = trace[-1] if trace else ""
    return re.sub(r"'[^']*'|\"[^\"]*\"|\d+|\[[^\]]*\]", "#", last)[:90]


def short(failure):
    return re.sub(r"\d+", "#", failure.partition("ended with ")[2] or failure)[:90]


def places(trace, port):
    """The lines of the port in a trace."""
    found = re.findall(r'File "([^"]+)", line (\d+)', "\n".join(trace))
    own = {file["path"] for file in port.report["files"]}
    return [(os.path.basename(file), int(line)) for file, line in found if os.path.basename(file) in own]
