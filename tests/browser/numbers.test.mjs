// Every field for a number has bounds: what is out of them is named next to the field, and breaks nothing.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { PortPage, launch } from "./port_page.mjs";
import { serve } from "./site.mjs";

let browser, site;

before(async () => {
  [browser, site] = await Promise.all([launch(), serve()]);
});

after(async () => {
  await browser?.close();
  site?.end();
});

const numeric = "input[type=number]:visible, input[inputmode=numeric]:visible";

for (const [path, least] of [["launch/#target=popdist&entry=a.py", 5], ["launch/#target=hpu&entry=a.py", 4], ["check/", 8]]) {
  test(`fields for numbers of ${path}`, { timeout: 240_000 }, async () => {
    const context = await browser.newContext({ serviceWorkers: "block" });
    const page = await context.newPage();
    const errors = [];
    page.on("pageerror", (error) => errors.push(String(error)));
    await page.goto(site.address + path);
    await page.locator(numeric).first().waitFor();
    await page.locator("main details").evaluateAll((all) => all.forEach((part) => (part.open = true)));
    const ids = await page.locator(numeric).evaluateAll((fields) => fields.map((field) => field.id));
    const quiet = [];
    for (const id of ids) {
      const field = page.locator(`[id="${id}"]`);
      // A field may go when another is changed.
      if (!(await field.isVisible())) continue;
      const before = await field.inputValue();
      for (const value of ["-1", "100000000000000000000", "x"]) {
        await field.fill(value);
        await field.press("Tab");
        const isNamed = async () => (await field.getAttribute("aria-invalid")) === "true";
        for (const end = Date.now() + 3000; !(await isNamed()) && Date.now() < end; ) await page.waitForTimeout(50);
        if (!(await isNamed())) quiet.push(`${id}=${value}`);
      }
      await field.fill(before);
      await field.press("Tab");
    }
    assert.ok(ids.length >= least, ids.join(" "));
    assert.deepEqual(quiet, []);
    assert.deepEqual(errors, []);
    await context.close();
  });
}

test("an option of a port that has no such value says so, and has its default", { timeout: 90_000 }, async () => {
  const port = await PortPage.open(browser, site.address, { fragment: "#target=popdist" });
  await port.fill("import torch\nx = torch.zeros(1).cuda()\n");
  await port.ported();
  await port.page.locator("#options").click();
  await port.page.locator("#named details").evaluate((rest) => (rest.open = true));
  const field = port.page.locator("#named input[type=number]").first();
  for (const value of ["0", "-1", "100000000000000000000"]) {
    await field.fill(value);
    await field.press("Tab");
    await port.page.locator(".port-notice", { hasText: `an integer above 0, not “${value}”` }).waitFor();
    assert.equal(await field.inputValue(), "");
  }
  await field.fill("2");
  await field.press("Tab");
  await port.ported();
  assert.equal(await field.inputValue(), "2");
  assert.deepEqual(port.errors, []);
  await port.close();
});
