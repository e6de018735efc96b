// A twin run there and back: the page's download is run by a real Python with a real PyTorch, and its result is loaded.

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { PortPage, launch } from "./port_page.mjs";
import { root, serve } from "./site.mjs";

const trainer = readFileSync(join(root, "tests/fixtures/scripts/spectra_trainer.py"), "utf8");
const python = process.env.PORTOLAN_PYTHON || join(homedir(), ".cache/portolan/python/newest/bin/python");

let browser, site, folder, result, changed;

/** A page with the sample's port to Gaudi. */
async function withPort(options) {
  const page = await PortPage.open(browser, site.address, options);
  await page.chooseFiles([{ name: "spectra_trainer.py", text: trainer }]);
  await page.ported();
  return page;
}

/** Drops files on the page. */
const drop = (page, name, text) =>
  page.page.evaluate(
    ([name, text]) => {
      const data = new DataTransfer();
      data.items.add(new File([text], name, { type: "application/json" }));
      document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
    },
    [name, text],
  );

const verdict = (page) => page.page.locator("#twin-verdict");

before(async () => {
  [browser, site] = await Promise.all([launch(), serve()]);
  folder = mkdtempSync(join(tmpdir(), "portolan-twin-"));
  const page = await withPort();
  try {
    await page.tab("twin");
    const command = await page.page.locator("#twin-command").textContent();
    const archive = await page.download("take-twin");
    assert.equal(archive.name, "portolan-hpu-twin.zip");
    writeFileSync(join(folder, "twin.zip"), archive.bytes);
    execFileSync("python3", ["-m", "zipfile", "-e", "twin.zip", "."], { cwd: folder });
    assert.ok(readFileSync(join(folder, "README.md"), "utf8").includes(command), "the command is in the archive too");
    const run = () => {
      const [, ...words] = command.split(" ");
      return spawnSync(python, ["-B", ...words], { cwd: folder, encoding: "utf8" });
    };
    const equal = run();
    assert.equal(equal.status, 0, equal.stdout + equal.stderr);
    result = readFileSync(join(folder, "twin.json"), "utf8");
    const port = join(folder, "port/spectra_trainer.py");
    writeFileSync(port, readFileSync(port, "utf8").replace(/lr=/, "lr=2 * "));
    const differs = run();
    assert.equal(differs.status, 1, differs.stdout + differs.stderr);
    changed = readFileSync(join(folder, "twin.json"), "utf8");
    assert.deepEqual(page.errors, []);
  } finally {
    await page.close();
  }
}, { timeout: 600_000 });

after(async () => {
  await browser?.close();
  site?.end();
  if (folder) rmSync(folder, { recursive: true, force: true });
});

function onPort(name, options, body) {
  test(name, { timeout: 120_000 }, async () => {
    const page = await withPort(options);
    try {
      await body(page);
      assert.deepEqual(page.errors, []);
      assert.deepEqual(page.requests.filter((url) => !url.startsWith(site.address) && !url.startsWith("blob:")), []);
    } finally {
      await page.close();
    }
  });
}

onPort("a result that is dropped shows the verdict, the curves and the table", {}, async (page) => {
  await drop(page, "twin.json", result);
  await verdict(page).waitFor();
  assert.equal(await verdict(page).textContent(), "The port trained to the same losses");
  const said = await page.panel().textContent();
  assert.match(said, /spectra_trainer\.py: 4 steps on a CPU with PyTorch [\d.]+, in float32, with stand-ins for habana_frameworks\./);
  assert.match(said, /were not tested/);
  const curves = page.page.locator("#twin-curves polyline");
  assert.equal(await curves.count(), 2);
  for (const points of await curves.evaluateAll((lines) => lines.map((line) => line.getAttribute("points").split(" ").length))) {
    assert.equal(points, 4);
  }
  // The values of each step without a mouse, and all of them as a table.
  const { steps } = JSON.parse(result);
  await page.page.locator("#twin-step").focus();
  await page.page.keyboard.press("ArrowLeft");
  const third = steps[2].loss[0].toFixed(7);
  assert.equal(await page.page.locator("#twin-values").textContent(), `Step 3: ${third} in the original, ${third} in the port`);
  await page.page.locator(".steps-table summary").focus();
  await page.page.keyboard.press("Enter");
  assert.equal(await page.page.locator(".steps-table tbody tr").count(), 4);
  assert.ok(await page.page.locator(".steps-table tbody tr").first().isVisible());
  // The verdict is next to the changes.
  await page.tab("changes");
  assert.match(await page.page.locator("#twin-strip").textContent(), /Twin run\. The port trained to the same losses\./);
});

onPort("a result stays through a reload, and is stale once the port is another", {}, async (page) => {
  await page.tab("twin");
  await page.page.locator("#twin-file").setInputFiles({ name: "twin.json", mimeType: "application/json", buffer: Buffer.from(result) });
  await verdict(page).waitFor();
  await page.keptAsItIs();
  await page.page.reload();
  await page.ported();
  assert.match(await page.page.locator("#twin-strip").textContent(), /to the same losses/);
  await page.tab("twin");
  assert.equal(await verdict(page).textContent(), "The port trained to the same losses");
  await page.choose("target", "xpu");
  await page.page.waitForFunction(() => document.querySelector("#twin-verdict")?.textContent === "This run was of a different port");
  await page.choose("target", "hpu");
  await page.page.waitForFunction(() => document.querySelector("#twin-verdict")?.textContent === "The port trained to the same losses");
  await page.fill(trainer.replace("import", "# changed\nimport"));
  await page.page.waitForFunction(() => document.querySelector("#twin-verdict")?.textContent === "This run was of a different port");
  await page.page.locator("#drop-twin").click();
  await verdict(page).waitFor({ state: "detached" });
});

onPort("a run of a port that was changed by hand is not taken for this one", {}, async (page) => {
  assert.equal(JSON.parse(changed).verdict, "differs");
  await drop(page, "twin.json", changed);
  await verdict(page).waitFor();
  assert.equal(await verdict(page).textContent(), "This run was of a different port");
  assert.match(await page.panel().textContent(), /has changed since this run/);
});

onPort("a difference leads to the line of the port", { width: 360, height: 800 }, async (page) => {
  // The same difference, as reported by a run of this very port.
  const told = { ...JSON.parse(changed), files: JSON.parse(result).files };
  await drop(page, "twin.json", JSON.stringify(told));
  await verdict(page).waitFor();
  assert.equal(await verdict(page).textContent(), "The port differs from the original");
  assert.match(await page.page.locator(".verdict .first").textContent(), /^step 1: the learning rate: .* in the port .*, at spectra_trainer\.py:\d+/);
  await page.page.locator(".verdict .place").first().click();
  await page.page.locator(".changes .here").waitFor();
  assert.match(await page.page.locator("#twin-strip").textContent(), /The port differs from the original: step 1/);
});

onPort("what is no result is refused, and what was there stays", {}, async (page) => {
  await drop(page, "twin.json", result);
  await verdict(page).waitFor();
  const refused = async (name, text, why) => {
    await drop(page, name, text);
    await page.page.waitForFunction((why) => new RegExp(why).test(document.querySelector(".port-notice")?.textContent ?? ""), why);
    assert.equal(await verdict(page).textContent(), "The port trained to the same losses");
  };
  await refused("a.json", "{not JSON", "a\\.json is not JSON \\(line 1, column 2\\)");
  await refused("package.json", '{"name": "x"}', "package\\.json is not the result of a twin run");
  const { ran, ...older } = JSON.parse(result);
  assert.ok(ran);
  await refused("twin.json", JSON.stringify(older), "older kit");
  const report = await page.download("download-report");
  await refused("portolan-hpu.json", report.bytes.toString(), "portolan-hpu\\.json is the report of a port");
  assert.equal(JSON.parse(report.bytes).twin.portolan, "portolan rehearse --target hpu spectra_trainer.py");
});
