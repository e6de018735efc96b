// The site's search, by keyboard, as used by a person.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { launch } from "./port_page.mjs";
import { root, serve } from "./site.mjs";

let browser, site;

before(async () => {
  [browser, site] = await Promise.all([launch(), serve()]);
});

after(async () => {
  await browser?.close();
  site?.end();
});

async function open(path = "guides/") {
  const context = await browser.newContext({ serviceWorkers: "block" });
  const page = await context.newPage();
  const requests = [];
  page.on("request", (request) => requests.push(request.url()));
  await page.goto(site.address + path);
  const field = page.getByRole("combobox", { name: "Search guides, recipes and API names" });
  return { context, page, requests, field };
}

/** The results of a query: `group: title`, best first. */
async function results(query) {
  const { context, page, field } = await open();
  await page.keyboard.press("Control+K");
  await field.fill(query);
  await page.locator(".search-status", { hasText: /result|Nothing/ }).waitFor();
  const found = await page.$$eval(".search [role=option]", (options) =>
    options.map((option) => ({
      group: option.parentElement.querySelector("h2").textContent,
      title: option.querySelector("b").textContent,
      marks: [...option.querySelectorAll("mark")].map((mark) => mark.textContent),
    })),
  );
  await context.close();
  return found;
}

async function check(query, group, title) {
  const found = await results(query);
  const hit = found.find((hit) => hit.group === group && hit.title === title);
  assert.ok(hit, `${query}: ${group}, ${title} is not in ${JSON.stringify(found.map((hit) => `${hit.group}: ${hit.title}`))}`);
  assert.ok(hit.marks.length > 0, `${query}: nothing marked`);
}

test("names are found by any end of them, and with typos", async () => {
  await check("torch.cuda.amp.GradScaler", "API names", "torch.cuda.amp.GradScaler");
  await check("amp.GradScaler", "API names", "torch.cuda.amp.GradScaler");
  await check("gradscalr", "API names", "torch.cuda.amp.GradScaler");
  await check("device_count", "API names", "torch.cuda.device_count");
  await check("amp.autcast", "API names", "torch.cuda.amp.autocast");
  await check("torch.cuda.empty_cache", "API names", "torch.cuda.empty_cache");
  // Names that a rule only knows by their module.
  await check("cudnn.benchmark", "API names", "torch.backends.cudnn.benchmark");
  assert.deepEqual(await results("qqqqzzzz"), []);
});

test("what becomes of a name is said with its condition, and on every target alike", async () => {
  const entries = JSON.parse(readFileSync(join(root, "dist/search.json"), "utf8"));
  const fates = (name) => Object.fromEntries(entries.find((entry) => entry.title === name && entry.group === "API names").text.split("\n").map((line) => line.split(/: (.*)/)));
  const scaler = fates("torch.amp.GradScaler");
  assert.match(scaler.HPU, /removed if unused, torch\.amp\.GradScaler\("hpu", enabled=False\)/);
  assert.match(scaler.XPU, /torch\.amp\.GradScaler\("xpu", enabled=False\) {2}# precision=bfloat16/);
  assert.match(scaler.XPU, /torch\.amp\.GradScaler\("xpu"\) {2}# precision=float16/);
  assert.doesNotMatch(fates("torch.cuda.amp.autocast").HPU, /rewritten, rewritten/);
  assert.match(fates("torch.cuda.amp.GradScaler").IPU, /removed if unused, torch\.cuda\.amp\.GradScaler\(enabled=False\)/);
});

test("a dotted name finds at least what its last part finds, the exact one first", async () => {
  const [short, long] = [await results("empty_cache"), await results("torch.cuda.empty_cache")];
  assert.equal(long[0].title, "torch.cuda.empty_cache");
  const named = (hits) => hits.filter((hit) => hit.group === "Recipes").map((hit) => hit.title);
  assert.ok(named(short).length > 0, "no recipe is found");
  for (const title of named(short)) assert.ok(named(long).includes(title), `${title} is not in ${JSON.stringify(named(long))}`);
});

test("what is marked are whole words", async () => {
  const found = await results("Expected all tensors to be on the same device, but found at least two devices, hpu:0 and cpu!");
  assert.ok(found.length > 0);
  const { context, page, field } = await open();
  await page.keyboard.press("Control+K");
  await field.fill("Expected all tensors to be on the same device, but found at least two devices, hpu:0 and cpu!");
  await page.locator(".search-status", { hasText: /result/ }).waitFor();
  const inside = await page.$$eval(".search mark", (marks) =>
    marks.filter((mark) => /[a-z]$/.test(mark.previousSibling?.textContent ?? "") || /^[a-z]/.test(mark.nextSibling?.textContent ?? "")).map((mark) => mark.parentElement.textContent));
  assert.deepEqual(inside, []);
  await context.close();
});

test("recipes and prose are found by their words", async () => {
  const recipes = await results("poptorch inference model");
  assert.ok(recipes.some((hit) => hit.group === "Recipes"), JSON.stringify(recipes));
  const prose = await results("fence info string");
  assert.ok(prose.some((hit) => hit.group === "Guides"), JSON.stringify(prose));
});

test("a message that is pasted leads to its section, and to few others", async () => {
  for (const [message, title] of [
    ["train.py:12:5: warning[engine#residue] `.cuda()` remains and needs an NVIDIA GPU. Remove it, or use `.to(device)`", "References to CUDA remain"],
    [
      "RuntimeError: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU and installed a driver from http://www.nvidia.com/Download/index.aspx",
      "References to CUDA remain",
    ],
    [
      "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, hpu:0 and cpu! (when checking argument for argument mat1 in method wrapper_CUDA_addmm)",
      "Move models and tensors with to",
    ],
    ["AttributeError: module 'torch' has no attribute 'hpu'", "Load the bridge after its mode is set"],
    ["AttributeError: module 'torch' has no attribute 'xpu'", "Import the extension"],
    ["No module named habana_frameworks", "Load the bridge after its mode is set"],
    ["ModuleNotFoundError: No module named 'habana_frameworks'", "Load the bridge after its mode is set"],
    ["ModuleNotFoundError: No module named 'habana_frameworks.torch'", "Load the bridge after its mode is set"],
    ["ModuleNotFoundError: No module named 'intel_extension_for_pytorch'", "Import the extension"],
    ["ModuleNotFoundError: No module named 'poptorch'", "Keep the PyTorch that PopTorch was built for"],
    ["ModuleNotFoundError: No module named 'sambaflow'", "Import SambaFlow where it is installed"],
    [
      "RuntimeError: Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False. If you are running on a CPU-only machine, please use torch.load with map_location=torch.device('cpu') to map your storages to the CPU.",
      "Load checkpoints onto the right device",
    ],
    ["a.py:3:1: error: this is not Python: `def f(:`, or a form of it that the parser lacks. The file is left unchanged", "The file is not Python"],
  ]) {
    const found = await results(message);
    assert.ok(found.length <= 6, `${found.length} places`);
    assert.ok(found.some((hit) => hit.title.includes(title)), `${message}: ${JSON.stringify(found.map((hit) => hit.title))}`);
  }
});

test("a message that no guide knows finds nothing, and it is said where to look", async () => {
  const { context, page, field } = await open();
  await page.keyboard.press("Control+K");
  await field.fill("frobnicator: could not grobble the quux of this wibble, for it is in the way");
  await page.locator(".search-status", { hasText: "Nothing found" }).waitFor();
  assert.equal(await page.locator(".search [role=option]").count(), 0);
  await page.locator(".search-advice").getByRole("link", { name: "Port the script" }).waitFor();
  await field.fill("ModuleNotFoundError: No module named 'quux'");
  await page.locator(".search-status", { hasText: "Nothing found for “Mod" }).waitFor();
  await context.close();
});

test("by keyboard: open, choose, follow, and the index is fetched by the first search only", async () => {
  const { context, page, requests, field } = await open();
  assert.ok(!requests.some((url) => /search|minisearch/.test(url)), "nothing is fetched before");
  await page.keyboard.press("/");
  await field.waitFor();
  assert.equal(await field.evaluate((field) => field === document.activeElement), true);
  await page.keyboard.type("amp.GradScaler");
  await page.locator(".search-status", { hasText: "result" }).waitFor();
  const active = () => field.getAttribute("aria-activedescendant");
  const first = await active();
  await page.keyboard.press("ArrowDown");
  assert.notEqual(await active(), first);
  await page.keyboard.press("ArrowUp");
  assert.equal(await active(), first);
  await page.keyboard.press("Enter");
  await page.waitForURL(/apis\/#torch\.(cuda\.)?amp\.GradScaler/);
  await context.close();
});

test("Escape closes and gives the focus back; the / key can be turned off", async () => {
  const { context, page, requests, field } = await open();
  const button = page.getByRole("button", { name: "Search" });
  await button.focus();
  await page.keyboard.press("Enter");
  await field.waitFor();
  await page.getByLabel("The / key opens this search").uncheck();
  await page.keyboard.press("Escape");
  assert.equal(await field.isVisible(), false);
  assert.equal(await button.evaluate((button) => button === document.activeElement), true);
  await page.reload();
  requests.length = 0;
  await page.evaluate(() => addEventListener("keydown", ({ key, defaultPrevented }) => (window.pressed = { key, defaultPrevented })));
  await page.keyboard.press("/");
  assert.deepEqual(await page.evaluate(() => window.pressed), { key: "/", defaultPrevented: false });
  assert.ok(!requests.some((url) => /search/.test(url)), "the key is left alone");
  assert.equal(await field.count(), 0);
  await page.keyboard.press("Control+K");
  await field.waitFor();
  await context.close();
});

test("the / key writes a slash where one types", async () => {
  const { context, page, field } = await open("apis/");
  const words = page.getByRole("searchbox").first();
  await words.focus();
  await page.keyboard.press("/");
  assert.equal(await words.inputValue(), "/");
  assert.equal(await field.count(), 0);
  await context.close();
});

test("the engine of the search is the released one, byte for byte", () => {
  const released = readFileSync(join(root, "tests/browser/node_modules/minisearch/dist/es/index.js"));
  assert.ok(released.equals(readFileSync(join(root, "app/site/vendor/minisearch-7.2.0.js"))));
});

test("a list that is narrowed forgives a slip, and says so", async () => {
  const page = await browser.newPage({ serviceWorkers: "block" });
  await page.goto(`${site.address}apis/`);
  const field = page.getByLabel("Find names");
  const status = page.locator("form.filter [role=status]");
  const shown = () => page.locator(".apis tbody tr:visible th").allTextContents();
  await field.fill("amp.gradscaller");
  await status.filter({ hasText: "spelled similarly" }).waitFor();
  assert.ok((await shown()).includes("torch.cuda.amp.GradScaler"), String(await shown()));
  await field.fill("amp.GradScaler");
  await status.filter({ hasNotText: "nearly" }).waitFor();
  assert.ok((await shown()).every((name) => name.includes("amp.GradScaler")));
  for (const nothing of ["@", "zzzzzzzz"]) {
    await field.fill(nothing);
    await status.filter({ hasText: "No name matches" }).waitFor();
    await field.fill("amp.GradScaler");
    await status.filter({ hasNotText: "No name matches" }).waitFor();
  }
  await field.fill("zzzzzzzz");
  await status.filter({ hasText: "No name matches" }).waitFor();
  assert.deepEqual(await shown(), []);
  await page.close();
});
