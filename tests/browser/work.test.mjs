// Open work on the Port page: stored in the browser until it is cleared, and input from other apps.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { PortPage, launch, untilSource } from "./port_page.mjs";
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
  await page.locator("#sdk:enabled").waitFor({ state: "attached" });
  return new PortPage(page, context);
}

test("open work outlives the page, with what was refused, until it is cleared", { timeout: 90_000 }, async () => {
  const context = await browser.newContext({ permissions: ["clipboard-read", "clipboard-write"], serviceWorkers: "block" });
  const first = await portPage(context);
  await first.fill(trainer);
  const all = await first.ported();
  await first.tab("recipes");
  await first.recipes().first().locator("input").uncheck();
  const fewer = await first.summaryOtherThan(all);
  await first.page.locator("#kept", { hasText: "saved in this browser" }).waitFor();
  // The last change is only saved after a pause.
  await first.keptAsItIs();
  await first.page.close();

  const second = await portPage(context);
  assert.equal(await second.ported(), fewer);
  assert.equal(await second.source(), trainer);
  await second.page.locator("#kept button", { hasText: "Delete the saved copy" }).click();
  await second.page.locator("#kept", { hasText: "Saved copy deleted" }).waitFor();
  // Neither a key press that changes nothing nor leaving the page, which the browser reports as hiding it, saves it
  // again.
  await second.tab("recipes");
  // A timer that is set after the page's own, and for longer, fires after it.
  await second.page.evaluate(() => new Promise((over) => setTimeout(over, 1000)));
  assert.equal(await second.kept(), undefined);
  await second.page.evaluate(() => {
    Object.defineProperty(document, "visibilityState", { value: "hidden", configurable: true });
    document.dispatchEvent(new Event("visibilitychange", { bubbles: true }));
  });
  assert.equal(await second.kept(), undefined);
  await second.page.close();

  // Requested after the page's request, so that the page has its answer too.
  const third = await portPage(context);
  assert.equal(await third.kept(), undefined);
  await third.settled();
  assert.equal(await third.source(), "");
  await context.close();
});

test("a link goes before kept work", { timeout: 90_000 }, async () => {
  const context = await browser.newContext({ serviceWorkers: "block" });
  const first = await portPage(context);
  await first.fill("import torch\nx = torch.zeros(1).cuda()\n");
  await first.page.locator("#kept", { hasText: "saved in this browser" }).waitFor();
  await first.page.close();
  const guide = readFileSync(join(process.env.PORTOLAN_DIST ?? join(root, "dist"), "guides/hpu/index.html"), "utf8");
  const example = /port\/(#example=[^"]+)"/.exec(guide)[1];
  const second = await portPage(context, `${site.address}port/${example}`);
  await second.ported();
  assert.doesNotMatch(await second.source(), /torch\.zeros\(1\)\.cuda/);
  await context.close();
});

/** The page once the address does not contain what was opened any more. */
const withoutFragment = (page) => page.waitForFunction(() => location.hash === "" && !location.href.includes("#"));

/** A guide's examples, as fragments that open them. */
const examples = () => {
  const guide = readFileSync(join(process.env.PORTOLAN_DIST ?? join(root, "dist"), "guides/hpu/index.html"), "utf8");
  return [...guide.matchAll(/port\/(#example=[^"]+)"/g)].map((match) => match[1]);
};

const own = "import torch\nmine = torch.zeros(1).cuda()\n";

/** A browser in which `own`, ported to the IPU, is saved. */
async function withOwn() {
  const context = await browser.newContext({ permissions: ["clipboard-read", "clipboard-write"], serviceWorkers: "block" });
  const port = await portPage(context);
  await port.fill(own);
  await port.ported();
  await port.choose("target", "ipu");
  await port.keptAsItIs();
  await port.page.close();
  return context;
}

test("what is done after a link was copied or opened is there after a reload", { timeout: 90_000 }, async () => {
  const context = await browser.newContext({ permissions: ["clipboard-read", "clipboard-write"], serviceWorkers: "block" });
  const first = await portPage(context);
  await first.fill(trainer);
  await first.ported();
  const link = await first.share();
  assert.equal(first.page.url(), link);
  await first.page.reload();
  const all = await first.ported();
  assert.equal(await first.page.locator(".port-notice").count(), 0, "the link holds what is kept");
  const longer = `${trainer}later = torch.zeros(1).cuda()\n`;
  await first.fill(longer);
  await withoutFragment(first.page);
  const more = await first.summaryOtherThan(all);
  await first.keptAsItIs();
  await first.page.reload();
  assert.equal(await first.ported(), more);
  assert.equal(await first.source(), longer);
  await first.page.close();

  // The same for a link that is opened, and for a refusal.
  const second = await portPage(context, link);
  assert.equal(await second.ported(), all);
  await second.page.locator(".changes .reject").first().click();
  await withoutFragment(second.page);
  const fewer = await second.summaryOtherThan(all);
  await second.keptAsItIs();
  await second.page.reload();
  assert.equal(await second.ported(), fewer);
  await context.close();
});

test("what a link, an example or the sample replaces can be brought back", { timeout: 120_000 }, async () => {
  const elsewhere = await browser.newContext({ permissions: ["clipboard-read", "clipboard-write"], serviceWorkers: "block" });
  const sender = await portPage(elsewhere);
  await sender.fill(trainer);
  await sender.ported();
  const link = new URL(await sender.share()).hash;
  await elsewhere.close();

  const context = await withOwn();
  for (const fragment of [link, examples()[0], ""]) {
    const port = await portPage(context, `${site.address}port/${fragment}`);
    if (fragment === "") {
      await port.ported();
      await port.page.getByRole("button", { name: "Sample", exact: true }).click();
    }
    await port.page.locator(".port-notice", { hasText: "Restore previous project" }).waitFor();
    await port.ported();
    assert.notEqual(await port.source(), own);
    await port.page.getByRole("button", { name: "Restore previous project" }).click();
    await withoutFragment(port.page);
    await port.ported();
    assert.equal(await port.source(), own);
    assert.equal(await port.page.locator("#target").inputValue(), "ipu");
    await port.keptAsItIs();
    await port.page.close();
  }
  await context.close();
});

test("several examples, an edit and a reload leave the former project where it is, until it is cleared", { timeout: 120_000 }, async () => {
  const context = await withOwn();
  const port = await portPage(context, `${site.address}port/${examples()[0]}`);
  await port.ported();
  await port.page.evaluate((next) => void (location.hash = next), examples()[1]);
  await port.page.locator(".port-notice", { hasText: "Opened the guide’s example." }).waitFor();
  await port.ported();
  const edited = `${await port.source()}# edited\n`;
  await port.fill(edited);
  await withoutFragment(port.page);
  await port.keptAsItIs();
  await port.page.reload();
  await port.ported();
  assert.equal(await port.source(), edited);
  const back = port.page.getByRole("button", { name: "Previous project" });
  await back.click();
  await untilSource(port.page, own);
  assert.equal(await port.page.locator("#target").inputValue(), "ipu");
  // And vice versa: the edited work is now the previous one.
  await back.click();
  await untilSource(port.page, edited);
  await port.page.locator("#kept button", { hasText: "Delete the saved copy" }).click();
  await back.waitFor({ state: "detached" });
  await port.fill(`${edited}# more\n`);
  await port.keptAsItIs();
  await port.page.reload();
  await port.ported();
  assert.equal(await back.count(), 0);
  await context.close();
});

test("an address that names a target, or nothing, leaves the kept work open", { timeout: 90_000 }, async () => {
  const context = await withOwn();
  const check = async (fragment, target, notice) => {
    const port = await portPage(context, `${site.address}port/${fragment}`);
    const said = port.page.locator(".port-notice.bad");
    if (notice) await said.filter({ hasText: notice }).waitFor();
    await port.ported();
    assert.equal(await port.source(), own, fragment);
    assert.equal(await port.page.locator("#target").inputValue(), target, fragment);
    if (!notice) assert.equal(await said.count(), 0, fragment);
    const sdk = await port.page.locator("#sdk").inputValue();
    await port.page.close();
    return sdk;
  };
  await check("#nonsense", "ipu", "does not name anything");
  await check("#target=abacus", "ipu", "no target “abacus”");
  await check("#matrix", "ipu");
  await check("#s=AAAA", "ipu", "can't be opened");
  assert.equal(await check("#target=hpu&sdk=1.8&entry=train.py", "hpu"), "1.8");
  await context.close();
});

test("files that another app shares are opened once the reader agrees", { timeout: 90_000 }, async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`${site.address}guides/`);
  await page.locator("#offline", { hasText: "Available offline" }).waitFor();
  // What the browser does if the user shares a file with the installed app.
  await page.evaluate((action) => {
    const form = Object.assign(document.createElement("form"), { method: "post", enctype: "multipart/form-data", action });
    const field = Object.assign(document.createElement("input"), { type: "file", name: "files", id: "shared" });
    form.append(field, Object.assign(document.createElement("button"), { id: "share", textContent: "Share" }));
    document.querySelector("main").prepend(form);
  }, `${site.address}port/share`);
  await page.locator("#shared").setInputFiles({ name: "shared_trainer.py", mimeType: "text/x-python", buffer: Buffer.from(trainer) });
  await page.locator("#share").click();
  await page.waitForURL(/port\/$/);
  await page.locator("#arrived", { hasText: "shared_trainer.py" }).getByText("Open", { exact: true }).click();
  const port = new PortPage(page, context);
  await port.ported();
  assert.equal(await port.source(), trainer);
  await context.close();
});
