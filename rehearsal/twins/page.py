"""The result as one HTML page that needs nothing else: verdict, the two curves of the loss, the table of steps."""

import html
import json
import math

WIDTH, HEIGHT, MARGIN = 720, 280, 44

PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Twin run: {title}</title>
<style>
  :root {{ color-scheme: light dark; --ink: light-dark(#1b1f24, #e6e9ee); --paper: light-dark(#fff, #15181d); --line: light-dark(#d5d9e0, #39404a);
    --original: light-dark(#0b62a8, #7ab8f5); --port: light-dark(#b3470b, #ffa366); }}
  body {{ font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 46rem; margin: 2rem auto; padding: 0 1rem; }}
  svg {{ width: 100%; height: auto; }}
  table {{ border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }}
  th, td {{ text-align: right; padding: .2rem .5rem; border-bottom: 1px solid var(--line); }}
  .original {{ color: var(--original); }} .port {{ color: var(--port); }}
  path {{ fill: none; stroke-width: 2; }}
  path.original {{ stroke: var(--original); stroke-width: 5; opacity: .45; }} path.port {{ stroke: var(--port); }}
  text {{ fill: var(--ink); font-size: 12px; }} line {{ stroke: var(--line); }}
</style>
<h1>{title}</h1>
<p>{what}</p>
{findings}
<figure>
{curves}
<figcaption><span class="original">original</span>, <span class="port">port</span>: the loss of each step, on this machine's CPU.</figcaption>
</figure>
<table>
<thead><tr><th>step<th class="original">original<th class="port">port<th>gradient norm, original<th>port<th>learning rate<th>samples</tr></thead>
<tbody>
{rows}
</tbody>
</table>
<script type="application/json" id="twin">{data}</script>
</html>
"""


def page(table, original, port):
    findings = "".join(f"<li>{html.escape(told)}</li>" for told in table["findings"])
    if table["failed"]:
        findings += f"<li>{html.escape(table['failed'])}</li>"
    return PAGE.format(
        title=html.escape(f"{port}: {table['told']}"),
        what=html.escape(f"{original} and {port} (target {table['target']}) trained {table['trained'][0]} and {table['trained'][1]} steps from the same "
                         "weights with the same data. Speed, memory and what the target's compiler accepts were not tried."),
        findings=f"<ul>{findings}</ul>" if findings else "", curves=curves(table["steps"]), rows="\n".join(map(_row, table["steps"])),
        data=json.dumps(table).replace("<", "\\u003c"))


def _row(step):
    cells = [step["step"], *step["loss"], *step["norm"], step["rate"][1][0] if step["rate"][1] else "", step["samples"][1]]
    return "<tr>" + "".join(f"<td>{cell:.7g}" if isinstance(cell, float) else f"<td>{html.escape(str(cell))}" for cell in cells) + "</tr>"


def curves(steps):
    """Two lines over the steps, the original's broad below the port's."""
    values = [value for step in steps for value in step["loss"] if isinstance(value, float) and math.isfinite(value)]
    if not values:
        return ""
    low, high = min(values), max(values)
    span = (high - low) or abs(high) or 1.0
    across = lambda number: MARGIN + (WIDTH - 2 * MARGIN) * (number / max(len(steps) - 1, 1))  # noqa: E731
    up = lambda value: HEIGHT - MARGIN - (HEIGHT - 2 * MARGIN) * ((value - low) / span)  # noqa: E731
    drawn = [f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="The loss of each step in the original and in the port">']
    for value in (low, high):
        drawn.append(f'<line x1="{MARGIN}" x2="{WIDTH - MARGIN}" y1="{up(value):.1f}" y2="{up(value):.1f}"/>')
        drawn.append(f'<text x="{MARGIN - 6}" y="{up(value) + 4:.1f}" text-anchor="end">{value:.3g}</text>')
    drawn.append(f'<text x="{WIDTH - MARGIN}" y="{HEIGHT - 12}" text-anchor="end">step {len(steps)}</text>')
    for side, name in enumerate(("original", "port")):
        points = [(number, step["loss"][side]) for number, step in enumerate(steps)]
        points = [f"{across(number):.1f} {up(value):.1f}" for number, value in points if isinstance(value, float) and math.isfinite(value)]
        if points:
            drawn.append(f'<path class="{name}" d="M{" L".join(points)}"/>')
    return "\n".join([*drawn, "</svg>"])
