// `cargo xtask bench lighthouse`: every page of the built site by Lighthouse, as a phone and as a desk. Served with gzip, as
// static hosts serve. Prints the four scores and the times behind them, and for what is below 100 the audits that cost it.

import { launch } from "chrome-launcher";
import lighthouse, { desktopConfig } from "lighthouse";
import { createServer } from "node:http";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { executablePath, flags } from "../../../tests/browser/browser.mjs";
import { dist, pages, typeOf } from "../../../tests/browser/site.mjs";

const CATEGORIES = ["performance", "accessibility", "best-practices", "seo"];
/** A page below 100 is measured this often, and its median counts: one run on a busy machine says little. */
const RUNS = 3;
const packed = new Map();
const server = createServer((request, response) => {
  let path = decodeURIComponent(new URL(request.url, "http://x").pathname);
  if (path.endsWith("/")) path += "index.html";
  try {
    if (!packed.has(path)) packed.set(path, gzipSync(readFileSync(join(dist, path)), { level: 9 }));
    response.writeHead(200, { "content-type": typeOf(path), "content-encoding": "gzip", "cache-control": "max-age=600" }).end(packed.get(path));
  } catch {
    response.writeHead(404).end();
  }
});
await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
const { port } = server.address();

/** One run: scores, times, and the audits that are not perfect. */
async function once(url, config) {
  const chrome = await launch({ chromePath: executablePath, chromeFlags: ["--headless=new", ...flags] });
  try {
    const { lhr } = await lighthouse(url, { port: chrome.port, logLevel: "error", output: "json" }, config);
    const scores = CATEGORIES.map((name) => Math.round(100 * (lhr.categories[name].score ?? 0)));
    const lacking = CATEGORIES.flatMap((name) => lhr.categories[name].auditRefs)
      .filter(({ id, weight }) => weight > 0 && lhr.audits[id].score !== null && lhr.audits[id].score < 1)
      .map(({ id }) => `${id} ${lhr.audits[id].displayValue ?? ""}`.trim());
    const time = (id) => lhr.audits[id].numericValue;
    const times = [time("first-contentful-paint"), time("largest-contentful-paint"), time("total-blocking-time"), time("cumulative-layout-shift")];
    return { scores, lacking, times };
  } finally {
    await chrome.kill();
  }
}

const perfect = ({ scores }) => scores.every((score) => score === 100);
// `/port/` as the browser shows it, or `port/`.
const wanted = process.argv.slice(2).map((page) => page.replace(/^\//, ""));
const unknown = wanted.filter((page) => !pages.includes(page));
if (unknown.length > 0) {
  console.error(`    no such page: ${unknown.join(", ")}; there are ${pages.map((page) => `/${page}`).join(" ")}`);
  process.exit(2);
}
let below = 0;
console.log(`    ${"".padEnd(42)}perf a11y best  seo    FCP    LCP    TBT   CLS`);
for (const page of pages.filter((page) => wanted.length === 0 || wanted.includes(page))) {
  for (const [form, config] of [["mobile", undefined], ["desktop", desktopConfig]]) {
    const runs = [await once(`http://127.0.0.1:${port}/${page}`, config)];
    while (!perfect(runs[0]) && runs.length < RUNS) runs.push(await once(`http://127.0.0.1:${port}/${page}`, config));
    const middle = runs.sort((a, b) => a.scores[0] - b.scores[0])[runs.length >> 1];
    const [fcp, lcp, tbt, cls] = middle.times;
    const numbers = middle.scores.map((score) => String(score).padStart(4)).join(" ");
    const times = [fcp, lcp, tbt].map((time) => time.toFixed(0).padStart(6)).join(" ");
    console.log(`    ${`/${page} ${form}`.padEnd(42)}${numbers} ${times} ${cls.toFixed(3)}${perfect(middle) ? "" : `  ${middle.lacking.join("; ")}`}`);
    below += perfect(middle) ? 0 : 1;
  }
}
server.close();
console.log(below ? `    ${below} below 100` : "    all are 100");
process.exitCode = below ? 1 : 0;
