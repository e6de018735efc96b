"""The result in words, and as a table for other programs."""

import math


def table(result):
    """What `--format json` prints; the page reads the same."""
    first = result.verdict.findings[0] if result.verdict.findings else None
    steps = []
    if result.comparison is not None:
        for number, (a, b) in enumerate(zip(result.original["steps"], result.port["steps"])):
            steps.append({
                "step": number + 1, "loss": [_plain(a["objective"]), _plain(b["objective"])], "norm": [_plain(a["norm"]), _plain(b["norm"])],
                "rate": [a["rates"][:1], b["rates"][:1]], "samples": [a["samples"], b["samples"]],
            })
    return {
        "target": result.target, "verdict": result.verdict.word, "told": result.verdict.told(), "reasons": result.verdict.reasons,
        "failed": result.failed or None, "trace": result.trace,
        "first": None if first is None else {**first.table(), "told": first.told(), "recipe": result.recipe},
        "findings": [finding.told() for finding in result.verdict.findings],
        "steps": steps, "trained": [len(record["steps"]) if record else 0 for record in (result.original, result.port)],
        "printed": result.lines[0], "notes": result.port["notes"] if result.port else [],
        "contracts": [{"rule": rule, **fault} for rule, fault in result.contracts],
    }


def _plain(number):
    return number if math.isfinite(number) else str(number)


def told(result):
    """What is printed."""
    if result.failed:
        trace = "".join(f"    {line}\n" for line in result.trace)
        return f"twin: differs\n  {result.failed}\n{trace}"
    lines = [f"twin: {result.verdict.told()}", ""]
    for finding in result.verdict.findings[:6]:
        place = f"  ({finding.place[0]}:{finding.place[1]})" if finding.place else ""
        lines.append(f"  {finding.told()}{place}")
    if result.recipe:
        lines.append(f"  written by the recipe {result.recipe}")
    if result.verdict.findings:
        lines.append("")
    lines.append("  step         original             port   apart")
    for number, (a, b) in enumerate(zip(result.original["steps"], result.port["steps"])):
        from .compare import distance

        far = distance(a["objective"], b["objective"])
        lines.append(f"  {number + 1:4} {a['objective']:16.8g} {b['objective']:16.8g}   {'' if far == 0 else f'{far:.0e}'}")
    lines.append(f"\n  {_printed(result)}")
    lines += [f"  {note['kind']}: {note['text']}" for note in result.port["notes"]]
    lines += [f"  BROKEN  {rule}  {fault['file']}:{fault['line']}\n          {fault['why']}" for rule, fault in result.contracts]
    return "\n".join(lines) + "\n"


def _printed(result):
    from .compare import LOGGED, NUMBER, lines

    agree = result.lines[0]
    if agree or lines(result.original["printed"]) or lines(result.port["printed"]):
        return f"{agree} printed lines with numbers agree"
    if any(NUMBER.search(line) and not LOGGED.match(line) for line in result.original["printed"].splitlines()):
        return "no printed numbers to compare: lines about times, memory and devices are left out"
    return f"no printed numbers to compare: the program prints none within these {len(result.original['steps'])} steps; more steps may reach some"
