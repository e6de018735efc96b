// Open work of the page that ports: kept in the browser until it is cleared, and what other apps hand over.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { PortPage, launch } from "./port_page.mjs";
import { root, serve } from "./site.mjs";

let browser, site;
const trainer = readFileSync(join(root, "tests/fixtures/scripts/spectra_trainer.py"), "utf8");

before(async () => {
  [browser, site] = await Promise.all([launch(), serve()]);
});

after(async () => {
  await browser?.close();
  site?.end();
});

async function portPage(context, address = `${site.address}port/`) {
  const page = await context.newPage();
  await page.goto(address);
  await page.locator("#target option").first().waitFor({ state: "attached" });
  return new PortPage(page, context);
}

test("open work outlives the page, with what was refused, until it is cleared", { timeout: 90_000 }, async () => {
  const context = await browser.newContext({ permissions: ["clipboard-read", "clipboard-write"] });
  const first = await portPage(context);
  await first.fill(trainer);
  const all = await first.ported();
  await first.tab("recipes");
  await first.recipes().first().locator("input").uncheck();
  const fewer = await first.summaryOtherThan(all);
  await first.page.locator("#kept", { hasText: "kept in this browser" }).waitFor();
  // The last change waits for a moment of quiet before it is kept.
  await first.keptAsItIs();
  await first.page.close();

  const second = await portPage(context);
  assert.equal(await second.ported(), fewer);
  assert.equal(await second.source(), trainer);
  await second.page.locator("#kept button", { hasText: "Clear it" }).click();
  await second.page.locator("#kept", { hasText: "is gone" }).waitFor();
  // Neither a press that changes nothing nor leaving the page, which the browser tells by hiding it, keeps it again.
  await second.tab("recipes");
  // A timer that is set after the page's own, and for longer, goes off after it.
  await second.page.evaluate(() => new Promise((over) => setTimeout(over, 1000)));
  assert.equal(await second.kept(), undefined);
  await second.page.evaluate(() => {
    Object.defineProperty(document, "visibilityState", { value: "hidden", configurable: true });
    document.dispatchEvent(new Event("visibilitychange", { bubbles: true }));
  });
  assert.equal(await second.kept(), undefined);
  await second.page.close();

  // Asked after the page has, so that it has its answer too.
  const third = await portPage(context);
  assert.equal(await third.kept(), undefined);
  await third.settled();
  assert.equal(await third.source(), "");
  await context.close();
});

test("a link goes before kept work", { timeout: 90_000 }, async () => {
  const context = await browser.newContext();
  const first = await portPage(context);
  await first.fill("import torch\nx = torch.zeros(1).cuda()\n");
  await first.page.locator("#kept", { hasText: "kept in this browser" }).waitFor();
  await first.page.close();
  const guide = readFileSync(join(process.env.PORTOLAN_DIST ?? join(root, "dist"), "guides/hpu/index.html"), "utf8");
  const example = /port\/(#example=[^"]+)"/.exec(guide)[1];
  const second = await portPage(context, `${site.address}port/${example}`);
  await second.ported();
  assert.doesNotMatch(await second.source(), /torch\.zeros\(1\)\.cuda/);
  await context.close();
});

test("files that another app shares are opened", { timeout: 90_000 }, async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`${site.address}guides/`);
  await page.locator("#offline", { hasText: "without a network" }).waitFor();
  // What the browser does when the user shares a file with the installed app.
  await page.evaluate((action) => {
    const form = Object.assign(document.createElement("form"), { method: "post", enctype: "multipart/form-data", action });
    const field = Object.assign(document.createElement("input"), { type: "file", name: "files", id: "shared" });
    form.append(field, Object.assign(document.createElement("button"), { id: "share", textContent: "Share" }));
    document.querySelector("main").prepend(form);
  }, `${site.address}port/share`);
  await page.locator("#shared").setInputFiles({ name: "shared_trainer.py", mimeType: "text/x-python", buffer: Buffer.from(trainer) });
  await page.locator("#share").click();
  await page.waitForURL(/port\/$/);
  const port = new PortPage(page, context);
  await port.ported();
  assert.equal(await port.source(), trainer);
  await context.close();
});
