"""How a port is started on its target, where that takes more than the original's arguments."""

# SambaFlow's own options that name what the kit names itself.
PEF = ("-p", "--pef", "--pef-name", "--output-folder")
# Names of an option for the batch size, without dashes and underscores.
BATCH = ("b", "bs", "batchsize", "trainbatchsize", "trainbs", "minibatchsize", "perdevicetrainbatchsize")


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
    else:
        batch = _batch_in(arguments) or batch
    own += ["-b", str(batch)] if batch else []
    rest = ["--", *arguments] if arguments else []
    return Start(
        arguments, ["run", *own, "--pef", "pef/twin/twin.pef", *rest],
        [["compile", *own, "--pef-name", "twin", "--output-folder", "pef", *rest]])


def told_shapes(missing, call):
    """What a port that asks for the shapes of its inputs is told, by the tensors that the original gave its model first: in their order, without
    the batch. None where that can't be said."""
    if not missing or not call or len(missing) != len(call) or not all(name.endswith("-shape") for name in missing) or not all(call):
        return None
    return [word for name, shape in zip(missing, call) for word in (name, *map(str, shape[1:]))]


def with_words(command, words, batch):
    """A start of SambaFlow with more words behind its command, and the batch where it has none."""
    batch = [] if any(word in ("-b", "--batch-size") for word in _divided(command)[0]) else ["-b", str(batch)]
    return [command[0], *words, *batch, *command[1:]]


def _batch_in(arguments):
    """The batch size in a program's own arguments, in any spelling: `--batch_size 8`, `-b 8`, `--bs=8`, `train.batch-size=8`."""
    for place, word in enumerate(arguments):
        name, assigned, value = word.partition("=")
        if not assigned:
            value = "".join(arguments[place + 1 : place + 2]) if word.startswith("-") else ""
        last = name.rpartition(".")[2].replace("-", "").replace("_", "").lower()
        if last in BATCH and value.isdigit():
            return int(value)
    return None


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
