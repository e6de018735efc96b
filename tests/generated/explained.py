"""Which messages name which differences.

A difference is explained where the port says so at the line, in a message of a recipe that speaks of it, or in the account of the step.
"""

import re

# What a run shows → what a message says that names it, anywhere in the program.
NAMED = {
    "the last incomplete batch": r"the last batch would not fit",
    "the last incomplete batch, in evaluations too": r"the last batch would not fit|leaves out the last, incomplete batch",
    "updates lost": r"(this|their) update is gone",
    "more updates": r"so it ends after \d+ times as many",
    "the loss": r"so it ends after \d+ times as many",
    "what is printed": r"now logs NaN|leaves out the last, incomplete batch|What the program computes from them later differs",
    "lines printed": r"now logs NaN",
    "betas of the optimizer": r"Keep Adam's betas constant",
    "the port trained without the target's software or device": r"names no device|is trained on the CPU",
    "the form in which the optimizer's state is saved": r"accepts only states saved on an IPU|saved in PopTorch's form",
}
# The error that a port stops with → what a message says that names it.
STOPS = {
    r"compiled for|compiled was": r"last batch that this loop cuts is (shorter|smaller)|has a fixed batch size, so a loader in another file|the compiled step needs whole batches",
    r"momentum changed|betas changed": r"change the momentum, or Adam's betas",
    r"No CUDA GPUs are available": r"names a CUDA device|remains and needs",
}
STEPS_OF_BATCHES = r"One batch of the training loop is now a whole optimizer step"
DROPPED = r"What is left at the end of an epoch is dropped"
# What a run shows → the sentence of the account that names it.
ACCOUNTED = {
    "the last incomplete batch": DROPPED,
    "running statistics": DROPPED,
    "the learning rate": STEPS_OF_BATCHES,
    "the loss that is printed": STEPS_OF_BATCHES,
    "what is printed": f"{STEPS_OF_BATCHES}|{DROPPED}",
    "lines printed": STEPS_OF_BATCHES,
    # What an original makes of the batches that do not fill a step.
    "updates lost": DROPPED,
    # A loop that ends after so many batches.
    "more updates": STEPS_OF_BATCHES,
}


def at_line(where, said):
    """The messages at a line of the port."""
    return [one for one in said for path, line in where if one["path"] == path and one["ported"]["line"] <= line <= one["ported"]["end_line"]]


def how(kind, where, port):
    """`"explained"`, `"accounted"` or None: whether a message names a difference, or only the account of the step does."""
    names = [NAMED[kind]] if kind in NAMED else []
    names += [words for error, words in STOPS.items() if kind.startswith("stops") and re.search(error, kind)]
    if at_line(where, port.said) or any(re.search(words, one["message"]) for words in names for one in port.said):
        return "explained"
    flags = [flag for ledger in port.report["ledgers"] for flag in ledger["flags"]]
    if kind in ACCOUNTED and any(re.search(ACCOUNTED[kind], flag) for flag in flags):
        return "accounted"
    return None
