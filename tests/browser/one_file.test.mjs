// The whole site as one file, opened from disk: guides can be read, a script is ported, and nothing is requested.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { PortPage, launch, untilSource } from "./port_page.mjs";
import { dist, root } from "./site.mjs";

const file = join(dist, "portolan.html");
const address = pathToFileURL(file).href;
const trainer = readFileSync(join(root, "tests/fixtures/scripts/spectra_trainer.py"), "utf8");
let browser;

before(async () => {
  browser = await launch();
});

after(() => browser?.close());

/** The file in a window without a network; requests and errors are recorded. */
async function opened({ fragment = "", ...options } = {}) {
  const context = await browser.newContext({ offline: true, ...options });
  const page = await context.newPage();
  const faults = [];
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
  page.on("request", (request) => /^(?:blob|data):/.test(request.url()) || request.url().startsWith(address) || faults.push(request.url()));
  await page.goto(address + fragment);
  return { page, faults, port: new PortPage(page, context), close: () => context.close() };
}

/** Ids of more than one element. */
const idsTwice = (page) =>
  page.evaluate(() => {
    const ids = [...document.querySelectorAll("[id]")].map(({ id }) => id);
    return ids.filter((id, at) => ids.indexOf(id) !== at);
  });

/** Opens the Port page, like a person, and fills it in. */
async function fillForHpu(page, port) {
  await page.locator(".site-nav").getByRole("link", { name: "Port a script" }).click();
  await page.locator("#sdk:enabled").waitFor({ state: "attached" });
  await port.choose("target", "hpu");
  await port.fill(trainer);
}

test("guides are read from the disk, one at a time, and the way back works", { timeout: 60_000 }, async () => {
  const { page, faults, close } = await opened();
  const heading = () => page.locator("h1:visible").innerText();
  assert.match(await heading(), /Take a training script/);
  await page.locator(".site-nav").getByRole("link", { name: "Guides" }).click();
  assert.equal(await heading(), "Guides");
  await page.locator(".card a:visible").first().click();
  const guide = await heading();
  assert.match(await page.title(), new RegExp(`^${guide.replace(/[()]/g, "\\$&")} –`));
  await page.locator(".contents a:visible").nth(3).click();
  assert.equal(await heading(), guide);
  await page.waitForURL(/#guides\/\w+\/[\w-]+$/);
  await page.goBack();
  await page.goBack();
  assert.equal(await heading(), "Guides");
  await page.reload();
  assert.equal(await heading(), "Guides");
  assert.deepEqual(faults, []);
  await close();
});

test("targets and SDK versions are tabs, as on the site", { timeout: 60_000 }, async () => {
  const { page, faults, close } = await opened();
  const tabs = page.locator("#home\\/ [role=tab]");
  await tabs.first().waitFor();
  const last = tabs.last();
  await last.click();
  assert.equal(await last.getAttribute("aria-selected"), "true");
  assert.equal(await page.locator("#home\\/ [role=tabpanel]:visible").count(), 1);
  assert.deepEqual(faults, []);
  await close();
});

test("what is not in the file is named in its navigation", async () => {
  const { page, faults, close } = await opened();
  // Announced before following the link, in the text too.
  const said = page.locator("a[href='#elsewhere/']", { hasText: /Check a port|CPU reference/ });
  assert.deepEqual(await said.evaluateAll((links) => links.map((link) => getComputedStyle(link, "::after").content)), Array(2).fill('" (not in this file)"'));
  await page.getByRole("link", { name: "Check a port (not in this file)" }).click();
  assert.match(await page.locator("h1:visible").innerText(), /on the site or on the command line/);
  assert.match(await page.locator("main").innerText(), /portolan forward --config/);
  assert.deepEqual(faults, []);
  await close();
});

test("every link inside leads to something", async () => {
  const { page, close } = await opened();
  const lost = await page.evaluate(() => {
    const opens = /^#(?:example=|port$)/;
    const links = [...document.querySelectorAll("a[href]")].map((link) => link.getAttribute("href"));
    const inside = links.filter((to) => !/^(?:https?|data|mailto):/.test(to) && !opens.test(to));
    return inside.filter((to) => !to.startsWith("#") || !document.getElementById(to.slice(1)));
  });
  assert.deepEqual(lost, []);
  assert.deepEqual(await idsTwice(page), []);
  await close();
});

test("a script is ported to HPU from the disk, and the difference is read", { timeout: 90_000 }, async () => {
  const { page, faults, port, close } = await opened();
  await fillForHpu(page, port);
  assert.match(await port.ported(), /^\d+ changes/);
  const { added } = await port.changedLines();
  assert.ok(added.some((line) => /hpu/i.test(line)), added.join("\n"));
  const patch = (await port.download("patch")).bytes.toString();
  assert.match(patch, /^-.*cuda/m);
  assert.match(patch, /^\+.*hpu/m);
  // The link of a change leads to the guide in this same file, and back.
  await page.locator(".site-nav").getByRole("link", { name: "Guides" }).click();
  assert.equal(await page.locator("h1:visible").innerText(), "Guides");
  await page.goBack();
  assert.equal(await port.source(), trainer);
  assert.deepEqual(faults, []);
  await close();
});

test("an example of a guide opens, and so does the sample", { timeout: 90_000 }, async () => {
  const { page, faults, port, close } = await opened({ fragment: "#guides/hpu/" });
  await page.locator("a.try:visible").first().click();
  assert.match(await port.ported(), /change/);
  await port.fill("");
  // The address does not contain what was opened any more, but still the current page.
  await page.waitForFunction(() => location.hash === "#port");
  assert.equal(await page.locator("#source").isVisible(), true);
  await page.getByRole("button", { name: "Sample", exact: true }).click();
  await untilSource(page, (text) => text.length > 1000);
  assert.equal(await port.source(), trainer);
  assert.deepEqual(faults, []);
  await close();
});

test("a user's own guide is read without a network", { timeout: 90_000 }, async () => {
  const { page, faults, port, close } = await opened();
  await fillForHpu(page, port);
  await port.fill("import events\n\nx = events.load_gpu(1)\n");
  await port.settled();
  const guide = '+++\ntitle = "Ours"\ntarget = "hpu"\n+++\n\n## One {#one}\n\nWhy.\n\n```diff rule\n- events.load_gpu($X)\n+ events.load($X)\n```\n';
  await port.chooseFiles([{ name: "ours.md", text: guide }]);
  await page.locator("#own-guides span", { hasText: "ours.md: Ours: 1 recipe for HPU" }).waitFor();
  await page.locator("#summary", { hasText: /^1 change/ }).waitFor();
  assert.deepEqual(faults, []);
  await close();
});

test("launch scripts are written from the disk, with what a port knows of its project", { timeout: 90_000 }, async () => {
  const { page, faults, port, close } = await opened();
  await fillForHpu(page, port);
  await port.ported();
  // It opens next to the port, in the same file.
  const [beside] = await Promise.all([page.waitForEvent("popup"), page.locator("#to-launch").click()]);
  await beside.locator("#field-target").waitFor();
  assert.match(await beside.title(), /^Launch scripts/);
  assert.equal(await beside.locator("#field-target").inputValue(), "hpu");
  assert.equal(await beside.locator("#field-entry").inputValue(), "trainer.py");
  await beside.close();

  // Both programs are in one window, and each finds its own elements.
  await page.locator(".site-nav").getByRole("link", { name: "Launch it" }).click();
  await page.locator("#field-entry").fill("bin/train it.py");
  await page.locator("#field-entry").blur();
  await page.locator("#script:visible", { hasText: "train it.py" }).waitFor();
  assert.match(new URL(page.url()).hash, /^#launch\?.*entry=bin\/train%20it\.py/);
  assert.deepEqual(await idsTwice(page), []);
  await page.locator(".site-nav").getByRole("link", { name: "Port a script" }).click();
  assert.equal(await port.source(), trainer);
  await page.goBack();
  await page.locator("#script:visible", { hasText: "train it.py" }).waitFor();
  await page.reload();
  await page.locator("#script:visible", { hasText: "train it.py" }).waitFor();
  // The reader of site files is in the file too.
  await page.locator("#field-site").selectOption("own");
  await page.locator("#field-site-file").fill("name = 3");
  await page.locator("#problem-site-file", { hasText: "line 1" }).waitFor();
  assert.deepEqual(faults, []);
  await close();
});

test("each view starts where the file is opened at it, and after a reload", { timeout: 60_000 }, async () => {
  for (const [fragment, control] of [["#port", "#target"], ["#launch/", "#field-target"], ["#launch?target=ipu", "#field-target"]]) {
    const { page, faults, close } = await opened({ fragment });
    await page.locator(`${control}:visible`).waitFor();
    await page.reload();
    await page.locator(`${control}:visible`).waitFor();
    assert.deepEqual(faults, []);
    await close();
  }
});

test("the search finds from the disk", { timeout: 60_000 }, async () => {
  const { page, faults, close } = await opened();
  await page.keyboard.press("Control+K");
  await page.getByRole("combobox").fill("GradScaler");
  await page.locator(".search-status", { hasText: "result" }).waitFor();
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => location.hash.length > 1 && document.querySelector(":target"));
  assert.equal(await page.locator("dialog.search").isVisible(), false);
  assert.deepEqual(faults, []);
  await close();
});

test("without scripts it is a book", async () => {
  const { page, close } = await opened({ javaScriptEnabled: false, fragment: "#guides/hpu/" });
  assert.match(await page.locator("h1:visible").innerText(), /HPU/);
  await page.locator(".site-nav").getByRole("link", { name: "Guides" }).click();
  assert.equal(await page.locator("h1:visible").innerText(), "Guides");
  await close();
});
