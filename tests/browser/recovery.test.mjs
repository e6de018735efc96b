// Errors around an open page: nothing typed is lost, and the page reports what happened.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { crashes, faulty, losing } from "./faults.mjs";
import { PortPage, launch, launchWith, untilSource } from "./port_page.mjs";
import { root, serve, withoutNetwork } from "./site.mjs";
import { withVersions } from "./versions.mjs";

const trainer = readFileSync(join(root, "tests/fixtures/scripts/spectra_trainer.py"), "utf8");
let browser;

before(async () => {
  browser = await launch();
});

after(async () => {
  await browser?.close();
});

/** A test with a server of its own, whose faults are defined by `options.fault`. */
function onSite(name, options, body) {
  test(name, { timeout: 120_000 }, async () => {
    const site = await serve(undefined, "/sub/", options);
    try {
      await body(site);
    } finally {
      await site.end();
    }
  });
}

async function opened(context, address) {
  const page = await context.newPage();
  await page.goto(address);
  await page.locator("#sdk:enabled").waitFor({ state: "attached" });
  return new PortPage(page, context);
}

const withoutWorker = () => browser.newContext({ serviceWorkers: "block" });

onSite("a worker that crashes is said, the text stays, and the next one ports it", crashes(), async (site) => {
  const context = await withoutWorker();
  const port = await opened(context, `${site.address}port/`);
  await port.fill(trainer);
  const state = port.page.locator(".state.bad", { hasText: "Your text is unchanged" });
  await state.waitFor();
  assert.match(await state.textContent(), /provoked/);
  assert.equal(await port.source(), trainer);
  await port.keptAsItIs();
  await state.getByRole("button", { name: "Restart the engine" }).click();
  assert.match(await port.ported(), /^\d+ changes/);
  assert.equal(await port.source(), trainer);
  await context.close();
});

/**
 * A page with saved work whose engine is not delivered correctly from now on. Restored work is ported immediately: once that has
 * failed, nothing requests the engine automatically.
 */
async function withKeptWork(site, goesWrong) {
  const context = await withoutWorker();
  const port = await opened(context, `${site.address}port/`);
  await port.fill(trainer);
  await port.keptAsItIs();
  goesWrong();
  await port.page.reload();
  return port;
}

let isCut = false;
const cut = faulty({ "engine_bg.wasm": () => (isCut ? "cut" : undefined) });
onSite("a connection that ends in the middle of the engine is said, and tried again", cut.options, async (site) => {
  const port = await withKeptWork(site, () => (isCut = true));
  const state = port.page.locator(".state.bad", { hasText: "could not be loaded. Your text is unchanged." });
  await state.waitFor();
  isCut = false;
  await state.getByRole("button", { name: "Restart the engine" }).click();
  assert.match(await port.ported(), /^\d+ changes/);
  assert.equal(await port.source(), trainer);
  await port.close();
});

// Like the previous one reporting that it is ready, and like one from other sources.
for (const [named, head] of [["without a name", [0]], ["of another name", [0, 3, 111, 108, 100]]]) {
  let isOther = false;
  const other = `postMessage([new Uint8Array(${JSON.stringify(head)}), [], []]);`;
  const { options } = faulty({ "start_engine.js": () => (isOther ? other : undefined) });
  onSite(`an engine of another version of the site is not listened to: ${named}`, options, async (site) => {
    const port = await withKeptWork(site, () => (isOther = true));
    await port.page.locator(".state.bad", { hasText: "The page and the engine are different versions: reload the page." }).waitFor();
    // The engine may answer before the page has found the kept work.
    await untilSource(port.page, trainer);
    isOther = false;
    await port.page.reload();
    assert.match(await port.ported(), /^\d+ changes/);
    assert.equal(await port.source(), trainer);
    await port.close();
  });
}

onSite("what is typed before the page has looked for kept work is kept", {}, async (site) => {
  const context = await withoutWorker();
  // The page checks once it has its slot, and gets that when the test allows it.
  await context.addInitScript(() => {
    const request = navigator.locks.request.bind(navigator.locks);
    const gate = new Promise((open) => (window.givePlace = open));
    navigator.locks.request = (name, options, held) => gate.then(() => request(name, held));
  });
  const port = await opened(context, `${site.address}port/`);
  await port.fill(trainer);
  await port.page.evaluate(() => window.givePlace());
  await port.keptAsItIs();
  assert.equal(await port.source(), trainer);
  await context.close();
});

onSite("a tab that is closed in the middle of typing loses nothing", {}, async (site) => {
  const context = await withoutWorker();
  let text = "";
  for (const line of ["import torch\n", "x = torch.zeros(1).cuda()\n", "y = x.cuda()\n"]) {
    const port = await opened(context, `${site.address}port/`);
    await untilSource(port.page, text);
    // Before it has its slot and has looked for saved work, a page keeps nothing of what is typed.
    await port.page.waitForFunction(async () => {
      const { held } = await navigator.locks.query();
      return held.length > 0 && (await indexedDB.databases()).some(({ name }) => name === "portolan");
    });
    text += line;
    await port.page.locator("#source").focus();
    await port.page.keyboard.press("Control+End");
    await port.page.keyboard.insertText(line);
    await untilSource(port.page, text);
    // Before the pause after which work is saved; as a person closes it, with its last events.
    await Promise.all([port.page.waitForEvent("close"), port.page.close({ runBeforeUnload: true })]);
  }
  const last = await opened(context, `${site.address}port/`);
  await untilSource(last.page, text);
  await context.close();
});

onSite("who types without a pause loses no more than seconds when the tab crashes", {}, async (site) => {
  const context = await withoutWorker();
  const port = await opened(context, `${site.address}port/`);
  await port.page.locator("#source").focus();
  // Longer than the page waits for a pause, of which there is none.
  for (let n = 0; n < 80; n++) {
    await port.page.keyboard.insertText(`x${n} = ${n}\n`);
    await port.page.evaluate(() => new Promise((done) => setTimeout(done, 100)));
  }
  const client = await context.newCDPSession(port.page);
  await Promise.race([client.send("Page.crash").catch(() => undefined), new Promise((crashed) => port.page.once("crash", crashed))]);
  const next = await opened(context, `${site.address}port/`);
  await untilSource(next.page, (text) => text.includes("x10 = 10"));
  await context.close();
});

onSite("two tabs keep their work apart, and that of a closed one can be had again", {}, async (site) => {
  const context = await withoutWorker();
  const address = `${site.address}port/`;
  const first = await opened(context, address);
  await first.fill("first = 1\n");
  await first.keptAsItIs();
  // A second tab begins with the open work, which is not saved twice.
  const second = await opened(context, address);
  await untilSource(second.page, "first = 1\n");
  await second.fill("second = 2\n");
  await second.page.locator("#kept", { hasText: "This tab’s own work is saved" }).waitFor();
  await first.fill("first = 11\n");
  await first.keptAsItIs();
  for (const [port, text] of [[first, "first = 11\n"], [second, "second = 2\n"]]) {
    await port.page.reload();
    await untilSource(port.page, text);
  }
  await second.page.close();
  await first.page.close();

  const third = await opened(context, address);
  await untilSource(third.page, "first = 11\n");
  const other = third.page.locator("#other-work", { hasText: "Work from another tab, now closed, is also saved." });
  const [fourth] = await Promise.all([context.waitForEvent("page"), other.getByRole("link", { name: "Open it in a new tab" }).click()]);
  await untilSource(fourth, "second = 2\n");
  await fourth.close();
  await third.page.reload();
  await other.getByRole("button", { name: "Delete it" }).click();
  await third.page.reload();
  await untilSource(third.page, "first = 11\n");
  await third.page.evaluate(() => new Promise((over) => setTimeout(over, 1000)));
  assert.equal(await other.count(), 0);
  await context.close();
});

onSite("where the browser's space is used up the page says so, and keeps the work once there is some", {}, async (site) => {
  const context = await withoutWorker();
  const port = await opened(context, `${site.address}port/`);
  const client = await context.newCDPSession(port.page);
  const origin = new URL(site.address).origin;
  await client.send("Storage.overrideQuotaForOrigin", { origin, quotaSize: 1000 });
  const text = `${trainer}${"more = 1\n".repeat(20_000)}`;
  await port.chooseFiles([{ name: "long.py", text }]);
  const warning = port.page.locator("#unkept", { hasText: "this browser’s storage space for sites is full" });
  await warning.waitFor();
  assert.match(await port.ported(), /^\d+ changes/);
  // Such a page is not closed by accident.
  const [dialog] = await Promise.all([port.page.waitForEvent("dialog"), port.page.close({ runBeforeUnload: true })]);
  assert.equal(dialog.type(), "beforeunload");
  await dialog.dismiss();
  assert.equal(await port.source(), text);
  await client.send("Storage.overrideQuotaForOrigin", { origin });
  await warning.getByRole("button", { name: "Try again" }).click();
  await warning.waitFor({ state: "detached" });
  await port.keptAsItIs();
  await port.page.reload();
  await port.ported();
  assert.equal(await port.source(), text);
  await context.close();
});

onSite("where there is no room for the site the page says so, and the open work is kept", {}, async (site) => {
  const context = await browser.newContext();
  const page = await context.newPage();
  const client = await context.newCDPSession(page);
  const origin = new URL(site.address).origin;
  await client.send("Storage.overrideQuotaForOrigin", { origin, quotaSize: 3 << 20 });
  await page.goto(`${site.address}port/`);
  await page.locator("#offline", { hasText: "Not available offline: this browser’s storage space for sites is full." }).waitFor();
  const port = new PortPage(page, context);
  const text = `${trainer}# ${randomBytes(1 << 17).toString("hex")}\n`;
  await port.chooseFiles([{ name: "long.py", text }]);
  await port.ported();
  // An incompressible value is stored separately from its database, and read later than others.
  await port.keptAsItIs();
  await page.reload();
  await port.ported();
  assert.equal(await port.source(), text);
  await context.close();
});

onSite("where the browser refuses to store anything the page says so, and works", {}, async (site) => {
  const folder = mkdtempSync(join(tmpdir(), "portolan-"));
  const blocked = 2;
  const context = await launchWith(folder, { profile: { default_content_setting_values: { cookies: blocked } } });
  try {
    const port = await opened(context, `${site.address}port/`);
    await assert.rejects(port.page.evaluate(() => localStorage.length), "storage is refused");
    await port.fill(trainer);
    assert.match(await port.ported(), /^\d+ changes/);
    await port.page.locator("#unkept", { hasText: "this browser does not allow this site to store anything" }).waitFor();
    await port.page.locator("#offline", { hasText: "Not available offline" }).waitFor();
    await port.page.locator("#unkept").getByRole("button", { name: "Hide" }).click();
    assert.equal(await port.page.locator("#unkept").count(), 0);
    assert.equal(await port.source(), trainer);
  } finally {
    await context.close();
    rmSync(folder, { recursive: true, force: true });
  }
});

onSite("a service worker that does not run takes nothing away", { fault: (path) => (path === "sw.js" ? "throw new Error('provoked');" : undefined) }, async (site) => {
  const context = await browser.newContext();
  const port = await opened(context, `${site.address}port/`);
  await port.page.locator("#offline", { hasText: "Not available offline: some files could not be downloaded." }).waitFor();
  await port.fill(trainer);
  assert.match(await port.ported(), /^\d+ changes/);
  await context.close();
});

onSite("a service worker that has lost its cache, or may not open it, brings the site from the network", { fault: losing }, async (site) => {
  const context = await browser.newContext();
  const port = await opened(context, `${site.address}port/`);
  await port.page.locator("#offline", { hasText: "Available offline" }).waitFor();
  const portsAgain = async () => {
    await port.page.reload();
    await port.page.locator("#sdk:enabled").waitFor({ state: "attached" });
    await port.fill(trainer);
    assert.match(await port.ported(), /^\d+ changes/);
  };
  await port.page.evaluate(async () => void (await caches.delete("portolan-site")));
  await portsAgain();
  await port.page.evaluate(async () => void (await navigator.serviceWorker.ready).active.postMessage("lose"));
  await portsAgain();
  await context.close();
});

const whileAsked = faulty({});
test("a version that is published while another is downloaded is not mixed with it", { timeout: 120_000 }, () =>
  withVersions(async (site, { write, list }) => {
    write("guides/index.html", "<h1>Guides</h1>", "<h1>Newer guides</h1>");
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(`${site.address}recipes/`);
    await page.locator("#offline", { hasText: "Not available offline: some files could not be downloaded." }).waitFor();
    assert.ok(whileAsked.asked("guides/index.html") > 0);
    // Now all of it is available.
    list("guides/index.html");
    await page.getByRole("button", { name: "Try again" }).click();
    await page.locator("#offline", { hasText: "Available offline." }).waitFor();
    await withoutNetwork(context, site, async () => {
      await page.goto(`${site.address}guides/`);
      assert.equal(await page.locator("h1").textContent(), "Newer guides");
    });
    await context.close();
  }, whileAsked.options),
);

const dying = faulty({ "start_forward.js": (time) => (time === 1 ? "setTimeout(() => { throw new Error('provoked'); });" : undefined) });
onSite("the worker of the check page crashes, and the next run computes", dying.options, async (site) => {
  const context = await withoutWorker();
  const page = await context.newPage();
  await page.goto(`${site.address}check/#depth=2&n_initial_filters=4&height=32&width=64`);
  await page.locator("#run").click();
  await page.locator("#fault-run", { hasText: "provoked" }).waitFor();
  await page.locator("#run").click();
  await page.waitForFunction(() => /^Done/.test(document.querySelector("#said").textContent));
  await context.close();
});
