// Runs test files with Node's own runner in the given order, and notes the result of each test. (`node --test` sorts
// the files, so a long one would begin last and leave processors idle.)
// usage: node run.mjs FILES-AT-ONCE RESULTS FILE…
// RESULTS gets a line for each test, separated by tabs: passed or failed, seconds, file, name.

import { appendFileSync, writeFileSync } from "node:fs";
import { relative, resolve } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { fileURLToPath } from "node:url";

const [atOnce, place, ...files] = process.argv.slice(2);
const tests = fileURLToPath(new URL("../", import.meta.url));
writeFileSync(place, "");

const note = (result) => ({ name, file, details }) => {
  const seconds = (details.duration_ms / 1000).toFixed(2);
  // Node 18 gives an address. A file that ends before its tests do is itself a failed test, with its path as the name.
  const path = file?.startsWith("file:") ? fileURLToPath(file) : (file ?? name);
  appendFileSync(place, `${result}\t${seconds}\t${relative(tests, path)}\t${name.replace(/\s+/g, " ")}\n`);
  if (result === "failed") process.exitCode = 1;
};

const running = run({ files: files.map((file) => resolve(file)), concurrency: Number(atOnce) });
running.on("test:pass", note("passed")).on("test:fail", note("failed"));
running.pipe(new spec()).pipe(process.stdout);
