// `cargo xtask bench day [EDITS]`: a page that stays open all day. Prints the memory of the page, of its worker and of what is stored while
// 2,000 edits are made and ported, and fails if one of them grows without an end.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { growing, spend } from "../../../tests/browser/long_day.mjs";
import { root } from "../../../tests/browser/site.mjs";

const edits = Number(process.argv[2] ?? 2000);
if (!Number.isInteger(edits) || edits < 30) {
  console.error("the number of edits is a whole number from 30");
  process.exit(2);
}
const trainer = readFileSync(join(root, "tests/fixtures/scripts/spectra_trainer.py"), "utf8");
const column = (value) => value.toFixed(2).padStart(10);
console.log(["edits", "page MiB", "worker MiB", "stored MiB", "elements"].map((name) => name.padStart(10)).join(" "));
const note = ({ edit, page, worker, storage, elements }) =>
  console.log(String(edit).padStart(10), column(page), column(worker), column(storage), String(elements).padStart(10));
const found = growing(await spend(edits, Math.max(10, Math.floor(edits / 20)), trainer, note), 8);
if (found.length > 0) {
  console.error(`still growing: ${found.join(", ")}`);
  process.exitCode = 1;
}
