// PyTorch's outputs against those of every module that may compute the network in a browser.

import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { launch } from "./port_page.mjs";
import { dist, root, serve } from "./site.mjs";

const folder = join(root, "tests/fixtures/uresnet");
const cases = readdirSync(folder).filter((file) => file.endsWith(".json")).map((file) => file.slice(0, -".json".length));

/** A module's script, and the instructions that it says it used. */
const modules = { "relaxed_forward.js": "relaxed-simd", "forward.js": "simd128", "scalar_forward.js": "portable" };

let browser, site;

before(async () => {
  [browser, site] = await Promise.all([launch(), serve()]);
});

after(async () => {
  await browser?.close();
  site?.end();
});

/** What the page says of a case, as the report. */
async function report(page, name, description) {
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

for (const [script, instructions] of Object.entries(modules)) {
  const options = { timeout: 180_000, skip: !existsSync(join(dist, script)) && `no ${script} was built` };
  test(`PyTorch's outputs with ${instructions}`, options, async () => {
    assert.ok(cases.length > 10, `${cases}`);
    const context = await browser.newContext({ serviceWorkers: "block", acceptDownloads: true });
    // This browser would take the best of them.
    await context.route("**/relaxed_forward.js", (route) =>
      route.fulfill({ path: join(dist, script), contentType: "text/javascript" }),
    );
    const page = await context.newPage();
    try {
      for (const name of cases) {
        const description = JSON.parse(readFileSync(join(folder, `${name}.json`), "utf8"));
        const { comparison, ...run } = await report(page, name, description);
        assert.equal(run.instructions, instructions);
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
