"""How a port is started on its target, where that takes more than the original's arguments."""


class Start:
    """`arguments` of the run that is compared; `before`, those of the starts in front of it."""

    def __init__(self, arguments, before=()):
        self.arguments, self.before = arguments, list(before)


def of(target, arguments, own=(), batch=None):
    """The start of a port. `own` are arguments of the port alone; `batch` is what a target has to be told at the start."""
    if target != "rdu" or arguments[:1] in (["compile"], ["run"]):
        return Start([*own, *arguments])
    # As on the machine: the program is compiled first, and says in front of `--` what it tells SambaFlow.
    own = [*own, *(("-b", str(batch)) if batch else ())]
    rest = ["--", *arguments] if arguments else []
    return Start(
        ["run", *own, "--pef", "pef/twin/twin.pef", *rest], [["compile", *own, "--pef-name", "twin", "--output-folder", "pef", *rest]])
