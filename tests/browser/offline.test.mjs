// The site as an app: complete without a network, newer versions offered, files accepted from other apps.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { faulty } from "./faults.mjs";
import { PortPage, launch } from "./port_page.mjs";
import { dist, pages, root, serve, withoutNetwork } from "./site.mjs";
import { withVersions } from "./versions.mjs";

let browser;
const trainer = readFileSync(join(root, "tests/fixtures/scripts/spectra_trainer.py"), "utf8");

before(async () => {
  browser = await launch();
});

after(async () => {
  await browser?.close();
});

/** A test with a server of its own: some stop it, and requests of other tests' pages would fail with it. */
function onSite(name, options, body) {
  test(name, options, async () => {
    const site = await serve();
    try {
      await body(site);
    } finally {
      await site.end();
    }
  });
}

/** A first visit, which ends when the site reports that it is cached. */
async function visited(address, path = "") {
  const context = await browser.newContext({ permissions: ["clipboard-read", "clipboard-write"] });
  const page = await context.newPage();
  await page.goto(address + path);
  await page.locator("#offline", { hasText: "Available offline" }).waitFor();
  return { context, page };
}

onSite("after one visit every page is there without a network, and a script is ported", { timeout: 120_000 }, async (site) => {
  const { context, page } = await visited(site.address);
  await withoutNetwork(context, site, async () => {
    for (const path of pages) {
      await page.goto(site.address + path);
      assert.ok((await page.locator("main").innerText()).length > 80, path);
    }
    const missing = await page.goto(`${site.address}no/such/page/`);
    assert.equal(missing.status(), 404);
    // This can't be known without a network; the single file, for example, exists but is not cached.
    assert.equal(await page.locator("h1").textContent(), "Not available offline");
    assert.match(await page.locator(".lead").textContent(), /not among those stored for offline use/);

    const port = new PortPage(page, context);
    await page.goto(`${site.address}port/`);
    await page.locator("#sdk:enabled").waitFor({ state: "attached" });
    await port.fill(trainer);
    assert.match(await port.ported(), /^\d+ changes/);
    await page.reload();
    await page.locator("#sdk:enabled").waitFor({ state: "attached" });

    await page.goto(`${site.address}guides/hpu/`);
    await page.keyboard.press("Control+K");
    await page.getByRole("combobox").fill("GradScaler");
    await page.locator(".search-status", { hasText: "result" }).waitFor();
  });
  await context.close();
});

onSite("an address without a page gives the site’s own page for that, whatever the server has for it", { timeout: 60_000 }, async (site) => {
  const { context, page } = await visited(site.address);
  const missing = await page.goto(`${site.address}no/such/page/`);
  assert.equal(missing.status(), 404);
  assert.match(await page.locator("h1").textContent(), /no such page/i);
  await context.close();
});

onSite("without a network the check page says how its sample weights are kept", { timeout: 120_000 }, async (site) => {
  const { context, page } = await visited(site.address, "check/");
  const rest = page.getByRole("button", { name: /Download extras/ });
  await rest.waitFor();
  await withoutNetwork(context, site, async () => {
    await page.locator("#run").click();
    await page.locator("#fault-run", { hasText: "“Download extras” at the foot of the page" }).waitFor();
  });
  await rest.click();
  await page.locator("#offline", { hasText: "extras included" }).waitFor();
  await withoutNetwork(context, site, async () => {
    await page.locator("#run").click();
    await page.waitForFunction(() => /^Done/.test(document.querySelector("#said").textContent));
  });
  await context.close();
});

onSite("a browser can install it", { timeout: 60_000 }, async (site) => {
  const { context, page } = await visited(site.address, "guides/");
  const client = await context.newCDPSession(page);
  const { errors: faults, manifest } = await client.send("Page.getAppManifest").then(({ errors, data }) => ({ errors, manifest: JSON.parse(data) }));
  assert.deepEqual(faults, []);
  const { installabilityErrors } = await client.send("Page.getInstallabilityErrors");
  // Test windows are incognito.
  assert.deepEqual(installabilityErrors.filter(({ errorId }) => errorId !== "in-incognito"), []);
  for (const image of [...manifest.icons, ...manifest.screenshots]) {
    const [width, height] = await page.evaluate(async (address) => {
      const picture = await createImageBitmap(await (await fetch(address)).blob());
      return [picture.width, picture.height];
    }, site.address + image.src);
    assert.equal(`${width}x${height}`, image.sizes, image.src);
  }
  const extensions = Object.values(manifest.file_handlers[0].accept).flat();
  assert.deepEqual(extensions.sort(), [".ipynb", ".patch", ".py", ".zip"]);
  await context.close();
});

onSite("a page that is never idle is kept all the same", { timeout: 60_000 }, async (site) => {
  const context = await browser.newContext();
  // As on a page that draws nothing: callbacks with a time limit are then called, and nothing else.
  await context.addInitScript(() => {
    window.requestIdleCallback = (call, { timeout } = {}) => timeout && setTimeout(call, timeout);
  });
  const page = await context.newPage();
  await page.goto(`${site.address}guides/`);
  await page.locator("#offline", { hasText: "Available offline" }).waitFor();
  await context.close();
});

test("a file that fails by chance is asked for again", { timeout: 120_000 }, async () => {
  // On a connection that was used before, the browser itself retries dropped requests.
  const wrong = {
    "recipes/index.html": (time) => time <= 2 && "refuse",
    "apis/index.html": (time) => time <= 3 && "drop",
    "engine_bg.wasm": (time) => time <= 1 && "cut",
  };
  const { asked, options } = faulty(wrong);
  const site = await serve(dist, "/sub/", options);
  const { context, page } = await visited(site.address, "guides/hpu/");
  assert.deepEqual(Object.keys(wrong).map((path) => asked(path) >= 2), [true, true, true]);
  await withoutNetwork(context, site, async () => {
    for (const path of ["recipes/", "apis/"]) {
      await page.goto(site.address + path);
      assert.ok((await page.locator("main").innerText()).length > 80, path);
    }
    const port = new PortPage(page, context);
    await page.goto(`${site.address}port/`);
    await page.locator("#sdk:enabled").waitFor({ state: "attached" });
    await port.fill(trainer);
    assert.match(await port.ported(), /^\d+ changes/);
  });
  await context.close();
  await site.end();
});

test("a site that can't be kept says so, and is tried again", { timeout: 120_000 }, async () => {
  let whole = false;
  const { asked, options } = faulty({ "sw.js": (time) => time <= 1 && "refuse", "recipes/index.html": () => !whole && "refuse" });
  const site = await serve(dist, "/sub/", options);
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`${site.address}guides/hpu/`);
  const line = page.locator("#offline", { hasText: "Not available offline: some files could not be downloaded" });
  const again = line.getByRole("button", { name: "Try again" });
  const failed = async () => {
    await page.waitForFunction(() => document.querySelector("#offline button")?.disabled === false);
    assert.equal(await line.count(), 1);
  };
  // At first the worker is missing.
  await failed();
  assert.equal(asked("recipes/index.html"), 0);
  // Automatically after a while: now a file is missing, however often it is requested.
  await page.waitForFunction(() => document.querySelector("#offline button").disabled);
  await failed();
  const tries = asked("recipes/index.html");
  assert.ok(tries > 1, `${tries}`);
  // When the reader requests it.
  await again.click();
  await page.waitForFunction(() => document.querySelector("#offline button").disabled);
  await failed();
  assert.equal(asked("recipes/index.html"), 2 * tries);
  // When the network is back, long before the next automatic attempt.
  whole = true;
  await context.setOffline(true);
  await context.setOffline(false);
  await page.locator("#offline", { hasText: "Available offline." }).waitFor({ timeout: 20_000 });
  await context.close();
  await site.end();
});

test("a newer version is offered, not forced", { timeout: 120_000 }, () =>
  withVersions(async (own, { publish }) => {
    const { context, page } = await visited(own.address, "guides/");
    publish("guides/index.html", "<h1>Guides</h1>", "<h1>Newer guides</h1>");
    await page.reload();
    await page.locator("#update").waitFor();
    assert.equal(await page.locator("h1").textContent(), "Guides");
    await page.getByRole("button", { name: "Later" }).click();
    assert.equal(await page.locator("#update").count(), 0);
    await page.reload();
    assert.equal(await page.locator("h1").textContent(), "Guides");
    await page.locator("#update").waitFor();
    await page.getByRole("button", { name: "Load it" }).click();
    await page.locator("h1", { hasText: "Newer guides" }).waitFor();
    await context.close();
  }),
);

test("a newer version takes no open work away, whether it is refused or loaded", { timeout: 120_000 }, () =>
  withVersions(async (own, { publish }) => {
    // An example from a guide, which a reload alone would open again.
    const guide = readFileSync(join(dist, "guides/hpu/index.html"), "utf8");
    const { context, page } = await visited(own.address, `port/${/port\/(#example=[^"]+)"/.exec(guide)[1]}`);
    const port = new PortPage(page, context);
    await port.ported();
    await port.chooseFiles([{ name: "trainer.py", text: trainer }]);
    const all = await port.ported();
    await port.tab("recipes");
    await port.recipes().first().locator("input").uncheck();
    const fewer = await port.summaryOtherThan(all);
    const title = await page.title();
    publish("port/index.html", `<title>${title}</title>`, "<title>Newer</title>");
    await page.evaluate(() => void (window.same = true));

    // A browser checks for a newer version from time to time, even while the page is open.
    await page.evaluate(async () => void (await (await navigator.serviceWorker.getRegistration()).update()));
    await page.locator("#update", { hasText: "your open work comes back" }).waitFor();
    assert.deepEqual([await port.source(), await port.summary(), await page.title()], [trainer, fewer, title]);
    await page.getByRole("button", { name: "Later" }).click();
    await page.locator("#update").waitFor({ state: "detached" });
    assert.deepEqual([await port.source(), await port.summary(), await page.title()], [trainer, fewer, title]);
    await port.choose("target", "ipu");
    const elsewhere = await port.summaryOtherThan(fewer);
    assert.equal(await page.evaluate(() => window.same), true, "the page was never left");
    await port.keptAsItIs();

    // Another page of the same browser is asked again. A recent change is not lost either.
    const second = new PortPage(await context.newPage(), context);
    await second.page.goto(`${own.address}port/`);
    await second.page.locator("#update").waitFor();
    assert.equal(await second.ported(), elsewhere);
    const longer = `${trainer}x = 1\n`;
    await second.fill(longer);
    await second.page.getByRole("button", { name: "Load it" }).click();
    await second.page.waitForFunction(() => document.title === "Newer");
    await second.page.locator("#sdk:enabled").waitFor({ state: "attached" });
    assert.equal(await second.ported(), elsewhere);
    assert.equal(await second.source(), longer);
    assert.equal(await second.page.locator("#target").inputValue(), "ipu");
    // The other page was not asked, and is unchanged.
    assert.deepEqual([await port.source(), await port.summary(), await page.evaluate(() => window.same)], [trainer, elsewhere, true]);
    await context.close();
  }),
);

test("work that can't be kept is not given up for a newer version", { timeout: 120_000 }, () =>
  withVersions(async (own, { publish }) => {
    const { context, page } = await visited(own.address, "port/");
    const port = new PortPage(page, context);
    await page.locator("#sdk:enabled").waitFor({ state: "attached" });
    await port.fill(trainer);
    const summary = await port.ported();
    await page.evaluate(() => {
      window.same = true;
      // Like a full disk: the request succeeds, but its transaction does not.
      IDBTransaction.prototype.commit = () => undefined; // what is committed can't be aborted from here
      const put = IDBObjectStore.prototype.put;
      IDBObjectStore.prototype.put = function (...given) {
        const request = put.apply(this, given);
        request.addEventListener("success", () => this.transaction.abort());
        return request;
      };
    });
    publish("guides/index.html", "<h1>Guides</h1>", "<h1>Newer guides</h1>");
    await page.evaluate(async () => void (await (await navigator.serviceWorker.getRegistration()).update()));
    await page.getByRole("button", { name: "Load it" }).click();
    await page.locator("#update", { hasText: "open work can’t be saved in this browser" }).waitFor();
    assert.deepEqual([await port.source(), await port.summary(), await page.evaluate(() => window.same)], [trainer, summary, true]);
    await context.close();
  }),
);
