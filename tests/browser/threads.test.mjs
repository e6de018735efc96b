// The network on several threads: isolated by the server, by the service worker on a plain static host, and not at all.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { launch } from "./port_page.mjs";
import { root, serve, withoutNetwork } from "./site.mjs";

// Not the machine's own number: the test is the same on each, and on some there are more threads than processors.
const PROCESSORS = 3;

const golden = readFileSync(join(root, "tests/fixtures/uresnet/d_convdown_convup.safetensors"));
const config = JSON.parse(readFileSync(join(root, "tests/fixtures/uresnet/d_convdown_convup.json"))).config;

let browser, plain, isolated;

before(async () => {
  [browser, plain, isolated] = await Promise.all([launch(), serve(), serve(undefined, undefined, { isolated: true })]);
});

after(async () => {
  await browser?.close();
  plain?.end();
  isolated?.end();
});

/** A page with a form, in a browser with this many processors. Its errors are failures. */
async function onPage(site, fragment, body, serviceWorkers = "block") {
  const context = await browser.newContext({ acceptDownloads: true, serviceWorkers });
  const page = await context.newPage();
  const errors = [];
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  const client = await context.newCDPSession(page);
  await client.send("Emulation.setHardwareConcurrencyOverride", { hardwareConcurrency: PROCESSORS });
  await page.goto(`${site.address}check/${fragment}`);
  await page.locator("#run").waitFor();
  try {
    await body(page, context);
    assert.deepEqual(errors, []);
  } finally {
    await context.close();
  }
}

const said = (page, pattern) =>
  page.waitForFunction((pattern) => new RegExp(pattern).test(document.querySelector("#said").textContent), pattern);

/** Runs the form; resolves to the number of threads that were used. */
async function run(page) {
  await page.locator("#run").click();
  await said(page, "^Done");
  const fact = page.locator("#statistics dl div", { has: page.locator("dt", { hasText: /^Threads$/ }) });
  return Number(await fact.locator("dd").textContent());
}

async function reference(page) {
  const [download] = await Promise.all([page.waitForEvent("download"), page.locator("#bundle").click()]);
  return readFileSync(await download.path());
}

const offered = (page) => page.locator("#threads option").allTextContents();

test("the same bits with one thread and with several", { timeout: 120_000 }, async () => {
  const fragment = "#depth=3&height=64&width=96&seed=3&event=5&stages=all";
  let alone;
  await onPage(plain, fragment, async (page) => {
    assert.deepEqual(await offered(page), ["1"]);
    assert.match(await page.locator("#why-threads").textContent(), /^Only one[: ]/);
    assert.equal(await run(page), 1);
    alone = await reference(page);
    assert.ok(alone.length > 1e6, "weights, logits and what every module gave");
  });
  await onPage(isolated, fragment, async (page) => {
    assert.deepEqual(await offered(page), ["1", "2", "3"]);
    assert.match(await page.locator("#why-threads").textContent(), /can run 3 threads at once/);
    for (const threads of [3, 2, 1]) {
      await page.locator("#threads").selectOption(String(threads));
      assert.equal(await run(page), threads);
      assert.ok(alone.equals(await reference(page)), `${threads} threads give other bits`);
    }
  });
});

test("files, their faults and a comparison with threads", { timeout: 120_000 }, async () => {
  const fragment = "#" + new URLSearchParams({ ...config, height: 32, width: 48, weights: "file", input: "file" });
  await onPage(isolated, fragment, async (page) => {
    const choose = (name, buffer) =>
      page.locator(`#file-${name}`).setInputFiles({ name: `${name}.safetensors`, mimeType: "", buffer });
    await choose("weights", golden.subarray(0, 5000));
    await choose("input", golden);
    await page.locator("#run").click();
    await page.locator("#fault-file-weights", { hasText: "incomplete or damaged safetensors file" }).waitFor();
    await choose("weights", golden);
    assert.equal(await run(page), PROCESSORS);
    await choose("candidate", golden);
    await said(page, "^Compared");
    assert.match(await page.locator("#verdict").textContent(), /^PASS/);
  });
});

test("a run on threads is cancelled, and the next one runs", { timeout: 120_000 }, async () => {
  await onPage(isolated, "#preset=uresnet&height=640&width=1024", async (page) => {
    await page.locator("#run").click();
    await page.locator("#step", { hasText: /step \d+ of/ }).waitFor();
    await page.locator("#cancel").click();
    await said(page, "^Cancelled");
    await page.evaluate(() => (location.hash = "#depth=2&height=32&width=64"));
    await page.waitForFunction(() => document.querySelector("#f-height").value === "32");
    assert.equal(await run(page), PROCESSORS);
  });
});

test("on a plain static host the service worker isolates the page, and no other", { timeout: 120_000 }, async () => {
  const body = async (page, context) => {
    assert.deepEqual(await offered(page), ["1"]);
    await page.locator("#why-threads button").click();
    await page.locator("#threads option").nth(2).waitFor({ state: "attached" });
    assert.equal(await page.evaluate(() => crossOriginIsolated), true);
    assert.equal(await page.evaluate(() => location.hash), "#depth=2&height=32&width=64");
    // Without a network the scripts that were never requested are missing, and one thread is used.
    await withoutNetwork(context, plain, async () => assert.equal(await run(page), 1));
    await page.reload();
    assert.equal(await run(page), PROCESSORS);
    // Once requested they are cached.
    await withoutNetwork(context, plain, async () => {
      await page.reload();
      assert.equal(await run(page), PROCESSORS);
      await page.goto(`${plain.address}port/`);
      assert.equal(await page.evaluate(() => crossOriginIsolated), false);
    });
  };
  await onPage(plain, "#depth=2&height=32&width=64", body, "allow");
});
