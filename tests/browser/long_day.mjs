// A page that stays open while its reader edits: the memory of the page and its workers, and the space that it has stored, as the edits go on.

import { PortPage, launch } from "./port_page.mjs";
import { serve } from "./site.mjs";

const MIB = 2 ** 20;

/** The browser's own measurement, without waiting for its next garbage collection. */
const flags = ["--enable-blink-features=ForceEagerMeasureMemory", "--js-flags=--expose-gc"];

/** In the page: bytes of the page's and its workers' objects, of their WebAssembly memory and of what the site has stored. */
async function measure() {
  window.gc?.();
  const { breakdown } = await performance.measureUserAgentSpecificMemory();
  const of = (scope) => (sum, { bytes, attribution }) => sum + (attribution.some((by) => by.scope === scope) ? bytes : 0);
  const { usage } = await navigator.storage.estimate();
  return {
    page: breakdown.reduce(of("Window"), 0),
    worker: breakdown.reduce(of("DedicatedWorkerGlobalScope"), 0),
    storage: usage,
    elements: document.querySelectorAll("*").length,
  };
}

/** After so many edits the text has the same length again. */
const CYCLE = 50;

/** A trainer in its nth version: edited at the end, in the middle, longer for a while and then short again. */
function version(text, edit) {
  const lines = text.split("\n");
  lines.splice(lines.length / 2, 0, ...Array.from({ length: (edit + CYCLE) % CYCLE }, (_, n) => `x_${edit}_${n} = torch.zeros(${n}).cuda()`));
  return `${lines.join("\n")}\nlast = ${edit}\n`;
}

/**
 * Opens the Port page and makes this many edits, each followed by its port; every so many, `note` gets the measurements. Resolves to all of
 * them. The memory of a measurement is in MiB.
 */
export async function spend(edits, every, text, note = () => undefined) {
  // Only an isolated page may measure its memory.
  const [browser, site] = await Promise.all([launch(flags), serve(undefined, undefined, { isolated: true })]);
  try {
    const port = await PortPage.open(browser, site.address);
    const all = [];
    // Before the first, so that everything that the page creates only once is there.
    for (let edit = 1 - CYCLE; edit <= edits; edit++) {
      await port.fill(version(text, edit));
      await port.page.waitForFunction(() => document.querySelector("#result-pane")?.getAttribute("aria-busy") === "true", undefined, { timeout: 2000 }).catch(() => undefined);
      await port.ported();
      if (edit <= 0 || edit % every) continue;
      await port.keptAsItIs();
      const { page, worker, storage, elements } = await port.page.evaluate(measure);
      all.push({ edit, page: page / MIB, worker: worker / MIB, storage: storage / MIB, elements });
      note(all.at(-1));
    }
    if (port.errors.length > 0) throw new Error(port.errors.join("\n"));
    return all;
  } finally {
    await browser.close();
    await site.end();
  }
}

/**
 * What grows without an end: something whose least value in the last third of the measurements is larger than its largest in the
 * first third by a tenth and `slack` MiB (elements: by a tenth). Single measurements vary by a garbage collection.
 */
export function growing(all, slack) {
  const third = Math.floor(all.length / 3);
  const [first, last] = [all.slice(0, third), all.slice(-third)];
  return ["page", "worker", "storage", "elements"].filter((name) => {
    const of = (some) => some.map((one) => one[name]);
    return Math.min(...of(last)) > 1.1 * Math.max(...of(first)) + (name === "elements" ? 0 : slack);
  });
}
