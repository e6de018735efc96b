"""A twin run from end to end."""

from itertools import product

from . import compare, explain, notebooks, runs, starts

# Whole-number buffers stay on these as they were compiled in.
COMPILED = ("ipu", "popdist", "rdu")


# The largest batch of made-up data: few models have a dimension of this size, so that none is taken for the batch.
SMALL_BATCH = 6
# Stand-ins for what has nothing to do with a target.
NO_VENDORS = {"larcv", "mpi4py"}


class Result:
    def __init__(self, target, verdict, original=None, port=None, comparison=None, failed="", contracts=(), trace=(), arguments=None):
        self.target, self.verdict, self.original, self.port = target, verdict, original, port
        self.comparison, self.failed, self.contracts = comparison, failed, list(contracts)
        self.trace = list(trace)
        # What the port was told in the end, where it ran.
        self.arguments = arguments
        self.lines = (0, None)
        self.recipe = None

    ok = property(lambda self: self.verdict.ok and not self.contracts)


def run(runner, *programs, **options):
    """Runs both and compares them; a `Result`. In the types that the programs ask for only where float32 shows no difference, so that
    what is left is a matter of the types."""
    if runner.precision == "float32":
        return _run(runner, *programs, **options)
    with runner.in_float32():
        exact = _run(runner, *programs, **options)
    if exact.ok:
        return _run(runner, *programs, **options)
    if exact.port:
        exact.port["notes"].append({"kind": "precision", "text": "the two already differ in float32, so they were not run in their own types"})
    return exact


def _run(runner, target, machine, folders, original, ported, arguments, original_arguments=None, environment=None, before=(), report=None,
         instances=(), elsewhere=None):
    """`instances`: where the port is several processes, the environment of each. `elsewhere`: both run on this machine instead of
    their own."""
    source = elsewhere or "cuda"
    original_arguments = arguments if original_arguments is None else original_arguments
    whole = {"STAND_IN_TWIN_INSTANCES": str(len(instances))} if instances else {}
    if machine == "cpu" != source:
        # What the original draws on its device the port draws on the host.
        whole["STAND_IN_ONE_GENERATOR"] = "1"
    try:
        if runner.no_data and not runner.no_data.exists():
            # A program of SambaFlow is compiled for the batch that it is told at its start.
            runner.make_up_data(original, original_arguments, source, 0 if target == "rdu" else SMALL_BATCH)
        mine = runner.run(original, original_arguments, source, [], environment=whole)
        if not mine.get("drew_on_device"):
            environment = {**(environment or {}), "STAND_IN_ONE_GENERATOR": "1"}
        if not mine.get("shares"):
            environment = {**(environment or {}), "STAND_IN_TWIN_DEALT": "1"}
        if instances:
            instances = [{**(environment or {}), **instance} for instance in instances]
            other = runner.instances(ported, arguments, machine, folders, instances, start=mine["file"])
            if divides_the_batch(mine, other, len(instances)):
                whole = {}
                mine = runner.run(original, original_arguments, source, [])
        else:
            run_port = lambda arguments, before: runner.run(  # noqa: E731
                ported, arguments, machine, folders, start=mine["file"], environment=environment, before=before)
            try:
                other = run_port(arguments, before)
            except runs.Failed as failure:
                words = starts.told_shapes(failure.missing, mine.get("call")) if target == "rdu" else None
                if words is None:
                    raise
                batch = mine["call"][0][0]
                arguments, *before = [starts.with_words(start, words, batch) for start in (arguments, *before)]
                other = run_port(arguments, before)
                other["notes"].append({"kind": "shapes", "text": f"the port was given {' '.join(words)}, as in the original's first batch"})
        if len(other["steps"]) > len(mine["steps"]) == runner.steps:
            # A loop of the device ends what it began: the original takes as many steps.
            mine = runner.run(original, original_arguments, source, [], steps=len(other["steps"]), environment=whole)
    except runs.Failed as failure:
        return Result(target, explain.Verdict("differs"), failed=str(failure), trace=failure.trace)

    def original_again(**changed):
        return runner.run(original, original_arguments, source, [], steps=len(other["steps"]), environment={**whole, **changed})

    def compared(record, allowed=None, types=False):
        return compare.Comparison(record, other, target in COMPILED, allowed, types).run()

    halves = runner.precision != "float32"

    attempts = []
    # On some targets an update takes several batches: then the original is run so, too.
    batches = explain.batches_of_an_update(other)
    wider = {"STAND_IN_TWIN_BATCHES": str(batches["count"]), "STAND_IN_TWIN_TIMES": repr(batches["times"])} if batches else {}
    # Copies of the model that share a batch, in all instances.
    copies = max(len(instances), 1) * other.get("copies", 1)
    shared = {"STAND_IN_TWIN_SHARES": str(copies), **({"STAND_IN_TWIN_TURNS": "1"} if instances and other.get("shares") else {})}
    if wider:
        try:
            mine = original_again(**wider)
        except runs.Failed as failure:
            return Result(target, explain.Verdict("differs"), failed=str(failure), trace=failure.trace)
    norms = (False, True) if copies > 1 and explain.has_batch_norm(mine) else (False,)
    of_losses = (False, True) if copies > 1 else (False,)
    for which, norm, of_loss in product((None, *explain.left_out(target, compared(mine))), norms, of_losses):
        changed = {
            **wider, **({"STAND_IN_TWIN_DROP_LAST": explain.loaders(which, mine)} if which else {}), **(shared if norm or of_loss else {}),
            **({"STAND_IN_TWIN_NORM": "shares"} if norm else {}), **({"STAND_IN_TWIN_LOSS": "shares"} if of_loss else {})}
        try:
            record = original_again(**changed) if changed != wider else mine
        except runs.Failed:
            # Without its last batch an evaluation may have none.
            if not which:
                raise
            continue
        found, amplified, losses = compared(record, types=halves), False, record.get("losses_of_shares", False)
        if of_loss == of_losses[-1] and explain.begins_like_rounding(found):
            if halves:
                # By how much the original itself is off what float32 gives.
                exact = original_again(**changed, STAND_IN_PRECISION="float32")
                found = compared(record, compare.of_types(record, exact, other), types=True)
            else:
                # What rounding makes of the original itself: a gradient that is zero but for rounding becomes a whole step of Adam.
                nudged = original_again(**changed, STAND_IN_TWIN_NUDGE=str(explain.NUDGE))
                found, amplified = compared(record, compare.sensitivity(record, nudged)), True
        attempts.append((len(found.findings), len(attempts), record, found, which, norm, losses, amplified))
        if not found.findings:
            break
    # The one that explains the most tells the rest best.
    _, _, mine, comparison, left_out, norms, losses, amplified = min(attempts, key=lambda attempt: attempt[:2])
    for finding in comparison.findings:
        if finding.place:
            finding.place = (runner.near(finding.place[0], ported), finding.place[1])
    verdict = explain.verdict(comparison, left_out, amplified, norms, losses, batches, halves)
    result = Result(target, verdict, mine, other, comparison, arguments=arguments, contracts=[
        (rule, {**fault, "file": runner.near(fault["file"], ported)}) for rule, fault in _broken(other["contracts"])])
    *result.lines, of_all = compare.printed(mine["printed"], other["printed"], mine["steps"])
    # One of several instances prints what it saw itself.
    if verdict.ok and not left_out and not instances:
        if result.lines[1] is not None and other.get("steps_of_a_call", 1) > 1:
            verdict.reasons.append(explain.UP_TO["calls"])
            result.lines = (result.lines[0], None)
        elif result.lines[1] is not None:
            verdict.word, verdict.reasons = "differs", []
            verdict.findings.append(result.lines[1])
        elif of_all:
            verdict.reasons.append(explain.UP_TO["logged"])
    if verdict.ok and not elsewhere and not touched(target, machine, other):
        verdict.word, verdict.reasons = "differs", []
        verdict.findings.append(compare.Finding(
            "the port trained without the target's software or device: was its training step ported, and was it started in the target's mode?"))
    if verdict.findings and report is not None:
        from . import ported as names

        result.recipe = names.recipe_at(report, verdict.findings[0].place)
    for finding in verdict.findings:
        if finding.place:
            finding.place = notebooks.place(ported, *finding.place)
    for _, fault in result.contracts:
        fault["file"], fault["line"] = notebooks.place(ported, fault["file"], fault["line"])
    return result


def divides_the_batch(mine, other, count):
    """Whether processes share the batch of one, instead of taking one each; the original was given their number of times its own."""
    steps = [record["steps"][0]["samples"] for record in (mine, other) if record["steps"]]
    return len(steps) == 2 and steps[0] == steps[1] * count


def touched(target, machine, record):
    """Whether a run on a target used any part of it: a stand-in for the vendor's package, or the device."""
    # On Gaudi `import torch` loads the package, whatever the program does. A run of PyTorch has the devices of its parameters.
    loaded_by_torch = {"habana_frameworks"} if target == "hpu" and record["devices"] else set()
    used = set(record["stand_ins"]) - NO_VENDORS - loaded_by_torch
    return target == "cpu" or bool(used) or machine != "cpu" and machine in record["devices"]


def _broken(file):
    import json

    if not file.exists():
        return []
    rules = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return [(rule["rule"], fault) for rule in rules for fault in rule["broken"]]
