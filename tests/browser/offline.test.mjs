// The site as an app: whole without a network, newer versions offered, files taken from other apps.

import assert from "node:assert/strict";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { PortPage, launch } from "./port_page.mjs";
import { dist, pages, root, serve } from "./site.mjs";

let browser, site;
const trainer = readFileSync(join(root, "tests/fixtures/scripts/spectra_trainer.py"), "utf8");

before(async () => {
  [browser, site] = await Promise.all([launch(), serve()]);
});

after(async () => {
  await browser?.close();
  site?.end();
});

/** A first visit, over once the site says that it is kept. */
async function visited(address = site.address, path = "") {
  const context = await browser.newContext({ permissions: ["clipboard-read", "clipboard-write"] });
  const page = await context.newPage();
  await page.goto(address + path);
  await page.locator("#offline", { hasText: "without a network" }).waitFor();
  return { context, page };
}

test("after one visit every page is there without a network, and a script is ported", { timeout: 120_000 }, async () => {
  const { context, page } = await visited();
  await context.setOffline(true);
  for (const path of pages) {
    await page.goto(site.address + path);
    assert.ok((await page.locator("main").innerText()).length > 80, path);
  }
  const missing = await page.goto(`${site.address}no/such/page/`);
  assert.equal(missing.status(), 404);
  assert.match(await page.locator("h1").textContent(), /no such page/i);

  const port = new PortPage(page, context);
  await page.goto(`${site.address}port/`);
  await page.locator("#target option").first().waitFor({ state: "attached" });
  await port.fill(trainer);
  assert.match(await port.ported(), /^\d+ changes/);
  await page.reload();
  await page.locator("#target option").first().waitFor({ state: "attached" });

  await page.goto(`${site.address}guides/hpu/`);
  await page.keyboard.press("Control+K");
  await page.getByRole("combobox").fill("GradScaler");
  await page.locator(".search-status", { hasText: "result" }).waitFor();
  await context.close();
});

test("a browser can install it", { timeout: 60_000 }, async () => {
  const { context, page } = await visited(site.address, "guides/");
  const client = await context.newCDPSession(page);
  const { errors: faults, manifest } = await client.send("Page.getAppManifest").then(({ errors, data }) => ({ errors, manifest: JSON.parse(data) }));
  assert.deepEqual(faults, []);
  const { installabilityErrors } = await client.send("Page.getInstallabilityErrors");
  // A window of a test is not a person's own.
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

test("a newer version is offered, not forced", { timeout: 120_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "portolan-"));
  cpSync(dist, folder, { recursive: true });
  const own = await serve(folder);
  try {
    const { context, page } = await visited(own.address, "guides/");
    const file = join(folder, "guides/index.html");
    writeFileSync(file, readFileSync(file, "utf8").replace("<h1>Guides</h1>", "<h1>Newer guides</h1>"));
    const worker = join(folder, "sw.js");
    const changed = readFileSync(worker, "utf8").replace(/(\["guides\/index\.html",")[0-9a-f]+/, "$10123456789abcdef");
    assert.ok(changed.includes("0123456789abcdef"));
    writeFileSync(worker, changed);

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
  } finally {
    own.end();
    rmSync(folder, { recursive: true, force: true });
  }
});
