// Input beyond the page's limits: its messages, and that nothing is lost and the page still works.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { deflateRawSync } from "node:zlib";
import { crc32 } from "./crc32.mjs";
import { archiveOf, hangs } from "./faults.mjs";
import { PortPage, launch } from "./port_page.mjs";
import { root, serve } from "./site.mjs";

const trainer = readFileSync(join(root, "tests/fixtures/scripts/spectra_trainer.py"), "utf8");
const own = "import torch\nmine = torch.zeros(1).cuda()\n";
let browser, site;

before(async () => {
  [browser, site] = await Promise.all([launch(), serve()]);
});

after(async () => {
  await browser?.close();
  await site?.end();
});

function onPage(name, body) {
  test(name, { timeout: 300_000 }, async () => {
    const page = await PortPage.open(browser, site.address);
    try {
      await page.fill(own);
      await page.ported();
      await body(page);
      assert.deepEqual(page.errors, []);
    } finally {
      await page.close();
    }
  });
}

/** Opens a file that is refused with these words; the open work is kept. */
async function refused(page, file, ...words) {
  await page.chooseFiles([file]);
  const notice = words.reduce((notice, hasText) => notice.filter({ hasText }), page.page.locator(".port-notice.bad"));
  await notice.waitFor();
  assert.equal(await page.source(), own);
  await notice.getByRole("button", { name: "Dismiss" }).click();
}

const less = /Open fewer files, or use the command\./;
const packed = (text) => ({ data: deflateRawSync(Buffer.from(text)), method: 8, size: Buffer.byteLength(text) });

onPage("a file, an archive, a notebook that is too large is refused unread, with what to do", async (page) => {
  const folder = mkdtempSync(join(tmpdir(), "portolan-"));
  // On disk: through the test's connection to the browser it would take a minute. None of it is read.
  const large = (name, megabytes) => {
    const path = join(folder, name);
    writeFileSync(path, "");
    truncateSync(path, megabytes << 20);
    return path;
  };
  try {
    await refused(page, large("big.py", 5), /big\.py is too big for this page: 5\.0 MB, but the limit is 4 MB\./, less);
    await refused(page, large("big.zip", 20), /big\.zip is too big for this page: 20\.0 MB, but the limit is 16 MB\./);
    await refused(page, large("big.ipynb", 40), /big\.ipynb is too big for this page: 40\.0 MB, but the limit is 16 MB\./);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

onPage("a thousand files are a project, and one more is too many", async (page) => {
  const files = (count) => archiveOf(Array.from({ length: count }, (_, n) => ({ path: `p/f${n}.py`, data: Buffer.from("x = 1\n") })));
  await refused(page, { name: "many.zip", bytes: files(1001) }, /the limit is 1000 files and 16 MB in total/);
  await page.chooseFiles([{ name: "many.zip", bytes: files(1000) }]);
  await page.page.locator(".port-notice", { hasText: "Opened 1,000 files." }).waitFor();
  await page.ported();
});

onPage("an archive that unpacks to gigabytes is refused before it fills the memory", async (page) => {
  // 4 GB in 4 MB.
  const text = "x = 1\n".repeat(4_000_000 / 6);
  const bomb = { ...packed(text), crc: crc32(text) };
  const bytes = archiveOf(Array.from({ length: 1000 }, (_, n) => ({ path: `f${n}.py`, ...bomb })));
  assert.ok(bytes.length < 10 << 20);
  const before = await page.page.evaluate(() => performance.now());
  await refused(page, { name: "bomb.zip", bytes }, /the limit is 1000 files and 16 MB in total/);
  const took = (await page.page.evaluate(() => performance.now())) - before;
  assert.ok(took < 20_000, `${took} ms`);
  // A single file; its stated size is not trusted.
  const one = { ...packed("x = 1\n".repeat(20_000_000)), size: 6, crc: 0, path: "one.py" };
  await refused(page, { name: "one.zip", bytes: archiveOf([one]) }, /one\.py.*is too large when unpacked/);
});

onPage("paths of an archive stay in the project, and links in it are left out", async (page) => {
  const data = Buffer.from(own);
  const paths = ["../../up.py", "/etc/root.py", "a/../../b/./c.py", "plain.py"];
  const link = { path: "link.py", data: Buffer.from("/etc/passwd"), mode: 0o120777 };
  await page.chooseFiles([{ name: "paths.zip", bytes: archiveOf([...paths.map((path) => ({ path, data })), link]) }]);
  await page.page.locator(".port-notice", { hasText: "Opened 4 files." }).waitFor();
  await page.ported();
  const patch = (await page.download("patch")).bytes.toString();
  const named = [...patch.matchAll(/^\+\+\+ b\/(.*)$/gm)].map(([, path]) => path).sort();
  assert.deepEqual(named, ["b/c.py", "etc/root.py", "plain.py", "up.py"]);
  const zip = (await page.download("download-zip")).bytes;
  const folder = mkdtempSync(join(tmpdir(), "portolan-"));
  try {
    writeFileSync(join(folder, "a.zip"), zip);
    const list = "import zipfile; print(sorted(zipfile.ZipFile('a.zip').namelist()))";
    assert.equal(execFileSync("python3", ["-c", list], { cwd: folder }).toString().trim(), `['${named.join("', '")}']`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

onPage("folders in folders and brackets in brackets have an end", async (page) => {
  const data = Buffer.from(own);
  const deep = archiveOf([{ path: `${"d/".repeat(20_000)}a.py`, data }, { path: "b.py", data }]);
  await refused(page, { name: "deep.zip", bytes: deep }, /has more than 32 nested folders\. Open fewer files/);
  for (const text of [`x = ${"(".repeat(5000)}1${")".repeat(5000)}\n`, "[".repeat(5000), `x = ${"-".repeat(20_000)}1\n`]) {
    await page.chooseFiles([{ name: "brackets.py", text }]);
    await page.settled();
    // A message of the engine, or a port; never a crashed engine.
    await page.page.locator(".state h3", { hasText: /This file can’t be ported yet|Nothing changed/ }).waitFor();
    assert.equal(await page.source(), text);
  }
});

onPage("a project that no link can carry is told to go as files", async (page) => {
  await page.fill(`${own}noise = "${randomBytes(1 << 20).toString("hex")}"\n`);
  await page.ported();
  const address = page.page.url();
  await page.page.locator("#share").click();
  await page.page.locator(".port-notice.bad", { hasText: "too big for a link. Download all files (.zip) instead." }).waitFor();
  assert.equal(page.page.url(), address);
});

test("a link that unpacks to too much is refused, and what was open stays", { timeout: 60_000 }, async () => {
  const page = await PortPage.open(browser, site.address);
  await page.fill(own);
  await page.keptAsItIs();
  const bomb = deflateRawSync(Buffer.alloc(200 << 20)).toString("base64url");
  await page.page.goto("about:blank");
  await page.page.goto(`${site.address}port/#s=${bomb}`);
  await page.page.locator(".port-notice.bad", { hasText: "can't be opened: it was cut or altered, is too big" }).waitFor();
  assert.match(await page.notice(), /Ask for it again, or for the project as a zip\./);
  assert.equal(await page.source(), own);
  await page.close();
});

test("a port without an end is stopped after two minutes, and the next one runs", { timeout: 60_000 }, async () => {
  const { options, asked } = hangs();
  const slow = await serve(undefined, "/sub/", options);
  const context = await browser.newContext({ serviceWorkers: "block" });
  const page = await context.newPage();
  // The test controls the page's clock.
  await page.clock.install();
  await page.goto(`${slow.address}port/`);
  await page.locator("#sdk:enabled").waitFor({ state: "attached" });
  // The saved work is opened last, and can be ported too.
  await page.waitForFunction(() => window.portolanKeep);
  const port = new PortPage(page, context);
  await port.fill(trainer);
  await page.clock.runFor(1000);
  await page.locator("#cancel").waitFor();
  await page.clock.runFor(118_000);
  assert.equal(await page.locator(".port-notice").count(), 0);
  await page.clock.runFor(5000);
  await page.locator(".port-notice.bad", { hasText: "The port was stopped after 2 minutes. Open fewer files, or use the command." }).waitFor();
  assert.equal(await port.source(), trainer);
  await page.locator(".state", { hasText: "Your text is unchanged." }).getByRole("button", { name: "Port now" }).click();
  await page.clock.runFor(5000);
  assert.match(await port.ported(), /^\d+ changes/);
  assert.equal(asked("start_engine.js"), 2);
  await context.close();
  await slow.end();
});

test("where the engine's memory ends the page says so, and goes on with less", { timeout: 120_000 }, async () => {
  // 64 MiB for each WebAssembly module.
  const small = await launch(["--js-flags=--wasm-max-mem-pages=1024"]);
  const page = await PortPage.open(small, site.address);
  const large = `${trainer}${"x = torch.rand(4).cuda()\n".repeat(120_000)}`;
  await page.chooseFiles([{ name: "large.py", text: large }]);
  await page.page.locator(".state.bad", { hasText: "It failed on this input, ran out of memory, or could not be loaded." }).waitFor();
  assert.equal((await page.source()).length, large.length);
  await page.chooseFiles([{ name: "trainer.py", text: trainer }]);
  await page.page.waitForFunction(() => /^\d+ changes/.test(document.querySelector("#summary").textContent));
  await small.close();
});
