"""How a port is started on its target, where that takes more than the original's arguments."""

# SambaFlow's own options that name what the kit names itself.
PEF = ("-p", "--pef", "--pef-name", "--output-folder")


class Start:
    """`arguments` of the run that is compared, and `original`, those of the original; `before`, those of the starts in front of it."""

    def __init__(self, original, arguments, before=()):
        self.original, self.arguments, self.before = original, arguments, list(before)


def of(target, arguments, own=(), batch=None, first=()):
    """The start of a port. `own` are arguments of the port alone; `batch` is what a target has to be told at the start; `first` are the
    starts in front of it, where they were given: the arguments are then what fits them."""
    own = list(own)
    if first:
        return Start(arguments, [*own, *arguments], first)
    if target != "rdu":
        return Start(arguments, [*own, *arguments])
    # As on the machine: the program is compiled first, and says in front of `--` what it tells SambaFlow.
    if arguments[:1] in (["compile"], ["run"]):
        told, arguments = _divided(arguments[1:])
        own, batch = [*_without_pef(told), *own], None
    own += ["-b", str(batch)] if batch else []
    rest = ["--", *arguments] if arguments else []
    return Start(
        arguments, ["run", *own, "--pef", "pef/twin/twin.pef", *rest],
        [["compile", *own, "--pef-name", "twin", "--output-folder", "pef", *rest]])


def _divided(arguments):
    at = arguments.index("--") if "--" in arguments else len(arguments)
    return arguments[:at], arguments[at + 1 :]


def _without_pef(told):
    kept, words = [], iter(told)
    for word in words:
        if word in PEF:
            next(words, None)
        elif word.partition("=")[0] not in PEF:
            kept.append(word)
    return kept
