// The home page's small port: one tab per target, stored in the address; complete without scripts.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch } from "./port_page.mjs";
import { pages, serve } from "./site.mjs";

let browser, site;

before(async () => {
  [browser, site] = await Promise.all([launch(), serve()]);
});

after(async () => {
  await browser?.close();
  site?.end();
});

test("a target is chosen by mouse or keyboard, and stays chosen", async () => {
  const context = await browser.newContext({ serviceWorkers: "block" });
  const page = await context.newPage();
  await page.goto(site.address);
  const shown = () => page.locator("[data-tabs] > section:visible").getAttribute("data-for");
  assert.equal(await shown(), "hpu");
  await page.getByRole("tab", { name: "IPU" }).click();
  assert.equal(await shown(), "ipu");
  assert.equal(await page.evaluate(() => new URLSearchParams(location.search).get("target")), "ipu");
  await page.keyboard.press("End");
  assert.equal(await shown(), "xpu");
  assert.equal(await page.getByRole("tab", { name: "XPU" }).evaluate((tab) => tab === document.activeElement), true);
  await page.goto(site.address);
  assert.equal(await shown(), "xpu");
  await page.goto(`${site.address}?target=hpu`);
  assert.equal(await shown(), "hpu");
  await context.close();
});

test("without scripts every page is readable, and all targets are shown", { timeout: 60_000 }, async () => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  for (const path of pages) {
    await page.goto(site.address + path);
    assert.equal(await page.locator("h1").first().isVisible() || path === "port/", true, path);
    assert.equal(await page.locator("#search-open").isVisible(), false, path);
  }
  await page.goto(site.address);
  assert.ok((await page.locator("[data-tabs] > section:visible").count()) >= 4);
  await context.close();
});
