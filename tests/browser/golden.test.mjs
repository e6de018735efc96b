// PyTorch's outputs compared with those of every module that can compute the network in a browser.

import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { launch } from "./port_page.mjs";
import { dist, root, serve } from "./site.mjs";

const folder = join(root, "tests/fixtures/uresnet");
const cases = readdirSync(folder).filter((file) => file.endsWith(".json")).map((file) => file.slice(0, -".json".length));

/** Modules, the modules that they replace on a page, and the instructions that they report. */
const best = { alone: "relaxed_forward.wasm", threads: "threads/threaded_relaxed_forward.wasm" };
const modules = [
  [best.alone, best.alone, "relaxed-simd", 1],
  ["forward.wasm", best.alone, "simd128", 1],
  ["scalar_forward.wasm", best.alone, "portable", 1],
  [best.threads, best.threads, "relaxed-simd", 3],
  ["threads/threaded_forward.wasm", best.threads, "simd128", 3],
];

let browser, plain, isolated;

before(async () => {
  [browser, plain, isolated] = await Promise.all([launch(), serve(), serve(undefined, undefined, { isolated: true })]);
});

after(async () => {
  await browser?.close();
  plain?.end();
  isolated?.end();
});

/** The page's result for a case, as the report. */
async function report(page, site, name, description) {
  const file = join(folder, `${name}.safetensors`);
  const fragment = new URLSearchParams({ ...description.config, weights: "file", input: "file" });
  await page.goto("about:blank");
  await page.goto(`${site.address}check/#${fragment}`);
  for (const key of ["weights", "input"]) await page.locator(`#file-${key}`).setInputFiles(file);
  await page.locator("#run").click();
  await page.locator("#said", { hasText: /^Done/ }).waitFor();
  await page.locator("#file-candidate").setInputFiles(file);
  await page.locator("#said", { hasText: /^Compared/ }).waitFor();
  const [download] = await Promise.all([page.waitForEvent("download"), page.locator("#report").click()]);
  return JSON.parse(readFileSync(await download.path(), "utf8"));
}

for (const [module, taken, instructions, threads] of modules) {
  const options = { timeout: 180_000, skip: !existsSync(join(dist, module)) && `no ${module} was built` };
  test(`PyTorch's outputs with ${instructions}, threads: ${threads}`, options, async () => {
    assert.ok(cases.length > 10, `${cases}`);
    const context = await browser.newContext({ serviceWorkers: "block", acceptDownloads: true });
    // This browser would select the best of them.
    await context.route(`**/${taken}`, async (route) => route.fulfill({ response: await route.fetch(), path: join(dist, module) }));
    const page = await context.newPage();
    const client = await context.newCDPSession(page);
    await client.send("Emulation.setHardwareConcurrencyOverride", { hardwareConcurrency: threads });
    try {
      for (const name of cases) {
        const description = JSON.parse(readFileSync(join(folder, `${name}.json`), "utf8"));
        const { comparison, ...run } = await report(page, threads > 1 ? isolated : plain, name, description);
        assert.deepEqual([run.instructions, run.threads], [instructions, threads]);
        const { max_absolute: apart, max_relative_to_range: share, not_finite: lost } = comparison.distance;
        assert.equal(lost, 0, name);
        const { torch_f32_vs_f64_maxabs: rounding, output_absmax: largest } = description;
        if (rounding === undefined) {
          assert.ok(share <= 1e-4, `${name}: ${share} of the largest logit`);
        } else {
          assert.ok(apart <= 10 * rounding + 1e-6 * largest, `${name}: ${apart}, where PyTorch itself rounds by ${rounding}`);
        }
        assert.ok(comparison.same_class >= 0.9999, `${name}: ${comparison.same_class} of the pixels`);
      }
    } finally {
      await context.close();
    }
  });
}
