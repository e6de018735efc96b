"""A twin run from end to end."""

from . import compare, explain, runs

# Whole-number buffers stay on these as they were compiled in.
COMPILED = ("ipu", "popdist", "rdu")


class Result:
    def __init__(self, target, verdict, original=None, port=None, comparison=None, failed="", contracts=()):
        self.target, self.verdict, self.original, self.port = target, verdict, original, port
        self.comparison, self.failed, self.contracts = comparison, failed, list(contracts)
        self.lines = (0, None)
        self.recipe = None


def run(runner, target, machine, folders, original, ported, arguments, original_arguments=None, environment=None, before=(), report=None,
        instances=()):
    """Runs both and compares them; a `Result`. `instances`: where the port is several processes, the environment of each."""
    original_arguments = arguments if original_arguments is None else original_arguments
    whole = {"STAND_IN_TWIN_INSTANCES": str(len(instances))} if instances else {}
    try:
        mine = runner.run(original, original_arguments, "cuda", [], environment=whole)
        if instances:
            other = runner.instances(ported, arguments, machine, folders, instances, start=mine["file"])
        else:
            other = runner.run(ported, arguments, machine, folders, start=mine["file"], environment=environment, before=before)
        if len(other["steps"]) > len(mine["steps"]) == runner.steps:
            # A loop of the device ends what it began: the original takes as many steps.
            mine = runner.run(original, original_arguments, "cuda", [], steps=len(other["steps"]), environment=whole)
    except runs.Failed as failure:
        return Result(target, explain.Verdict("differs"), failed=str(failure))
    comparison = compare.Comparison(mine, other, target in COMPILED).run()
    left_out = False
    if comparison.findings and explain.drops_batches(mine, other):
        dropped = runner.run(
            original, original_arguments, "cuda", [], steps=len(other["steps"]), environment={**whole, "STAND_IN_TWIN_DROP_LAST": "1"})
        again = compare.Comparison(dropped, other, target in COMPILED).run()
        if not again.findings:
            mine, comparison, left_out = dropped, again, True
    verdict = explain.verdict(comparison, left_out)
    result = Result(target, verdict, mine, other, comparison, contracts=_broken(other["contracts"]))
    result.lines = compare.printed(mine["printed"], other["printed"])
    # One of several instances prints what it saw itself.
    if verdict.ok and result.lines[1] is not None and not left_out and not instances:
        verdict.word, verdict.reasons = "differs", []
        verdict.findings.append(result.lines[1])
    if verdict.findings and report is not None:
        from . import ported as names

        result.recipe = names.recipe_at(report, verdict.findings[0].place)
    return result


def _broken(file):
    import json

    if not file.exists():
        return []
    rules = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return [(rule["rule"], fault) for rule in rules for fault in rule["broken"]]
