// Examples in guides whose port depends on the SDK: one tab per version, synchronized across all guides of a target and
// all windows.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch } from "./port_page.mjs";
import { serve } from "./site.mjs";

let browser, site;

before(async () => {
  [browser, site] = await Promise.all([launch(), serve()]);
});

after(async () => {
  await browser?.close();
  site?.end();
});

/** A guide in a window; its tabs are created once it is painted. */
async function guide(context, path) {
  const page = await context.newPage();
  await page.goto(`${site.address}guides/${path}`);
  await page.locator("[data-tabs][data-ready]").first().waitFor();
  return page;
}

/** For every group: the selected tab, and the versions of the visible section. */
const shown = (page) =>
  page.locator("[data-tabs]").evaluateAll((groups) =>
    groups.map((group) => [
      group.querySelector("[aria-selected=true]").value,
      [...group.querySelectorAll(":scope > section")].filter((panel) => panel.checkVisibility()).map((panel) => panel.dataset.for).join("|"),
    ]),
  );

test("a version that is chosen is chosen in all guides of the target, and stays", { timeout: 60_000 }, async () => {
  const context = await browser.newContext({ serviceWorkers: "block" });
  const page = await guide(context, "hpu/");
  const beside = await guide(context, "lightning-hpu/");
  const other = await guide(context, "xpu/");
  const before = await shown(other);
  assert.ok((await shown(page)).length > 2);
  const group = page.locator("[data-tabs]").nth(1);
  await group.getByRole("tab", { name: "1.8", exact: true }).click();
  const top = await group.boundingBox();
  for (const window of [page, beside]) {
    await window.waitForFunction(() => document.querySelector("[aria-selected=true]").value === "1.8");
    for (const [tab, versions] of await shown(window)) assert.ok(tab === "1.8" && versions.split(" ").includes("1.8"), `${tab}: ${versions}`);
  }
  assert.deepEqual(await shown(other), before);
  assert.ok(top.y > 0 && top.y < 800, "the group that was used is in sight");
  const later = await guide(context, "tensorflow-hpu/");
  assert.equal((await shown(later))[0][0], "1.8");
  assert.equal(await page.evaluate(() => new URLSearchParams(location.search).get("sdk-hpu")), "1.8");
  await context.close();
});

test("the keys of tabs work, each tab names its section", async () => {
  const context = await browser.newContext({ serviceWorkers: "block" });
  const page = await guide(context, "hpu/?sdk-hpu=1.12");
  const group = page.locator("[data-tabs]").first();
  await group.getByRole("tab", { name: "1.12", exact: true }).focus();
  await page.keyboard.press("End");
  const focused = await page.evaluate(() => {
    const { value, id } = document.activeElement;
    const panel = document.getElementById(document.activeElement.getAttribute("aria-controls"));
    return [value, panel.hidden, panel.getAttribute("aria-labelledby") === id, panel.dataset.for.split(" ").includes(value)];
  });
  assert.deepEqual(focused, [(await group.getByRole("tab").last().textContent()), false, true, true]);
  await page.keyboard.press("Home");
  assert.equal((await shown(page)).every(([tab]) => tab === "1.8"), true);
  await context.close();
});

test("without scripts every version is there, and says which it is", async () => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(`${site.address}guides/hpu/`);
  const sections = page.locator("[data-tabs] > section");
  assert.ok((await sections.count()) >= 4);
  for (const section of await sections.all()) {
    assert.equal(await section.isVisible(), true);
    assert.match(await section.locator("figcaption").textContent(), /SDK \d/);
  }
  await context.close();
});
