// Errors around an open page, in Firefox: nothing typed is lost, and the page reports what happened.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Firefox } from "./firefox.mjs";
import { isKept, isOpen, isSource, openPort, ported, source, write } from "./firefox_port.mjs";
import { faulty, hangs, losing, withMemory } from "./faults.mjs";
import { dist, root, serve } from "./site.mjs";
import { withVersions } from "./versions.mjs";

const trainer = readFileSync(join(root, "tests/fixtures/scripts/spectra_trainer.py"), "utf8");

// One caches the site, the other has no service workers, and 10 MiB for everything that sites store.
let keeping, small;

before(async () => {
  const narrow = { "dom.serviceWorkers.enabled": false, "dom.quotaManager.temporaryStorage.fixedLimit": 10 * 1024 };
  [keeping, small] = await Promise.all([Firefox.launch(), Firefox.launch(narrow)]);
});

after(async () => {
  await Promise.all([keeping?.close(), small?.close()]);
});

/** A test with a tab of its own, which shares nothing with others. */
function inTab(name, which, body) {
  test(name, { timeout: 60_000 }, async () => {
    const firefox = which === "keeping" ? keeping : small;
    const user = await firefox.user();
    try {
      await body(await firefox.tab(user), user);
    } finally {
      await firefox.ask("browser.removeUserContext", { userContext: user });
    }
  });
}

/** The same with a server of its own, whose faults are defined by `fault`. */
function onSite(name, which, fault, body) {
  inTab(name, which, async (tab, user) => {
    const site = await serve(undefined, "/sub/", { fault });
    try {
      await body(tab, site, user);
    } finally {
      await site.end();
    }
  });
}

/** A page with saved work, reloaded once there is a fault. */
async function withKeptWork(tab, site, goesWrong) {
  await openPort(tab, site.address);
  await write(tab, trainer);
  await isKept(tab);
  goesWrong();
  await tab.reload();
}

const restart = (tab) => tab.click(".state.bad button");

let isCut = false;
const cut = (path) => (path === "engine_bg.wasm" && isCut ? "cut" : undefined);
onSite("a connection that ends in the middle of the engine is said, and tried again", "small", cut, async (tab, site) => {
  await withKeptWork(tab, site, () => (isCut = true));
  await tab.said(".state.bad", "could not be loaded. Your text is unchanged.");
  assert.equal(await source(tab), trainer);
  isCut = false;
  await restart(tab);
  assert.match(await ported(tab), /^\d+ changes/);
  assert.equal(await source(tab), trainer);
});

let isOther = false;
const other = (path) => (path === "start_engine.js" && isOther ? "postMessage([new Uint8Array([0, 3, 111, 108, 100]), [], []]);" : undefined);
onSite("an engine of another version of the site is not listened to", "small", other, async (tab, site) => {
  await withKeptWork(tab, site, () => (isOther = true));
  await tab.said(".state.bad", "The page and the engine are different versions: reload the page.");
  assert.equal(await source(tab), trainer);
  isOther = false;
  await tab.reload();
  assert.match(await ported(tab), /^\d+ changes/);
  assert.equal(await source(tab), trainer);
});

onSite("a port without an end is stopped after two minutes, and the next one runs", "small", hangs().fault, async (tab, site) => {
  // The page's two minutes are four seconds in this test.
  const hurry = () => {
    const wait = window.setTimeout;
    window.setTimeout = (call, pause, ...given) => wait(call, pause >= 60_000 ? pause / 30 : pause, ...given);
  };
  await small.ask("script.addPreloadScript", { functionDeclaration: String(hurry), contexts: [tab.context] });
  await openPort(tab, site.address);
  await tab.until(() => window.portolanKeep !== undefined);
  await write(tab, trainer);
  await tab.until(() => document.querySelector("#cancel") !== null);
  await tab.said(".port-notice.bad", "The port was stopped after 2 minutes. Open fewer files, or use the command.");
  assert.equal(await source(tab), trainer);
  await tab.said(".state", "Your text is unchanged.");
  await tab.run(() => [...document.querySelectorAll(".state button")].find((button) => button.textContent === "Port now").click());
  assert.match(await ported(tab), /^\d+ changes/);
  assert.equal(await source(tab), trainer);
});

// 64 MiB.
const little = withMemory(readFileSync(join(dist, "engine_bg.wasm")), 1024);
onSite("where the engine's memory ends the page says so, and goes on with less", "small", (path) => (path === "engine_bg.wasm" ? little : undefined), async (tab, site) => {
  await openPort(tab, site.address);
  const folder = mkdtempSync(join(tmpdir(), "portolan-"));
  try {
    const open = async (name, text) => {
      writeFileSync(join(folder, name), text);
      await tab.choose("#open-files", join(folder, name));
    };
    const large = `${trainer}${"x = torch.rand(4).cuda()\n".repeat(120_000)}`;
    await open("large.py", large);
    await tab.said(".state.bad", "It failed on this input, ran out of memory, or could not be loaded.");
    assert.equal((await source(tab)).length, large.length);
    await open("trainer.py", trainer);
    await tab.until(() => /^\d+ changes/.test(document.querySelector("#summary").textContent));
    assert.equal(await source(tab), trainer);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

onSite("where the browser's space is used up the page says so, and keeps the work once there is some", "small", undefined, async (tab, site) => {
  await openPort(tab, site.address);
  await write(tab, "before = 1\n");
  await isKept(tab);
  // Something else on the same site uses all of its space.
  await tab.run(async () => {
    const result = (request) =>
      new Promise((done, fail) => Object.assign(request, { onsuccess: () => done(request.result), onerror: () => fail(request.error) }));
    // After a write failed for lack of space, nothing more is written through the same database connection.
    for (let size = 1 << 20; size >= 1 << 16; size /= 2) {
      const request = indexedDB.open("filler", 1);
      request.onupgradeneeded = () => request.result.createObjectStore("filler", { autoIncrement: true });
      const database = await result(request);
      for (let isFull = false; !isFull; ) {
        const bytes = new Uint8Array(size);
        for (let at = 0; at < size; at += 1 << 16) crypto.getRandomValues(bytes.subarray(at, at + (1 << 16)));
        const transaction = database.transaction("filler", "readwrite");
        transaction.objectStore("filler").add(bytes);
        isFull = await new Promise((done) => Object.assign(transaction, { oncomplete: () => done(false), onabort: () => done(true) }));
      }
      database.close();
    }
  });
  const text = `${trainer}# ${randomBytes(1 << 19).toString("hex")}\n`;
  await write(tab, text);
  await tab.said("#unkept", "this browser’s storage space for sites is full");
  assert.match(await ported(tab), /^\d+ changes/);
  const asks = () => !dispatchEvent(new Event("beforeunload", { cancelable: true }));
  assert.equal(await tab.run(asks), true, "the browser asks before it closes the page");
  assert.equal(await source(tab), text);
  await tab.run(() => new Promise((done, fail) => Object.assign(indexedDB.deleteDatabase("filler"), { onsuccess: () => done(), onerror: fail, onblocked: fail })));
  await tab.run(() => [...document.querySelectorAll("#unkept button")].find((button) => button.textContent === "Try again").click());
  await tab.until(() => document.querySelector("#unkept") === null);
  await isKept(tab);
  assert.equal(await tab.run(asks), false);
  await tab.reload();
  await isSource(tab, text);
});

test("where there is no room for the site the page says so, and the open work is kept", { timeout: 60_000 }, async () => {
  const narrow = await Firefox.launch({ "dom.quotaManager.temporaryStorage.fixedLimit": 4 * 1024 });
  const site = await serve();
  try {
    const tab = await narrow.tab();
    await openPort(tab, site.address);
    await tab.said("#offline", "Not available offline: this browser’s storage space for sites is full.");
    const text = `${trainer}# ${randomBytes(1 << 19).toString("hex")}\n`;
    await write(tab, text);
    await isKept(tab);
    await tab.reload();
    await isSource(tab, text);
    assert.match(await ported(tab), /^\d+ changes/);
  } finally {
    await site.end();
    await narrow.close();
  }
});

const broken = (path) => (path === "sw.js" ? "throw new Error('provoked');" : undefined);
onSite("a service worker that does not run takes nothing away", "keeping", broken, async (tab, site) => {
  await openPort(tab, site.address);
  await tab.said("#offline", "Not available offline: some files could not be downloaded.");
  await write(tab, trainer);
  assert.match(await ported(tab), /^\d+ changes/);
});

onSite("a service worker that has lost its cache, or may not open it, brings the site from the network", "keeping", losing, async (tab, site) => {
  await openPort(tab, site.address);
  await tab.said("#offline", "Available offline");
  const portsAgain = async () => {
    await tab.reload();
    await isOpen(tab);
    await write(tab, trainer);
    assert.match(await ported(tab), /^\d+ changes/);
  };
  assert.equal(await tab.run(() => caches.delete("portolan-site")), true);
  await portsAgain();
  await tab.run(async () => (await navigator.serviceWorker.ready).active.postMessage("lose"));
  await portsAgain();
});

// A download that stops in the middle, one without a response, and one that the server refuses.
const chance = faulty({
  "recipes/index.html": (time) => time <= 2 && "refuse",
  "apis/index.html": (time) => time <= 3 && "drop",
  "engine_bg.wasm": (time) => time <= 1 && "cut",
});
onSite("a file that fails by chance while the site is kept is asked for again", "keeping", chance.fault, async (tab, site) => {
  await tab.goto(`${site.address}guides/hpu/`);
  await tab.said("#offline", "Available offline");
  assert.ok(["recipes/index.html", "apis/index.html", "engine_bg.wasm"].every((path) => chance.asked(path) >= 2));
  await site.stop();
  try {
    await tab.goto(`${site.address}recipes/`);
    assert.ok((await tab.said("main")).length > 1000);
    await openPort(tab, site.address);
    await write(tab, trainer);
    assert.match(await ported(tab), /^\d+ changes/);
  } finally {
    await site.start();
  }
});

let isWhole = false;
const missing = faulty({ "engine_bg.wasm": () => !isWhole && "cut" });
onSite("a site that can't be kept because its downloads end in the middle says so, and is tried again", "keeping", missing.fault, async (tab, site) => {
  await tab.goto(`${site.address}guides/hpu/`);
  await tab.said("#offline", "Not available offline: some files could not be downloaded.");
  assert.ok(missing.asked("engine_bg.wasm") > 1);
  isWhole = true;
  await tab.click("#offline button");
  await tab.said("#offline", "Available offline.");
});

inTab("a newer version is offered, and takes no open work away", "keeping", (tab) =>
  withVersions(async (site, { publish }) => {
    await openPort(tab, site.address);
    await tab.said("#offline", "Available offline");
    await write(tab, trainer);
    const summary = await ported(tab);
    const title = await tab.run(() => document.title);
    publish("port/index.html", `<title>${title}</title>`, "<title>Newer</title>");
    await tab.run(async () => void (await (await navigator.serviceWorker.getRegistration()).update()));
    await tab.said("#update", "your open work comes back");
    assert.deepEqual([await tab.run(() => document.title), await source(tab)], [title, trainer]);
    // Recently typed text is not lost either.
    const longer = `${trainer}x = 1\n`;
    await write(tab, longer);
    await tab.run(() => [...document.querySelectorAll("#update button")].find((button) => button.textContent === "Load it").click());
    await tab.until(() => document.title === "Newer");
    await isSource(tab, longer);
    assert.equal(await ported(tab), summary);
  }),
);

inTab("a version that is published while another is downloaded is not mixed with it", "keeping", (tab) =>
  withVersions(async (site, { write, list }) => {
    write("guides/index.html", "<h1>Guides</h1>", "<h1>Newer guides</h1>");
    await tab.goto(`${site.address}recipes/`);
    await tab.said("#offline", "Not available offline: some files could not be downloaded.");
    // Now all of it is available.
    list("guides/index.html");
    await tab.click("#offline button");
    await tab.said("#offline", "Available offline.");
    await site.stop();
    try {
      await tab.goto(`${site.address}guides/`);
      assert.equal(await tab.said("h1"), "Newer guides");
    } finally {
      await site.start();
    }
  }),
);
