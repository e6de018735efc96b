"""The verdict: equal, equal up to something that is known of the target, or different."""

import math

from .compare import EQUAL, UNSTABLE, distance

# What a stand-in or the recorder notes, in the words of a verdict.
UP_TO = {
    "training": "the last incomplete batch", "all": "the last incomplete batch, in evaluations too", "precision": "the type of numbers", "order": "the order of a sum", "reduction": "the reduction of the loss",
    "instances": "the division among instances", "norm": "batch norm over each replica's own share of a batch", "loss": "a loss that weights the samples of each replica's own share of a batch", "start": "the start weights", "saved": "the form in which the optimizer's state is saved",
    "batches": "the batch of an update",
    "calls": "what is printed (once for all updates of a call)",
    "logged": "the loss that is printed (of all batches of a step, where it was of one)",
}
# By how much the gradients of the original are changed, relative to the largest, to see what rounding does to it: about float32's precision.
NUDGE = 1e-7


class Verdict:
    def __init__(self, word, reasons=(), findings=()):
        self.word, self.reasons, self.findings = word, list(reasons), list(findings)

    ok = property(lambda self: self.word != "differs")

    def told(self):
        return self.word if not self.reasons else f"{self.word} up to {', '.join(self.reasons)}"


def begins_like_rounding(comparison):
    """Whether what differs first is a number: a loss or an output by little, a single tensor by what there is to see."""
    first = comparison.findings[0] if comparison.findings else None
    return first is not None and math.isfinite(first.far) and (bool(first.tensor) or first.far <= UNSTABLE)


def verdict(comparison, left_out=None, amplified=False, norms=False, losses=False, batches=None, halves=False):
    """Of a comparison. `left_out`: where the original, too, was run without incomplete batches. `amplified`: it was held against what a nudge does
    to the original. `norms`, `losses`: the original, too, was run with batch norm and the loss of each replica's share. `batches`: what the port notes of an update
    that takes several batches, where the original, too, was run so. `halves`: both were run in the types that they ask for."""
    if comparison.findings:
        return Verdict("differs", findings=comparison.findings)
    reasons = ([UP_TO[left_out]] if left_out else []) + ([UP_TO["norm"]] if norms else []) + ([UP_TO["loss"]] if losses else [])
    if batches:
        reasons.append(f"{UP_TO['batches']} ({batches['text']})")
    notes = {note["kind"] for note in comparison.port["notes"]}
    reasons += [UP_TO[kind] for kind in ("start", "saved") if kind in notes]
    if amplified:
        reasons.append(f"amplified rounding ({comparison.farthest:.0e}, what a change of its gradients by {NUDGE:.0e} makes in the original)")
    elif halves and comparison.farthest > EQUAL:
        steps = zip(comparison.original["steps"], comparison.port["steps"])
        off = max(distance(a["objective"], b["objective"]) for a, b in steps)
        reasons.append(f"{UP_TO['precision']} (losses by {off:.0e} at most; there is no difference in float32)")
    elif comparison.farthest > EQUAL:
        reasons.append(f"rounding ({comparison.farthest:.0e}, the order of a sum)")
    return Verdict("equal", reasons)


def batches_of_an_update(port):
    """What a port notes of an update that takes several of the original's batches."""
    return next((note for note in port["notes"] if note["kind"] == "batches"), None)


def has_batch_norm(record):
    return any(name.endswith("running_mean") for start in record["start"] for name in start)


# On these an evaluation, too, takes batches of one size: the vendor's loader leaves the last one out.
ONE_SIZE = ("ipu", "popdist")


def left_out(target, comparison):
    """In which passes the original is to leave incomplete batches out, where that may explain the difference: `"training"`, `"all"`."""
    if not comparison.findings or not (comparison.original["steps"] and comparison.port["steps"]):
        return
    original, port = comparison.original, comparison.port
    if _samples(original, True) > _samples(port, True) or any(note["kind"] == "dropped" for note in port["notes"]):
        yield "training"
    if target in ONE_SIZE:
        yield "all"


def loaders(which, original):
    """The loaders that leave an incomplete batch out: `all`, or the numbers of those that train. A loader need not shuffle to train."""
    return " ".join([which, *sorted({str(entry["loader"]) for entry in original["passes"] if entry["trains"] and "loader" in entry})]) if which == "training" else which


def _samples(record, trains):
    return max((entry["samples"] for entry in record["passes"] if entry["trains"] is trains), default=0)
