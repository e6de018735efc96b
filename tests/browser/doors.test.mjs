// The ways by which another site, another app or a link reaches the pages: nothing replaces the reader's work unasked, and nothing runs.
// docs/robustness.md has the table.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { PortPage, launch, untilSource } from "./port_page.mjs";
import { serve, withoutNetwork } from "./site.mjs";

let browser, site, foreign;
const mine = "import torch\nmine = torch.zeros(2).cuda()\n";
const planted = "import torch\nplanted = torch.zeros(1).cuda()\n";

/** A page of another origin. */
const pages = new Map();
const foreignServer = createServer((request, response) => {
  const { html, headers = {} } = pages.get(request.url) ?? { html: "" };
  response.writeHead(200, { "content-type": "text/html; charset=utf-8", ...headers }).end(html);
});

before(async () => {
  [browser, site] = await Promise.all([launch(), serve()]);
  await new Promise((go) => foreignServer.listen(0, "127.0.0.1", go));
  foreign = `http://localhost:${foreignServer.address().port}`;
});

after(async () => {
  await browser?.close();
  site?.end();
  foreignServer.closeAllConnections();
  foreignServer.close();
});

/** A browser with the site's service worker and the reader's own work, open in `port`. */
async function withWork() {
  const context = await browser.newContext();
  const page = await context.newPage();
  const errors = [];
  context.on("page", (page) => page.on("pageerror", (error) => errors.push(String(error))));
  page.on("pageerror", (error) => errors.push(String(error)));
  await page.goto(`${site.address}port/`);
  await page.locator("#offline", { hasText: "Available offline" }).waitFor();
  const port = new PortPage(page, context);
  await port.fill(mine);
  await port.ported();
  await port.keptAsItIs();
  return { context, port, page, errors };
}

/** A form that sends a text as the share sheet does, as soon as the page is open. */
const form = (text, before = "") =>
  `<form id=f method=post enctype="multipart/form-data" action="${site.address}port/share"><textarea name=text>${text}</textarea></form><script>${before}f.submit()</script>`;

const arrived = (page) => page.locator("#arrived");

test("a form of another site plants nothing", { timeout: 90_000 }, async () => {
  const { context, page, errors } = await withWork();
  pages.set("/plain", { html: form(planted) });
  await page.goto(`${foreign}/plain`);
  await page.waitForURL(/\/port\/$/);
  await untilSource(page, mine);
  assert.equal(await arrived(page).count(), 0);
  assert.deepEqual(await page.evaluate(async () => (await caches.keys()).filter((name) => name.includes("shared"))), []);
  assert.deepEqual(errors, []);
  await context.close();
});

test("what hides its origin is shown, and opened only if the reader agrees", { timeout: 180_000 }, async () => {
  const { context, page, errors } = await withWork();
  pages.set("/hidden", { html: form(planted), headers: { "referrer-policy": "no-referrer" } });
  await page.goto(`${foreign}/hidden`);
  await arrived(page).waitFor();
  await untilSource(page, mine);
  const said = await arrived(page).locator("p").textContent();
  assert.match(said, /^Another app or page has sent shared\.py \(1 KiB\)\. Opening replaces the open project/);
  await arrived(page).getByText("Discard").click();
  await page.reload();
  await untilSource(page, mine);
  assert.equal(await arrived(page).count(), 0, "it is gone");
  await page.goto(`${foreign}/hidden`);
  await arrived(page).getByText("Open", { exact: true }).click();
  await untilSource(page, planted);
  await page.locator(".port-notice button", { hasText: "Restore previous project" }).click();
  await untilSource(page, mine);
  // More than the page opens is not stored.
  pages.set("/large", { html: form("", `f.text.value = "x".repeat(33 * 2 ** 20);`), headers: { "referrer-policy": "no-referrer" } });
  await page.goto(`${foreign}/large`, { waitUntil: "commit" });
  await arrived(page).locator("p", { hasText: "larger than 32 MiB" }).waitFor({ timeout: 90_000 });
  assert.deepEqual(errors, []);
  await context.close();
});

test("a file of the file manager replaces open work only if the reader agrees", { timeout: 90_000 }, async () => {
  const context = await browser.newContext({ serviceWorkers: "block" });
  const page = await context.newPage();
  // The browser's own only works in an installed app.
  await page.addInitScript(() => {
    const queue = { setConsumer: (take) => (window.openedWith = take) };
    Object.defineProperty(window, "launchQueue", { value: queue });
  });
  await page.goto(`${site.address}port/`);
  await page.waitForFunction(() => window.openedWith);
  const open = (text) =>
    page.evaluate((text) => void window.openedWith({ files: [{ getFile: async () => new File([text], "a.py") }] }), text);
  await open(mine);
  await untilSource(page, mine);
  await new PortPage(page, context).ported();
  await open(planted);
  await arrived(page).waitFor();
  await untilSource(page, mine);
  await arrived(page).getByText("Open", { exact: true }).click();
  await untilSource(page, planted);
  await context.close();
});

test("a page that has opened this one can only send links, which displace no own work", { timeout: 90_000 }, async () => {
  const { context, page, errors } = await withWork();
  const link = async (text) => {
    const other = await browser.newContext({ permissions: ["clipboard-read", "clipboard-write"], serviceWorkers: "block" });
    const from = new PortPage(await other.newPage(), other);
    await from.page.goto(`${site.address}port/`);
    await from.page.locator("#source").waitFor();
    await from.fill(text);
    await from.ported();
    const link = await from.share();
    await other.close();
    return link;
  };
  const [one, two] = [await link(planted), await link(`${planted}more = 1\n`)];
  pages.set("/opener", { html: "<button id=b>open</button>" });
  await page.goto(`${foreign}/opener`);
  await page.evaluate((address) => (window.open_it = () => (window.its = window.open(address))), `${site.address}port/`);
  const opened = context.waitForEvent("page");
  await page.evaluate(() => window.open_it());
  const its = await opened;
  await untilSource(its, mine);
  // Messages to the page and to its workers mean nothing.
  await page.evaluate(() => {
    const all = ["take over", "keep the rest", { files: ["x"] }, ["port"], new ArrayBuffer(8), null];
    for (const message of all) window.its.postMessage(message, "*");
  });
  for (const [address, end] of [[one, "planted"], [two, "more"]]) {
    await page.evaluate((address) => void (window.its.location = address), address);
    await untilSource(its, (text) => text.includes(end));
  }
  await its.locator(".port-notice button", { hasText: "Restore previous project" }).click();
  await untilSource(its, mine);
  // The site's own pages are opened without a way back.
  const away = context.waitForEvent("page");
  await its.locator("#to-launch").click();
  assert.equal(await (await away).evaluate(() => window.opener), null);
  assert.deepEqual(errors, []);
  await context.close();
});

test("a message to the service worker changes neither the work nor what is stored", { timeout: 90_000 }, async () => {
  const { context, page, errors } = await withWork();
  const stored = () =>
    page.evaluate(async () => {
      const found = [];
      for (const name of await caches.keys())
        for (const { url } of await (await caches.open(name)).keys()) found.push(`${name} ${url}`);
      return found.sort();
    });
  const before = await stored();
  assert.notDeepEqual(before, []);
  const answers = await page.evaluate(async () => {
    const { active } = await navigator.serviceWorker.ready;
    const ask = (message) =>
      new Promise((done) => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = ({ data }) => done(data);
        setTimeout(done, 1000, "no answer");
        active.postMessage(message, [port2]);
      });
    const planted = { files: ["main.py"], url: new URL("port/share", location.origin).href, text: "planted" };
    const other = [planted, ["port/share"], "port/share", "no room", "shared", 7, null, new ArrayBuffer(8)];
    const unknown = await Promise.all(other.map(ask));
    return { unknown, missing: await ask("what is missing"), takeOver: await ask("take over") };
  });
  assert.deepEqual(new Set(answers.unknown), new Set(["no answer"]));
  assert.deepEqual(Object.keys(answers.missing), ["missing"]);
  assert.equal(answers.takeOver, "no answer");
  assert.deepEqual(await stored(), before);
  await page.reload();
  await untilSource(page, mine);
  assert.equal(await arrived(page).count(), 0);
  // A page of another origin has no worker of this site to send one to.
  pages.set("/worker", { html: "" });
  await page.goto(`${foreign}/worker`);
  const known = await page.evaluate(async () => {
    const scopes = (await navigator.serviceWorker.getRegistrations()).map(({ scope }) => scope);
    return { scopes, controller: navigator.serviceWorker.controller };
  });
  assert.deepEqual(known, { scopes: [], controller: null });
  assert.deepEqual(errors, []);
  await context.close();
});

test("stored values that are not the site's are ignored", { timeout: 90_000 }, async () => {
  const { context, page, errors } = await withWork();
  await page.evaluate(async () => {
    const bad = `"><svg/onload=hit=1>`;
    for (const key of [...Object.keys(localStorage), "theme", "palette", "hpu-sdk", "search-slash"]) localStorage.setItem(key, bad);
    sessionStorage.portolanPlace = bad;
    const database = await new Promise((done) => (indexedDB.open("portolan", 1).onsuccess = ({ target }) => done(target.result)));
    const work = database.transaction("work", "readwrite").objectStore("work");
    for (const [key, value] of [["open 1", new Uint8Array([255, 255, 255, 1])], ["beside 1", "text"], ["open x", 7]]) work.put(value, key);
    await new Promise((done) => (work.transaction.oncomplete = done));
    database.close();
    const cache = await caches.open("portolan-shared");
    await cache.put(new URL("shared/0/%zz", location.href), new Response("x = 1\n"));
  });
  for (const path of ["port/?shared", "guides/hpu/", "launch/", "check/"]) {
    const next = await context.newPage();
    await next.goto(site.address + path);
    await next.waitForLoadState();
    await next.evaluate(() => window.dispatchEvent(new StorageEvent("storage", { key: "sdk-hpu", newValue: `"]*<svg/onload=hit=1>` })));
    assert.equal(await next.evaluate(() => window.hit), undefined);
    await next.close();
  }
  assert.deepEqual(errors, []);
  await context.close();
});

test("only files are taken from a drop", { timeout: 90_000 }, async () => {
  const { context, page, errors } = await withWork();
  const address = page.url();
  await page.evaluate(() => {
    for (const type of ["text/html", "text/uri-list", "text/plain"]) {
      const dataTransfer = new DataTransfer();
      dataTransfer.setData(type, `https://example.org/"><svg/onload=hit=1>`);
      for (const name of ["dragenter", "dragover", "drop"]) {
        document.body.dispatchEvent(new DragEvent(name, { dataTransfer, bubbles: true, cancelable: true }));
      }
    }
  });
  await untilSource(page, mine);
  assert.equal(page.url(), address);
  assert.equal(await page.evaluate(() => window.hit), undefined);
  assert.deepEqual(errors, []);
  await context.close();
});

test("an address that names nothing is answered, with a network and without", { timeout: 90_000 }, async () => {
  const own = await serve();
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`${own.address}guides/`);
  await page.locator("#offline", { hasText: "Available offline" }).waitFor();
  await withoutNetwork(context, own, async () => {
    for (const path of ["%zz", "%E0%A4%A", "port/shared/0/x.py", "guides/hpu/%00", "guides/%2e%2e/%zz"]) {
      const response = await page.goto(own.address + path);
      assert.equal(response.status(), 404, path);
      assert.ok(response.fromServiceWorker(), path);
    }
  });
  await context.close();
  await own.end();
});

test("markup that runs is refused by the policy of Trusted Types", { timeout: 90_000 }, async () => {
  const context = await browser.newContext({ serviceWorkers: "block" });
  const page = await context.newPage();
  await page.goto(`${site.address}guides/`);
  const refused = (markup) =>
    page.evaluate((markup) => {
      try {
        document.createElement("div").innerHTML = markup;
        return false;
      } catch (error) {
        return error instanceof TypeError;
      }
    }, markup);
  for (const markup of [
    "<svg/onload=hit=1>",
    `<img src="x"onerror=hit=1>`,
    `<p title=">" onclick=hit=1>`,
    `<p title='>' id="a"onclick=hit=1>`,
    `<p id=b"c onclick="hit=1">`,
    "<b\nonclick\n=hit=1>",
    "<SCRIPT>hit=1</SCRIPT>",
    "<form action=x>",
    "<base href=x>",
  ]) {
    assert.ok(await refused(markup), markup);
  }
  for (const markup of [`<span class="k">on</span> = 1`, `<p title="x">once = 1</p>`, `a &lt; b onclick=1`]) {
    assert.ok(!(await refused(markup)), markup);
  }
  await context.close();
});
