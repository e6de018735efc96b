// A whole port without a mouse; and the page's history.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { PortPage, launch } from "./port_page.mjs";
import { root, serve } from "./site.mjs";

const trainer = readFileSync(join(root, "tests/fixtures/scripts/spectra_trainer.py"), "utf8");
let browser, site;

before(async () => {
  [browser, site] = await Promise.all([launch(), serve()]);
});

after(async () => {
  await browser?.close();
  site?.end();
});

/** Presses Tab until the focus is where it should be; everything on the way has to show that it has it. */
async function tabTo(page, selector) {
  for (let presses = 0; presses < 80; presses++) {
    await page.keyboard.press("Tab");
    const { there, seen, what } = await page.evaluate((selector) => {
      const at = document.activeElement;
      const style = getComputedStyle(at);
      // The frame of the editor shows it for the field inside.
      const frame = at.closest(".editor:focus-within");
      const framed = frame && getComputedStyle(frame).boxShadow !== "none";
      const seen = style.outlineStyle !== "none" || framed || at === document.body;
      return { there: at.matches(selector), seen, what: at.outerHTML.slice(0, 90) };
    }, selector);
    assert.ok(seen, `no visible focus: ${what}`);
    if (there) return;
  }
  assert.fail(`Tab does not lead to ${selector}`);
}

test("a script is ported, read, narrowed and taken away by keyboard alone", { timeout: 120_000 }, async () => {
  const context = await browser.newContext({ permissions: ["clipboard-read", "clipboard-write"], acceptDownloads: true });
  const page = await context.newPage();
  await page.goto(site.address);
  await tabTo(page, "a.skip");
  await tabTo(page, 'a[href="./port/"]');
  await page.keyboard.press("Enter");
  const port = new PortPage(page, context);
  await page.locator("#target option").first().waitFor({ state: "attached" });
  await tabTo(page, "#target");
  await page.keyboard.press("r");
  assert.equal(await page.locator("#target").inputValue(), "rdu");
  await page.keyboard.press("Home");
  assert.equal(await page.locator("#target").inputValue(), "hpu");
  await tabTo(page, "#source");
  await page.evaluate((text) => navigator.clipboard.writeText(text), trainer);
  await page.keyboard.press("Control+V");
  const all = await port.ported();
  assert.match(all, /^\d+ changes/);
  // Tab indents in the editor; Escape lets go of it.
  await page.keyboard.press("Escape");
  await tabTo(page, "#patch");
  const [download] = await Promise.all([page.waitForEvent("download"), page.keyboard.press("Enter")]);
  assert.match(await readFile(await download.path(), "utf8"), /^\+.*hpu/m);
  await tabTo(page, "#tab-changes");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowLeft");
  const focused = () => page.evaluate(() => document.activeElement.id);
  for (let presses = 0; (await focused()) !== "tab-recipes"; presses++) {
    assert.ok(presses < 10, `the arrow leads to ${await focused()}`);
    await page.keyboard.press("ArrowRight");
  }
  await page.keyboard.press("Enter");
  await tabTo(page, ".recipes .switch input");
  await page.keyboard.press("Space");
  assert.notEqual(await port.summaryOtherThan(all), all);
  await context.close();
});

test("back, forward and reload keep the view and the work", { timeout: 90_000 }, async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`${site.address}guides/hpu/`);
  await page.locator("a.try").first().click();
  const port = new PortPage(page, context);
  const summary = await port.ported();
  const source = await port.source();
  await page.reload();
  assert.equal(await port.ported(), summary);
  assert.equal(await port.source(), source);
  await page.goBack();
  assert.match(page.url(), /guides\/hpu\/$/);
  await page.goForward();
  assert.equal(await port.ported(), summary);
  await page.goto(`${site.address}recipes/`);
  await page.locator('[name="words"]').fill("autocast");
  const found = await page.locator(".filter [role=status]").textContent();
  await page.locator(".recipes a:visible").first().click();
  await page.waitForURL(/guides\//);
  await page.goBack();
  await page.waitForFunction((found) => document.querySelector(".filter [role=status]").textContent === found, found);
  await page.reload();
  assert.equal(await page.locator(".filter [role=status]").textContent(), found);
  await context.close();
});
