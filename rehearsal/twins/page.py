"""The result as one HTML page that needs nothing else: verdict, what was run, the two curves of the loss, the table of steps."""

import html
import json
import math

WIDTH, HEIGHT, LEFT, RIGHT, ABOVE, BELOW = 720, 280, 96, 16, 20, 36

PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Twin run: {title}</title>
<style>
  :root {{ color-scheme: light dark; --ink: light-dark(#1b1f24, #e6e9ee); --soft: light-dark(#555c66, #a7afba); --paper: light-dark(#fff, #15181d);
    --line: light-dark(#d5d9e0, #39404a); --original: light-dark(#0b62a8, #7ab8f5); --port: light-dark(#a33d06, #ffa366);
    --verdict: light-dark(#18703a, #67c98b); }}
  .differs {{ --verdict: light-dark(#a8201a, #ff8a80); }}
  body {{ font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 46rem; margin: 2rem auto; padding: 0 1rem; }}
  h1 {{ font-size: 1.5rem; line-height: 1.25; border-left: .3rem solid var(--verdict); padding-left: .8rem; overflow-wrap: anywhere; }}
  li, p {{ overflow-wrap: anywhere; }}
  dl {{ display: grid; grid-template-columns: auto 1fr; gap: .1rem 1rem; }} dt {{ color: var(--soft); }} dd {{ margin: 0; overflow-wrap: anywhere; }}
  figure {{ margin: 1.5rem 0; }} svg {{ width: 100%; height: auto; }}
  .table {{ overflow-x: auto; }}
  table {{ border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; font-size: .9rem; }}
  caption {{ text-align: left; color: var(--soft); }}
  th, td {{ text-align: right; padding: .2rem .5rem; border-bottom: 1px solid var(--line); font-weight: 400; }}
  thead th {{ font-weight: 600; vertical-align: bottom; }}
  .original {{ color: var(--original); }} .port {{ color: var(--port); }}
  path {{ fill: none; stroke-width: 2; stroke-linejoin: round; }}
  path.original {{ stroke: var(--original); stroke-width: 6; opacity: .45; }} path.port {{ stroke: var(--port); }}
  text {{ fill: var(--soft); font-size: 12px; }} line {{ stroke: var(--line); }}
  @media (max-width: 34rem) {{ text {{ font-size: 22px; }} }}
  pre {{ overflow-x: auto; padding: .6rem; border: 1px solid var(--line); }}
</style>
<body class="{verdict}">
<main>
<h1>{title}</h1>
<p>{what}</p>
{findings}
{figure}
<h2>Configuration</h2>
<dl>
{ran}
</dl>
<p>Speed, memory use and acceptance by the target's compiler were not tested.</p>
{table}
</main>
<script type="application/json" id="twin">{data}</script>
</body>
</html>
"""

FIGURE = """<figure>
{curves}
<figcaption>Loss per step of the <span class="original">original (thick line)</span> and the <span class="port">port (thin line)</span>. The table has the numbers.</figcaption>
</figure>"""

TABLE = """<div class="table" tabindex="0" role="region" aria-label="Steps">
<table>
<caption>Steps</caption>
<thead><tr><th scope="col">Step<th scope="col" class="original">Loss, original<th scope="col" class="port">Loss, port<th scope="col" class="original">Norm of the gradients, original<th scope="col" class="port">port<th scope="col">Learning rate<th scope="col">Samples</tr></thead>
<tbody>
{rows}
</tbody>
</table>
</div>"""


def page(table):
    """The page of a result, as `--json` has it."""
    ran = table["ran"]
    findings = [_finding(table["first"])] if table["first"] else []
    findings += [html.escape(told) for told in table["findings"][len(findings) :]]
    findings += [html.escape(f"{broken['rule']}: {broken['why']} ({broken['file']}:{broken['line']})") for broken in table["contracts"]]
    listed = "".join(f"<li>{told}</li>" for told in findings)
    failed = f"<p>{html.escape(table['failed'])}</p><pre>{html.escape(chr(10).join(table['trace']))}</pre>" if table["failed"] else ""
    return PAGE.format(
        title=html.escape(f"{ran['program']}: {table['told']}"), verdict=html.escape(table["verdict"] if not table["contracts"] else "differs"),
        what=html.escape(_what(table)), findings=failed + (f"<ul>{listed}</ul>" if listed else ""),
        figure=FIGURE.format(curves=drawn) if (drawn := curves(table["steps"])) else "",
        ran="\n".join(f"<dt>{html.escape(name)}<dd>{html.escape(str(value))}" for name, value in _ran(table)),
        table=TABLE.format(rows="\n".join(map(_row, table["steps"]))) if table["steps"] else "",
        data=json.dumps(table).replace("<", "\\u003c"))


def _what(table):
    if table["failed"]:
        return "One of the two runs ended early, so there is nothing to compare."
    original, port = table["trained"]
    steps = f"{port} step{'' if port == 1 else 's'}" if original == port else f"{original} and {port} steps"
    return f"The original and its port to {table['target']} trained {steps} on a CPU with the same initial weights and data."


def _finding(first):
    place = f" at {first['place'][0]}:{first['place'][1]}" if first["place"] else ""
    recipe = f", written by {first['recipe']}" if first["recipe"] else ""
    return html.escape(f"{first['told']}{place}{recipe}")


def _ran(table):
    ran = table["ran"]
    made_up = [f"{ran['fake_data']} samples of each data set"] * bool(ran["fake_data"]) + ran["fake_images"]
    return [
        ("Target", table["target"]), ("Software", f"{ran['framework']}, Python {ran['python']}"),
        ("Stand-ins", ", ".join(ran["stand_ins"]) or "none"), ("Numbers", "as in the programs" if ran["precision"] == "target" else ran["precision"]),
        ("Seed", ran["seed"]), ("Arguments of the port", " ".join(ran["arguments"]) or "none"),
        *([("Processes of the port", ran["instances"])] if ran["instances"] > 1 else []), *([("Generated data", ", ".join(made_up))] if made_up else []),
    ]


def _row(step):
    cells = [*map(_shown, (*step["loss"], *step["norm"])), _both([rate[0] if rate else "" for rate in step["rate"]]), _both(step["samples"])]
    shown = "".join(f"<td>{html.escape(cell)}" for cell in cells)
    return f'<tr><th scope="row">{html.escape(str(step["step"]))}{shown}</tr>'


def _shown(value):
    return f"{value:.7g}" if isinstance(value, float) else str(value)


def _both(pair):
    """One of the two where they are the same."""
    return " / ".join(dict.fromkeys(map(_shown, pair)))


def curves(steps):
    """Two lines over the steps, the original's broad below the port's."""
    values = [value for step in steps for value in step["loss"] if _is_finite(value)]
    if not values:
        return ""
    low, high = min(values), max(values)
    span = (high - low) or 1.0
    across = lambda number: LEFT + (WIDTH - LEFT - RIGHT) * (number / max(len(steps) - 1, 1))  # noqa: E731
    up = lambda value: HEIGHT - BELOW - (HEIGHT - ABOVE - BELOW) * ((value - low) / span)  # noqa: E731
    label = f"Loss of the original and the port over {len(steps)} steps, between {low:.4g} and {high:.4g}"
    drawn = [f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">']
    for value in sorted({low, high}):
        drawn.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{up(value):.1f}" y2="{up(value):.1f}"/>')
        drawn.append(f'<text x="{LEFT - 8}" y="{up(value) + 4:.1f}" text-anchor="end">{value:.4g}</text>')
    drawn.append(f'<text x="{LEFT}" y="{HEIGHT - 10}">step 1</text>')
    drawn.append(f'<text x="{WIDTH - RIGHT}" y="{HEIGHT - 10}" text-anchor="end">step {len(steps)}</text>')
    for side, name in enumerate(("original", "port")):
        points = [(number, step["loss"][side]) for number, step in enumerate(steps)]
        points = [f"{across(number):.1f} {up(value):.1f}" for number, value in points if _is_finite(value)]
        if points:
            drawn.append(f'<path class="{name}" d="M{" L".join(points)}"/>')
    return "\n".join([*drawn, "</svg>"])


def _is_finite(value):
    return isinstance(value, (int, float)) and math.isfinite(value)
