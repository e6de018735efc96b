"""The verdict: equal, equal up to something that is known of the target, or different."""

from .compare import EQUAL, UNSTABLE

# What a stand-in or the recorder notes, in the words of a verdict.
UP_TO = {
    "dropped": "the last incomplete batch", "precision": "the type of numbers", "order": "the order of a sum", "reduction": "the reduction of the loss",
    "instances": "the division among instances", "start": "the start weights", "saved": "the form in which the optimizer's state is saved",
    "logged": "the loss that is printed (of all batches of a step, where it was of one)",
}
# By how much the gradients of the original are changed, relative to their size, to see what rounding does to it.
NUDGE = 1e-6


class Verdict:
    def __init__(self, word, reasons=(), findings=()):
        self.word, self.reasons, self.findings = word, list(reasons), list(findings)

    ok = property(lambda self: self.word != "differs")

    def told(self):
        return self.word if not self.reasons else f"{self.word} up to {', '.join(self.reasons)}"


def looks_like_rounding(comparison):
    """Whether all that differs are numbers, and by little."""
    return bool(comparison.findings) and all(finding.far <= UNSTABLE for finding in comparison.findings)


def verdict(comparison, left_out=False, amplified=False):
    """Of a comparison. `left_out`: the original, too, was run without incomplete batches. `amplified`: it was held against what a nudge does
    to the original."""
    if comparison.findings:
        return Verdict("differs", findings=comparison.findings)
    reasons = [UP_TO["dropped"]] if left_out else []
    notes = {note["kind"] for note in comparison.port["notes"]}
    reasons += [UP_TO[kind] for kind in ("start", "saved") if kind in notes]
    if amplified:
        reasons.append(f"rounding ({comparison.farthest:.0e}, no more than a change of its gradients by {NUDGE:.0e} makes in the original)")
    elif comparison.farthest > EQUAL:
        reasons.append(f"rounding ({comparison.farthest:.0e}, the order of a sum)")
    return Verdict("equal", reasons)


def drops_batches(original, port):
    """Whether the port leaves the last incomplete batch of a training pass out where the original trains on it."""
    return any(note["kind"] == "dropped" for note in port["notes"]) or _samples(original) > _samples(port)


def _samples(record):
    return max((entry["samples"] for entry in record["passes"] if entry["trains"]), default=0)
