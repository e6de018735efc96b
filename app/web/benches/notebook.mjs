// `cargo xtask bench notebook`: the time from choosing a notebook of 100 cells, with pictures among its outputs, to its port, and
// from an edit to the new port, compared with the same program in a Python file. In a real Chromium, by the page's clock.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { PortPage, launch } from "../../../tests/browser/port_page.mjs";
import { root, serve } from "../../../tests/browser/site.mjs";

const CELLS = 100;
/** Bytes of each picture, and how many cells have one. */
const [PICTURE, WITH_PICTURE] = [60_000, 20];
const RUNS = 5;
/** The maximum of the notebook's time, as a multiple of the file's. */
const BAR = 2;

/** The program: a model, a loop and an evaluation for every third cell, as somebody tries one after another. */
function cells() {
  const parts = readFileSync(join(root, "tests/fixtures/scripts/spectra_trainer.py"), "utf8").split(/\n\n\n/);
  const names = (text, copy) => text.replaceAll(/^(class|def) (\w+)/gm, `$1 $2_${copy}`);
  return Array.from({ length: CELLS }, (_, cell) => names(parts[cell % parts.length], Math.floor(cell / parts.length)));
}

function notebook() {
  const picture = "iVBORw0KGgo".padEnd(PICTURE, "A");
  const made = cells().map((text, cell) => ({
    cell_type: "code",
    execution_count: cell + 1,
    id: `cell-${cell}`,
    metadata: {},
    outputs: cell % (CELLS / WITH_PICTURE) ? [] : [{ output_type: "display_data", data: { "image/png": picture }, metadata: {} }],
    source: text.split(/(?<=\n)/),
  }));
  return JSON.stringify({ cells: made, metadata: {}, nbformat: 4, nbformat_minor: 5 }, null, 1) + "\n";
}

const FILES = [
  { name: "run.ipynb", text: notebook() },
  { name: "run.py", text: cells().join("\n\n\n") + "\n" },
];

/** Milliseconds from the choice of a file, and from an edit at its end, to the port. */
async function measured(browser, address, file) {
  const port = await PortPage.open(browser, address);
  // The engine is loaded before.
  await port.fill("import torch\nx = torch.ones(1).cuda()\n");
  let summary = await port.summaryOtherThan("");
  const timed = async (act) => {
    const start = performance.now();
    await act();
    summary = await port.summaryOtherThan(summary);
    return performance.now() - start;
  };
  const opened = await timed(() => port.chooseFiles([file]));
  await port.showSource();
  await port.page.locator("#source").focus();
  await port.page.keyboard.press("Control+End");
  const edited = await timed(() => port.page.keyboard.insertText("\ny = torch.ones(1).cuda()\n"));
  await port.close();
  return { opened, edited, summary };
}

const median = (numbers) => [...numbers].sort((a, b) => a - b)[numbers.length >> 1];
const [browser, site] = await Promise.all([launch(), serve()]);
try {
  const runs = FILES.map(() => []);
  for (let run = 0; run < RUNS; run++) {
    for (const [n, file] of FILES.entries()) runs[n].push(await measured(browser, site.address, file));
  }
  const [ofNotebook, ofFile] = runs.map((of) => ({ opened: median(of.map((r) => r.opened)), edited: median(of.map((r) => r.edited)) }));
  const size = FILES.map(({ text }) => `${Math.round(text.length / 1024)} KiB`);
  console.log(`    ${CELLS} cells (${size[0]}; the program ${size[1]}, ${FILES[1].text.split("\n").length} lines): ${runs[0][0].summary}`);
  for (const what of ["opened", "edited"]) {
    const [notebook, file] = [ofNotebook[what], ofFile[what]];
    console.log(`    ${what}: ${notebook.toFixed(0)} ms, as a Python file ${file.toFixed(0)} ms, ratio ${(notebook / file).toFixed(2)} ≤ ${BAR}`);
    if (notebook > BAR * file) process.exitCode = 1;
  }
} finally {
  await browser.close();
  site.end();
}
