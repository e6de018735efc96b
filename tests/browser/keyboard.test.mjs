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

/** Presses Tab until the focus is where it should be; everything on the way has to show its focus. */
async function tabTo(page, selector) {
  for (let presses = 0; presses < 80; presses++) {
    await page.keyboard.press("Tab");
    const { there, seen, what } = await page.evaluate((selector) => {
      const at = document.activeElement;
      const style = getComputedStyle(at);
      // The editor's frame shows it for the field inside.
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
  const context = await browser.newContext({ permissions: ["clipboard-read", "clipboard-write"], acceptDownloads: true, serviceWorkers: "block" });
  const page = await context.newPage();
  await page.goto(site.address);
  await tabTo(page, "a.skip");
  await tabTo(page, 'a[href="./port/"]');
  await page.keyboard.press("Enter");
  const port = new PortPage(page, context);
  await page.locator("#sdk:enabled").waitFor({ state: "attached" });
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
  // Tab indents in the editor; Escape leaves it.
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

test("the list of files is a tree that arrow keys walk", { timeout: 90_000 }, async () => {
  const port = await PortPage.open(browser, site.address);
  const { page } = port;
  const module = "import torch\n\n\ndef send(x):\n    return x.cuda()\n";
  const files = ["src/io/read.py", "src/net.py", "train.py"];
  await port.chooseFiles(files.map((name) => ({ name: name.replaceAll("/", "_"), text: module })));
  await port.settled();
  // The browser's dialog returns names without folders, so these are added as a person would.
  await port.showSource();
  for (const name of files) {
    await page.locator(".files .file", { hasText: name.replaceAll("/", "_") }).click();
    await page.locator("#file-name").fill(name);
    await page.locator("#file-name").blur();
    await page.locator(".files .file", { hasText: name.split("/").at(-1) }).first().waitFor();
    await port.settled();
    assert.equal(await page.locator(".files .file:not(.folder)").count(), 3, name);
  }
  const tree = page.getByRole("tree");
  await tree.focus();
  const current = () => page.evaluate(() => {
    const id = document.querySelector("[role=tree]").getAttribute("aria-activedescendant");
    return document.getElementById(id)?.querySelector(".path").textContent.replace(/^\S /, "");
  });
  const press = async (key, expected) => {
    await page.keyboard.press(key);
    await page.waitForFunction((expected) => {
      const id = document.querySelector("[role=tree]").getAttribute("aria-activedescendant");
      return document.getElementById(id)?.querySelector(".path").textContent.endsWith(expected);
    }, expected).catch(async () => assert.equal(await current(), expected, key));
  };
  await press("Home", "src/");
  await press("ArrowDown", "io/");
  await press("ArrowLeft", "io/");
  assert.equal(await page.getByRole("treeitem", { name: /^io/ }).getAttribute("aria-expanded"), "false");
  await press("ArrowDown", "net.py");
  await press("ArrowUp", "io/");
  await press("ArrowRight", "io/");
  await press("ArrowRight", "read.py");
  assert.equal(await page.getByRole("treeitem", { name: /^read\.py/ }).getAttribute("aria-level"), "3");
  // Keys move the selection; Enter shows the file.
  assert.equal(await page.locator("#file-name").inputValue(), "train.py");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelector("#file-name").value === "src/io/read.py");
  await press("End", "train.py");
  const outline = await page.locator(".files .active").evaluate((line) => getComputedStyle(line).outlineStyle);
  assert.notEqual(outline, "none", "the current line shows that it is");
  await page.keyboard.press("Delete");
  await page.locator(".port-notice", { hasText: "Removed train.py" }).waitFor();
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute("role")), "tree");
  assert.deepEqual(port.errors, []);
  await port.close();
});

test("back, forward and reload keep the view and the work", { timeout: 90_000 }, async () => {
  const context = await browser.newContext({ serviceWorkers: "block" });
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
