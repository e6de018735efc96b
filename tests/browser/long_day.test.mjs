// The shortened form of `cargo xtask bench day`.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { growing, spend } from "./long_day.mjs";
import { root } from "./site.mjs";

test("a page that stays open does not grow with its edits", { timeout: 300_000 }, async () => {
  const text = readFileSync(join(root, "tests/fixtures/scripts/spectra_trainer.py"), "utf8");
  const all = await spend(90, 10, text);
  assert.deepEqual(growing(all, 4), [], JSON.stringify(all, null, 1));
  // The check itself notices growth.
  const leaking = all.map((one, at) => ({ ...one, worker: one.worker + 2 * at }));
  assert.deepEqual(growing(leaking, 4), ["worker"]);
});
