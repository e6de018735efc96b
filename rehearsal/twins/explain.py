"""The verdict: equal, equal up to something that is known of the target, or different."""

from .compare import EQUAL

# What a stand-in or the recorder notes, in the words of a verdict.
UP_TO = {
    "dropped": "the last incomplete batch", "precision": "the type of numbers", "order": "the order of a sum", "reduction": "the reduction of the loss",
    "instances": "the division among instances", "start": "the start weights",
}


class Verdict:
    def __init__(self, word, reasons=(), findings=()):
        self.word, self.reasons, self.findings = word, list(reasons), list(findings)

    ok = property(lambda self: self.word != "differs")

    def told(self):
        return self.word if not self.reasons else f"{self.word} up to {', '.join(self.reasons)}"


def verdict(comparison, left_out=False):
    """Of a comparison; `left_out` says that the original, too, was run without incomplete batches."""
    if comparison.findings:
        return Verdict("differs", findings=comparison.findings)
    reasons = [UP_TO["dropped"]] if left_out else []
    notes = {note["kind"] for note in comparison.port["notes"]}
    if "start" in notes:
        reasons.append(UP_TO["start"])
    if comparison.farthest > EQUAL:
        reasons.append(f"rounding ({comparison.farthest:.0e}, the order of a sum)")
    return Verdict("equal", reasons)


def drops_batches(original, port):
    """Whether the port leaves the last incomplete batch of a training pass out where the original trains on it."""
    return any(note["kind"] == "dropped" for note in port["notes"]) or _samples(original) > _samples(port)


def _samples(record):
    return max((entry["samples"] for entry in record["passes"] if entry["trains"]), default=0)
