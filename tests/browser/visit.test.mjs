// A visit of the whole site: nothing leaves the origin, and no page breaks its own policy.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { PortPage, launch } from "./port_page.mjs";
import { dist, pages, root, serve } from "./site.mjs";

const command = ["debug", "release"].map((kind) => join(root, "target", kind, "portolan")).find(existsSync);

let browser, site;

before(async () => {
  [browser, site] = await Promise.all([launch(), serve()]);
});

after(async () => {
  await browser?.close();
  site?.end();
});

test("every page states a policy that keeps everything at home", () => {
  for (const path of [...pages.map((path) => `${path}index.html`), "404.html"]) {
    const html = readFileSync(join(dist, path), "utf8");
    const policy = /<meta http-equiv="Content-Security-Policy" content="([^"]+)">/.exec(html)?.[1] ?? "";
    for (const part of ["default-src 'self'", "connect-src 'self'", "require-trusted-types-for 'script'"]) {
      assert.ok(policy.includes(part), `${path}: ${part}`);
    }
    assert.ok(!/unsafe-eval'(?<!wasm-unsafe-eval')|script-src[^;]*unsafe-inline/.test(policy), path);
    assert.ok(html.indexOf("Content-Security-Policy") < html.search(/<(script|link|style)\b/), `${path}: policy first`);
    const written = [...html.matchAll(/<script(?![^>]*\ssrc=)(?![^>]*application\/ld\+json)[^>]*>([^]*?)<\/script>/g)];
    const hashes = written.map(([, text]) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`);
    assert.deepEqual(hashes, policy.match(/'sha\d+-[^']+'/g), `${path}: the one script in the page is the one it allows`);
    assert.equal(hashes.length, 1, path);
    assert.doesNotMatch(html, /<style\b|\son[a-z]+="/, path);
  }
});

test("a whole visit stays on the site and breaks no policy", { timeout: 180_000 }, async () => {
  const context = await browser.newContext();
  const requests = [];
  const broken = [];
  // Workers and the service worker are part of the visit: the context sees their requests too.
  context.on("request", (request) => requests.push(request.url()));
  await context.exposeBinding("policyBroken", (_, what) => void broken.push(what));
  await context.addInitScript(() => {
    addEventListener("securitypolicyviolation", (event) =>
      window.policyBroken(`${location.pathname}: ${event.effectiveDirective} ${event.blockedURI} ${event.sample}`),
    );
  });
  const page = await context.newPage();
  page.on("console", (message) => message.type() === "error" && broken.push(`${page.url()}: ${message.text()}`));
  page.on("pageerror", (error) => broken.push(`${page.url()}: ${error}`));
  // An idle page has finished loading when it says so in a line; pages with a program when their controls exist.
  const programs = { "port/": "#sdk:enabled", "launch/": "#field-target", "check/": "#run" };
  for (const path of pages) {
    await page.goto(site.address + path);
    await page.locator("#offline", { hasText: "Available offline" }).waitFor();
    if (path in programs) await page.locator(programs[path]).first().waitFor({ state: "attached" });
  }
  const port = new PortPage(page, context);
  await page.goto(`${site.address}port/`);
  await page.locator("#sdk:enabled").waitFor({ state: "attached" });
  await port.fill(readFileSync(join(root, "tests/fixtures/scripts/spectra_trainer.py"), "utf8"));
  await port.ported();
  for (const name of ["recipes", "changes"]) await port.tab(name);
  await context.close();
  assert.ok(requests.length > pages.length);
  const home = new URL(site.address).origin;
  const local = (url) => url.startsWith(`${home}/`) || url.startsWith("blob:") || url.startsWith("data:");
  assert.deepEqual(requests.filter((url) => !local(url)), []);
  assert.deepEqual(broken, []);
});

test("what is not the site's own markup, or a script from elsewhere, is refused", async () => {
  const page = await browser.newPage({ serviceWorkers: "block" });
  await page.goto(site.address);
  const outcome = (body) => page.evaluate(body).then(String, (error) => `refused: ${error.message.split("\n")[0]}`);
  assert.match(
    await outcome(() => (document.body.insertAdjacentHTML("beforeend", "<img src=x onerror=alert(1)>"), "done")),
    /refused/,
  );
  assert.match(await outcome(() => (new Worker("https://example.org/x.js"), "done")), /refused/);
  // Later, because code evaluated by a debugger may call eval itself.
  const later = () => new Promise((done, fail) => setTimeout(() => { try { done(eval("'done'")); } catch (error) { fail(error); } }));
  assert.match(await outcome(later), /refused/);
  assert.match(await outcome(() => fetch("https://example.org/").then(() => "done")), /refused/);
  assert.equal(await outcome(() => (document.body.insertAdjacentHTML("beforeend", "<b>x</b>"), "done")), "done");
  await page.close();
});

test("a first visit of a guide asks for little", async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  const asked = [];
  page.on("request", (request) => asked.push(request.url().slice(site.address.length)));
  await page.goto(`${site.address}guides/hpu/`);
  await page.locator("#offline", { hasText: "Available offline" }).waitFor();
  // The page, its style, and what is loaded after painting; the browser itself adds the manifest and its icon.
  assert.ok(asked.length <= 3, asked.join("\n"));
  assert.deepEqual(asked.filter((path) => !/^guides\/hpu\/$|\.css$|\.js$/.test(path)), []);
  await context.close();
});

test("a page of the live preview has its controls and is not kept", { timeout: 60_000 }, async () => {
  assert.ok(command, "target/ has no portolan; build the command first");
  const folder = mkdtempSync(join(tmpdir(), "portolan-"));
  mkdirSync(join(folder, "guides"));
  writeFileSync(join(folder, "guides/t.md"), '+++\ntitle = "T"\n+++\nText.\n');
  const preview = spawn(command, ["site", "serve", "--port", "0", "--watch"], { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
  const gone = new Promise((end) => preview.once("exit", end));
  const context = await browser.newContext();
  try {
    let address;
    for await (const line of createInterface(preview.stdout)) {
      address = /http:\S+/.exec(line)?.[0];
      if (address) break;
    }
    const page = await context.newPage();
    await page.goto(`${address}guides/t/`);
    const theme = page.locator("#theme");
    await theme.click();
    assert.match(await theme.textContent(), /light/);
    // Where the site is cached, an earlier idle moment makes it installable, before it registers anything.
    await page.evaluate(() => new Promise((rest) => requestIdleCallback(rest, { timeout: 5000 })));
    const kept = async () => [document.querySelectorAll("link[rel=manifest]").length, (await navigator.serviceWorker.getRegistrations()).length];
    assert.deepEqual(await page.evaluate(kept), [0, 0]);
    await page.goto(`${site.address}guides/hpu/`);
    await page.locator("#offline").waitFor();
    assert.deepEqual(await page.evaluate(kept), [1, 1]);
  } finally {
    preview.kill();
    await Promise.all([gone, context.close()]);
    rmSync(folder, { recursive: true, force: true });
  }
});
