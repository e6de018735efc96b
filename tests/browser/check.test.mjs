// The page that checks a port, end to end in a real browser, compared with PyTorch's outputs and the command's.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { focusReaches } from "./browser.mjs";
import { crc32 } from "./crc32.mjs";
import { launch } from "./port_page.mjs";
import { root, serve } from "./site.mjs";

const command = ["debug", "release"].map((kind) => join(root, "target", kind, "portolan")).find(existsSync);
const fixture = (name) => readFileSync(join(root, "tests/fixtures/uresnet", name));
const larcv = readFileSync(join(root, "app/cli/tests/portolan/larcv.h5"));
const golden = fixture("d_convdown_convup.safetensors");
const config = JSON.parse(fixture("d_convdown_convup.json")).config;
const goldenLink = "#" + new URLSearchParams({ ...config, height: 32, width: 48 });
const tiny = "#depth=2&n_initial_filters=4&height=32&width=64";

let browser, site;

before(async () => {
  [browser, site] = await Promise.all([launch(), serve()]);
});

after(async () => {
  await browser?.close();
  site?.end();
});

/** The page as used by a person. */
class CheckPage {
  static async open(address, { fragment = "", width = 1280, height = 900, scheme = "light", ready = true } = {}) {
    const self = new CheckPage();
    self.context = await browser.newContext({
      viewport: { width, height },
      colorScheme: scheme,
      acceptDownloads: true,
      permissions: ["clipboard-read", "clipboard-write"],
      javaScriptEnabled: ready,
      serviceWorkers: "block",
    });
    self.page = await self.context.newPage();
    self.errors = [];
    self.requests = [];
    self.page.on("pageerror", (error) => self.errors.push(String(error)));
    self.page.on("console", (message) => message.type() === "error" && self.errors.push(message.text()));
    self.page.on("request", (request) => self.requests.push(request.url()));
    await self.page.goto(`${address}check/${fragment}`);
    if (ready) await self.page.locator("#run").waitFor();
    return self;
  }

  /** Sets a control like a person. */
  async set(key, value) {
    const control = this.page.locator(`#f-${key}`);
    const kind = await control.evaluate((element) => element.type);
    if (kind === "checkbox") await control.setChecked(value);
    else if (kind === "select-one") await control.selectOption(value);
    else {
      await control.fill(String(value));
      await control.blur();
    }
  }

  async showFields() {
    if (!(await this.page.locator("#fields").getAttribute("open"))) await this.page.locator("#fields > summary").click();
  }

  value(key) {
    return this.page.locator(`#f-${key}`).inputValue();
  }

  choose(name, file, bytes) {
    return this.page.locator(`#file-${name}`).setInputFiles({ name: file, mimeType: "", buffer: bytes });
  }

  /** Waits until the form has this image size. */
  async sizeIs(...size) {
    const has = ([height, width]) =>
      document.querySelector("#f-height").value === height && document.querySelector("#f-width").value === width;
    await this.page.waitForFunction(has, size.map(String));
    // Not only at this moment: until the file is open.
    await this.page.locator("#run:enabled").waitFor();
    assert.deepEqual([await this.value("height"), await this.value("width")], size.map(String));
  }

  fault(key) {
    return this.page.locator(`#fault-${key}`);
  }

  /** Waits for an error at a control; resolves to its text. */
  async faultAt(key) {
    await this.page.waitForFunction((key) => document.querySelector(`#fault-${key}`)?.textContent, key);
    return this.fault(key).textContent();
  }

  async run() {
    await this.page.locator("#run").click();
    await this.page.waitForFunction(() => /^Done/.test(document.querySelector("#said").textContent));
  }

  async compared() {
    await this.page.waitForFunction(() => /^Compared/.test(document.querySelector("#said").textContent));
    return this.page.locator("#verdict").textContent();
  }

  async download(id) {
    const [download] = await Promise.all([this.page.waitForEvent("download"), this.page.locator(`#${id}`).click()]);
    return readFileSync(await download.path());
  }

  /** A reported property of the run, by its name. */
  facts() {
    return this.page.locator("#about div, #statistics dl div").evaluateAll((rows) =>
      Object.fromEntries(rows.map((row) => [row.querySelector("dt").textContent, row.querySelector("dd").textContent])),
    );
  }

  /** The different colours on a plane's canvas. */
  colours(plane) {
    return this.page.locator(`#plane-${plane}`).evaluate((canvas) => {
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      return new Set(new Uint32Array(data.buffer)).size;
    });
  }
}

/** A test with a page of its own; errors on the page are part of the result. */
function onPage(name, options, body) {
  test(name, { timeout: 90_000 }, async () => {
    const page = await CheckPage.open(site.address, options);
    try {
      await body(page);
      assert.deepEqual(page.errors, []);
      assert.deepEqual(page.requests.filter((url) => !url.startsWith(site.address) && !url.startsWith("blob:")), []);
    } finally {
      await page.context.close();
    }
  });
}

onPage("as the page begins: trained weights tell a neutrino from cosmic rays", {}, async (page) => {
  assert.equal(await page.value("weights"), "sample");
  await page.run();
  const facts = await page.facts();
  assert.equal(facts.Configuration, "small, 245,443 parameters");
  assert.equal(facts.Weights, "sample");
  assert.ok(parseFloat(facts["Correct class, background excluded"]) > 95, JSON.stringify(facts));
  assert.ok(Number(facts["IoU neutrino"]) > 0.7, JSON.stringify(facts));
  // The weights are for a different network.
  await page.set("preset", "a21");
  assert.equal(await page.value("weights"), "seeded");
  await page.set("weights", "sample");
  assert.equal(await page.value("preset"), "small");
});

onPage("a network, weights and outputs of PyTorch: they agree", { fragment: goldenLink }, async (page) => {
  assert.match(await page.page.locator("#parameters").textContent(), /^39,571 parameters/);
  assert.ok(!page.requests.some((url) => url.includes("forward")), "the network is loaded when Run is pressed");
  await page.choose("weights", "golden.safetensors", golden);
  await page.choose("input", "golden.safetensors", golden);
  await page.run();
  assert.ok((await page.colours(0)) > 10, "charge is drawn");
  await page.choose("candidate", "golden.safetensors", golden);
  assert.match(await page.compared(), /^PASS/);
  assert.match(await page.page.locator("#stages").textContent(), /None of the \d+ modules/);
  assert.equal(await page.page.locator("[data-layer=difference]").isChecked(), true);
  const report = JSON.parse((await page.download("report")).toString());
  assert.equal(report.comparison.agrees, true);
  assert.ok(report.comparison.distance.max_relative_to_range < 1e-4);
  assert.equal(report.parameters, 39571);
});

test("the reference is the command's, and the command accepts it", { skip: !command, timeout: 90_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "portolan-"));
  const page = await CheckPage.open(site.address, { fragment: tiny + "&seed=3&event=5&stages=all" });
  try {
    await page.run();
    const ours = join(folder, "page.safetensors");
    writeFileSync(ours, await page.download("bundle"));
    const file = join(folder, "config.json");
    await page.page.locator("#command").evaluate((command) => (command.closest("details").open = true));
    writeFileSync(file, await page.download("config"));
    const words = ["forward", "--config", file, "--seed", "3", "--event", "5", "--size", "32x64"];
    const compared = JSON.parse(execFileSync(command, [...words, "--compare", ours, "--format", "json"]));
    assert.equal(compared.comparison.agrees, true);
    assert.ok(compared.comparison.stages.length > 10);
    assert.equal(compared.comparison.first_diverging_stage, null);

    const theirs = join(folder, "command.safetensors");
    const script = join(folder, "check_port.py");
    execFileSync(command, [...words, "--out", theirs, "--bundle", "--script", script]);
    assert.equal((await page.download("script")).toString(), readFileSync(script, "utf8"));
    await page.choose("candidate", "command.safetensors", readFileSync(theirs));
    assert.match(await page.compared(), /^PASS/);
    // Another event's outputs don't agree.
    execFileSync(command, [...words.map((word) => (word === "5" ? "6" : word)), "--out", theirs]);
    await page.page.locator("#file-candidate").scrollIntoViewIfNeeded();
    await page.choose("candidate", "command.safetensors", readFileSync(theirs));
    await page.page.locator("#verdict", { hasText: "FAIL" }).waitFor();
    // The file is chosen far below the verdict, which comes into view.
    await page.page.waitForFunction(() => {
      const { top, bottom } = document.querySelector("#verdict").getBoundingClientRect();
      return top >= 0 && bottom <= innerHeight;
    });
    assert.deepEqual(page.errors, []);
  } finally {
    await page.context.close();
    rmSync(folder, { recursive: true, force: true });
  }
});

onPage("on a phone, a run leads to its results", { width: 360, height: 740 }, async (page) => {
  await page.run();
  await page.page.waitForFunction(() => document.activeElement.id === "results");
  assert.ok((await page.page.locator("#results").boundingBox()).y < 740);
});

onPage("a size that can't be halved names the next, and takes it", {}, async (page) => {
  await page.set("preset", "uresnet");
  await page.set("height", 160);
  await page.set("width", 256);
  assert.match(await page.faultAt("height"), /the next valid size is 192 x 256/);
  await page.page.locator("#run").click();
  await focusReaches(page.page, "f-height");
  assert.ok(!page.requests.some((url) => url.includes("forward")), "nothing was run");
  await page.fault("height").locator("button").click();
  assert.equal(await page.value("height"), "192");
  assert.equal(await page.fault("height").textContent(), "");
});

onPage("a size that no browser computes is not offered, and the largest is named", {}, async (page) => {
  await page.set("width", 100000);
  await page.set("height", 100001);
  const problem = await page.faultAt("height");
  const [, largest] = /(\d+) x \1 is the largest/.exec(problem) ?? assert.fail(problem);
  assert.equal(await page.fault("height").locator("button").count(), 0);
  await page.set("width", largest);
  await page.set("height", largest);
  assert.equal(await page.fault("height").textContent(), "");
});

onPage("after a reload the page says which files to choose", { fragment: tiny }, async (page) => {
  const noticeAfterReload = async () => {
    await page.page.reload();
    await page.page.locator("#run").waitFor();
    return page.page.locator("#notice").textContent();
  };
  await page.choose("input", "event.npy", npy([3, 32, 64], Array(3 * 32 * 64).fill(0)));
  assert.match(await noticeAfterReload(), /^Choose the file with the event below/);
  await page.choose("input", "event.npy", npy([3, 32, 64], Array(3 * 32 * 64).fill(0)));
  await page.choose("weights", "golden.safetensors", golden);
  assert.match(await noticeAfterReload(), /^Choose the file with the weights and the file with the event below/);
});

onPage("what is no value is refused beside its control, and stays to be corrected", {}, async (page) => {
  await page.showFields();
  await page.set("depth", "three");
  assert.match(await page.faultAt("depth"), /“three” is not a whole number/);
  assert.equal(await page.value("depth"), "three");
  assert.equal(await page.page.locator("#f-depth").getAttribute("aria-invalid"), "true");
  await page.set("depth", 3);
  assert.equal(await page.fault("depth").textContent(), "");
  await page.set("normalization", "layer");
  assert.match(await page.faultAt("normalization"), /use batch or none/);
  await page.set("preset", "small");
  assert.equal(await page.fault("normalization").textContent(), "");
});

onPage("bad files are refused beside their control, and the page goes on", { fragment: goldenLink }, async (page) => {
  const refused = async (name, file, bytes, expected) => {
    await page.choose(name, file, bytes);
    await page.page.locator("#run").click();
    assert.match(await page.faultAt(`file-${name}`), expected, file);
    await page.choose(name, "golden.safetensors", golden);
    assert.equal(await page.fault(`file-${name}`).textContent(), "");
  };
  await page.choose("weights", "golden.safetensors", golden);
  await page.choose("input", "golden.safetensors", golden);
  await refused("weights", "cut.safetensors", golden.subarray(0, 5000), /incomplete or damaged safetensors file/);
  await refused("weights", "notes.txt", Buffer.from("weights are in the other folder\n"), /not a supported file; expected safetensors, torch\.save's format \(\.pt/);
  await refused("weights", "empty.pt", Buffer.alloc(0), /empty/);
  await refused("weights", "code.pt", Buffer.from("\x80\x04cos\nsystem\n(S'x'\ntR.", "latin1"), /pickle/);
  // As packed by torch.save, with a call that PyTorch's own reader would execute.
  const hostile = { "archive/data.pkl": "\x80\x02cos\nsystem\nX\x0a\x00\x00\x00echo hello\x85R.", "archive/version": "3\n" };
  await refused("weights", "hostile.pt", zip(hostile), /os\.system/);
  await refused("weights", "cut.pt", zip(hostile).subarray(0, 60), /./);
  const nan = Buffer.from(golden);
  nan.writeFloatLE(NaN, 8 + Number(golden.readBigUInt64LE(0)) + header(golden)["bottleneck.weight"].data_offsets[0]);
  await refused("weights", "nan.safetensors", nan, /bottleneck\.weight.*is not finite/);
  await refused("weights", "other.safetensors", fixture("block_concat.safetensors"), /expected shape|missing|not part of/);
  await refused("input", "wrong.npy", npy([2, 2], [1, 2, 3, 4]), /expected \[images, 3, height, width\]/);
  await refused("input", "nan.npy", npy([3, 8, 8], Array(192).fill(NaN)), /is not finite/);
  await page.run();
  await page.choose("candidate", "block.safetensors", npy([3, 8, 8], Array(192).fill(0)));
  assert.match(await page.faultAt("file-candidate"), /output.plane0 is missing/);
  await page.choose("candidate", "cut.safetensors", golden.subarray(0, golden.length - 9));
  await page.page.locator("#fault-file-candidate", { hasText: "incomplete or damaged safetensors file" }).waitFor();
  await page.choose("candidate", "golden.safetensors", golden);
  assert.match(await page.compared(), /^PASS/);
});

onPage("an event is taken out of larcv's HDF5 file", { fragment: tiny }, async (page) => {
  const asked = () => page.requests.filter((url) => url.includes("larcv")).length;
  assert.equal(asked(), 0);
  await page.choose("input", "larcv.h5", larcv);
  await page.sizeIs(32, 64);
  assert.ok(asked() > 0);
  await page.set("event", 1);
  await page.run();
  const reference = await page.download("bundle");
  const floats = (name) => {
    const [from, to] = header(reference)[name].data_offsets.map((at) => at + 8 + Number(reference.readBigUInt64LE(0)));
    return Array.from({ length: (to - from) / 4 }, (_, i) => reference.readFloatLE(from + 4 * i));
  };
  // Row r, col 2 r + plane: 10 + r + 0.5, alternately cosmic and neutrino.
  const at = (plane, row, col) => (plane * 32 + row) * 64 + col;
  assert.equal(floats("input").filter((value) => value !== 0).length, 15);
  assert.equal(floats("input")[at(2, 3, 8)], 13.5);
  assert.equal(floats("label")[at(2, 3, 8)], 2);

  await page.set("event", 2);
  await page.page.locator("#run").click();
  assert.match(await page.faultAt("file-input"), /no event 2: the file has 2/);
  await page.set("event", 0);
  await page.choose("input", "cut.h5", larcv.subarray(0, 3000));
  assert.match(await page.faultAt("file-input"), /HDF5/, "it is opened when it is chosen");
  await page.page.locator("#run").click();
  assert.match(await page.faultAt("file-input"), /HDF5/);
  await page.choose("input", "larcv.h5", larcv);
  await page.run();
});

onPage("the image size is that of the larcv file, until it is changed by hand", { fragment: "#height=16&width=1024" }, async (page) => {
  const fed = page.page.locator("#fed");
  await page.choose("input", "larcv.h5", larcv);
  await page.sizeIs(32, 64);
  assert.match(await fed.textContent(), /^Images in larcv\.h5 have 32 × 64 pixels\. Height and width were set to that\./);
  assert.equal(await page.page.locator("#said").textContent(), "Image size set to 32 × 64.");
  assert.equal(await page.page.locator("#use-size").count(), 0);
  assert.match(await page.page.evaluate(() => location.hash), /height=32&width=64/);
  await page.run();
  assert.match((await page.facts()).Logits, /^\[1, 3, 3, 32, 64\]/);

  // The user's own size stays, also when the file is read again.
  await page.set("height", 64);
  await page.set("event", 1);
  await page.run();
  assert.match((await page.facts()).Logits, /^\[1, 3, 3, 64, 64\]/);
  assert.match(await fed.textContent(), /The rest is empty/);
  await page.set("height", 4);
  assert.match(await page.faultAt("height"), /the next valid size/);
  await page.page.locator("#use-size", { hasText: "Use 32 × 64" }).click();
  await page.sizeIs(32, 64);
  await page.run();

  // A reload keeps the user's own size for the file that has to be chosen again.
  await page.set("width", 96);
  await page.page.reload();
  await page.page.locator("#run").waitFor();
  await page.choose("input", "larcv.h5", larcv);
  await page.page.locator("#use-size", { hasText: "Use 32 × 64" }).waitFor();
  await page.sizeIs(32, 96);
});

test("a file that the command wrote has its image size as well", { skip: !command, timeout: 90_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "portolan-"));
  const page = await CheckPage.open(site.address);
  try {
    const events = join(folder, "events.safetensors");
    execFileSync(command, ["events", "--first", "7", "--size", "64x96", "--out", events]);
    await page.set("event", 7);
    await page.choose("input", "events.safetensors", readFileSync(events));
    await page.sizeIs(64, 96);
    await page.run();
    assert.match((await page.facts()).Logits, /^\[1, 3, 3, 64, 96\]/);
    // A dense image has its own.
    await page.choose("input", "golden.safetensors", golden);
    await page.page.locator("#fed", { hasText: "A dense image has its own size" }).waitFor();
    await page.sizeIs(64, 96);
    assert.deepEqual(page.errors, []);
  } finally {
    await page.context.close();
    rmSync(folder, { recursive: true, force: true });
  }
});

onPage("what the classes mean is said where they are shown", {}, async (page) => {
  const [form, run] = ["form-caution", "caution-of-run"].map((id) => page.page.locator(`#${id}`));
  const shown = async () => [await form.isVisible(), await run.isVisible()];
  await page.run();
  assert.deepEqual(await shown(), [false, false], "the sample weights know synthetic events");
  await page.choose("input", "larcv.h5", larcv);
  await page.sizeIs(32, 64);
  assert.deepEqual(await shown(), [true, false], "the results are still those of the synthetic event");
  assert.match(await form.textContent(), /trained on synthetic events only.*the predicted classes mean nothing/);
  await page.run();
  assert.deepEqual(await shown(), [true, true]);
  assert.equal(await run.textContent(), await form.textContent());
  assert.match(await page.page.locator("#score-caution").textContent(), /^Correct class and IoU .* see the note above/);
  await page.page.emulateMedia({ media: "print" });
  assert.equal(await run.isVisible(), true);
  await page.page.emulateMedia({ media: "screen" });
  await page.set("weights", "seeded");
  await page.run();
  assert.match(await run.textContent(), /^The weights are random/);
});

onPage("a larcv file is replaced while it is being opened", {}, async (page) => {
  const reader = "**/larcv_bg.wasm";
  await page.page.context().route(reader, () => {});
  const held = page.page.context().waitForEvent("request", (request) => request.url().includes("larcv_bg"));
  await page.choose("input", "first.h5", larcv);
  await held;
  assert.equal(await page.page.locator("#run").isDisabled(), true);
  await page.page.context().unroute(reader);
  await page.choose("input", "second.h5", larcv);
  await page.sizeIs(32, 64);
  assert.match(await page.page.locator("#fed").textContent(), /^Images in second\.h5/);
  await page.run();
});

onPage("the reader of HDF5 files ends when it is cancelled, or can't be loaded", { fragment: tiny }, async (page) => {
  const readers = () => page.page.workers().filter((worker) => worker.url().includes("larcv"));
  await page.run();
  const reader = "**/larcv_bg.wasm";
  await page.page.context().route(reader, () => {});
  const held = page.page.context().waitForEvent("request", (request) => request.url().includes("larcv_bg"));
  await page.choose("input", "larcv.h5", larcv);
  await held;
  const [worker] = readers();
  await Promise.all([worker.waitForEvent("close"), page.page.locator("#cancel").click()]);
  await page.page.locator("#said", { hasText: "Cancelled" }).waitFor();
  assert.ok((await page.download("bundle")).length > 0, "the last run is kept");

  await page.page.context().unroute(reader);
  await page.page.context().route("**/larcv.js", (route) => route.abort());
  await page.page.locator("#run").click();
  assert.match(await page.faultAt("file-input"), /could not be loaded/);
  assert.deepEqual(readers(), []);
  page.errors.length = 0;

  await page.page.context().unroute("**/larcv.js");
  await page.run();
});

onPage("a file of 3 GB is refused before it is read", {}, async (page) => {
  await page.set("weights", "file");
  const folder = mkdtempSync(join(tmpdir(), "portolan-"));
  try {
    // A sparse file: it uses no space on the disk.
    const huge = join(folder, "huge.pt");
    writeFileSync(huge, "PK");
    truncateSync(huge, 3e9);
    await page.page.locator("#file-weights").setInputFiles(huge);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  assert.match(await page.faultAt("file-weights"), /huge.pt has 2.8 GiB/);
});

onPage("a long run is cancelled, and the form is as it was", { fragment: "#preset=uresnet&height=640&width=1024&seed=4" }, async (page) => {
  await page.page.locator("#run").click();
  await page.page.waitForFunction(() => /step \d+ of/.test(document.querySelector("#step").textContent));
  await page.page.locator("#cancel").click();
  assert.match(await page.page.locator("#said").textContent(), /^Cancelled/);
  assert.equal(await page.value("seed"), "4");
  await focusReaches(page.page, "run");
  await page.set("preset", "small");
  await page.set("height", 64);
  await page.set("width", 64);
  await page.run();
  assert.match(await page.page.locator("#statistics").textContent(), /GFLOP\/s/);
});

onPage("a picture of CosmicTagger's full size is computed, and cancelled", { fragment: "#height=1280&width=2048" }, async (page) => {
  await page.run();
  assert.match((await page.facts()).Logits, /^\[1, 3, 3, 1280, 2048\]/);
  await page.set("preset", "uresnet");
  await page.page.locator("#run").click();
  await page.page.locator("#step", { hasText: /step [2-9] of \d+ · .* s left/ }).waitFor();
  await page.page.locator("#cancel").click();
  assert.match(await page.page.locator("#said").textContent(), /^Cancelled/);
  await page.set("height", 64);
  await page.set("width", 64);
  await page.run();
});

onPage("another run's faults are seen: where, how far, in which module; and the report is printed", { fragment: tiny + "&stages=coarse" }, async (page) => {
  await page.run();
  const bundle = await page.download("bundle");
  const entries = header(bundle);
  const start = 8 + Number(bundle.readBigUInt64LE(0));
  const stage = "stage.net_core.main_module.down_blocks.plane1";
  for (const name of [stage, "output.plane1"]) {
    bundle.writeFloatLE(1000, start + entries[name].data_offsets[0] + 4 * 5);
  }
  await page.choose("candidate", "candidate.safetensors", bundle);
  assert.match(await page.compared(), /^FAIL/);
  assert.match(await page.page.locator("#stages").textContent(), /net_core\.main_module\.down_blocks\.plane1/);
  assert.equal((await page.facts()).Compared, "candidate.safetensors (float32)");
  assert.ok((await page.colours(1)) > (await page.colours(0)), "the pixel stands out on its plane");
  await page.page.locator("#plane-1").focus();
  for (const key of ["Shift+ArrowUp", "Shift+ArrowUp", ...Array(3).fill("Shift+ArrowLeft"), "ArrowLeft", "ArrowLeft"]) {
    await page.page.keyboard.press(key);
  }
  for (let step = 0; step < 5; step++) await page.page.keyboard.press("ArrowRight");
  assert.match(await page.page.locator("#value-1").textContent(), /^row 0, column 5 .* difference [\d.]+e3$/);
  assert.equal(await page.page.locator("#caution").count(), 0);
  await page.set("precision", "bf16");
  await page.page.locator("#verdict", { hasText: "bfloat16" }).waitFor();
  await page.page.emulateMedia({ media: "print" });
  const seen = (selector) => page.page.locator(selector).isVisible();
  assert.deepEqual(await Promise.all(["#verdict", "#ulps", "#plane-1", "#about"].map(seen)), [true, true, true, true]);
  assert.deepEqual(await Promise.all([".check-form", "#bundle", "#f-precision"].map(seen)), [false, false, false]);
  assert.ok((await page.page.pdf()).length > 10_000);
});

onPage("a file of bfloat16 numbers is compared as such when it is asked for, and the reference itself is recognised", { fragment: tiny }, async (page) => {
  await page.run();
  const bundle = await page.download("bundle");
  await page.choose("candidate", "reference.safetensors", bundle);
  await page.compared();
  assert.match(await page.page.locator("#caution").textContent(), /looks like the reference itself/);
  const start = 8 + Number(bundle.readBigUInt64LE(0));
  for (const plane of [0, 1, 2]) {
    const [from, to] = header(bundle)[`output.plane${plane}`].data_offsets;
    // The lower half of each number is removed.
    for (let at = start + from; at < start + to; at += 4) bundle.writeUInt16LE(0, at);
  }
  await page.choose("candidate", "candidate.safetensors", bundle);
  await page.page.locator("#suggested button").click();
  await page.page.locator("#verdict", { hasText: "PASS: within bfloat16" }).waitFor();
  assert.equal(await page.value("precision"), "bf16");
  assert.equal(await page.page.locator("#suggested").count(), 0);
  // The verdict is shown first.
  const order = await page.page.locator("#results h2").allTextContents();
  assert.equal(order[0], "Comparison");
});

onPage("Run stays in sight", { height: 600 }, async (page) => {
  const seen = () => page.page.locator("#run").evaluate((run) => run.getBoundingClientRect().bottom <= innerHeight && run.getBoundingClientRect().top >= 0);
  await page.page.locator("#f-preset").scrollIntoViewIfNeeded();
  assert.equal(await seen(), true);
});

onPage("a link carries the form", {}, async (page) => {
  await page.set("preset", "a21");
  await page.set("height", 384);
  await page.set("seed", 9);
  const address = await page.page.evaluate(() => location.hash);
  assert.equal(address, "#preset=a21&height=384&seed=9");
  await page.page.locator("#link").click();
  await page.page.waitForFunction(() => /clipboard/.test(document.querySelector("#said").textContent));
  const link = await page.page.evaluate(() => navigator.clipboard.readText());
  await page.page.goto("about:blank");
  await page.page.goto(link);
  await page.page.locator("#run").waitFor();
  assert.deepEqual([await page.value("preset"), await page.value("height"), await page.value("seed")], ["a21", "384", "9"]);
  await page.page.evaluate(() => (location.hash = "#filters=3&depth=2"));
  await page.page.waitForFunction(() => document.querySelector("#notice").textContent);
  assert.match(await page.page.locator("#notice").textContent(), /filters/);
  assert.equal(await page.value("depth"), "2");
});

onPage("planes by keyboard: move, zoom, read", { fragment: tiny }, async (page) => {
  await page.run();
  await page.page.locator("#plane-1").focus();
  const value = page.page.locator("#value-1");
  assert.match(await value.textContent(), /^row 16, column 32 · charge .* · predicted \w+ · label \w+$/);
  await page.page.keyboard.press("ArrowRight");
  await page.page.keyboard.press("Shift+ArrowUp");
  assert.match(await value.textContent(), /^row 6, column 33 /);
  const whole = await page.page.locator("#plane-1").evaluate((canvas) => canvas.toDataURL());
  await page.page.keyboard.press("+");
  await page.page.waitForFunction((whole) => document.querySelector("#plane-1").toDataURL() !== whole, whole);
  await page.page.keyboard.press("0");
  await page.page.locator("[data-layer=input]").focus();
  await page.page.keyboard.press("ArrowRight");
  assert.equal(await page.page.locator("[data-layer=prediction]").isChecked(), true);
  assert.match(await page.page.locator("#legend").textContent(), /background.*cosmic.*neutrino/);
});

onPage("planes by mouse: the pixel under it, zoom by wheel, drag", { fragment: tiny }, async (page) => {
  await page.run();
  await page.page.locator("#plane-0").scrollIntoViewIfNeeded();
  const box = await page.page.locator("#plane-0").boundingBox();
  const middle = [box.x + box.width / 2, box.y + box.height / 2];
  await page.page.mouse.move(...middle);
  const value = page.page.locator("#value-0");
  await value.filter({ hasText: /^row 1\d, column 3\d / }).waitFor();
  const before = await value.textContent();
  await page.page.keyboard.down("Control");
  await page.page.mouse.wheel(0, -800);
  await page.page.keyboard.up("Control");
  await page.page.mouse.down();
  await page.page.mouse.move(middle[0] + 60, middle[1] + 40, { steps: 4 });
  await page.page.mouse.up();
  await page.page.mouse.move(...middle);
  await page.page.waitForFunction((before) => document.querySelector("#value-0").textContent !== before, before);
});

onPage("on a phone nothing is wider than the screen", { fragment: tiny, width: 360, height: 740 }, async (page) => {
  await page.run();
  await page.showFields();
  const wide = () => page.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.equal(await wide(), 0);
});

onPage("without JavaScript the page says what it does", { ready: false }, async (page) => {
  assert.match(await page.page.locator("main").textContent(), /portolan forward --config small --weights sample/);
});

/** The header of a safetensors file. */
function header(file) {
  return JSON.parse(file.subarray(8, 8 + Number(file.readBigUInt64LE(0))));
}

/** A zip archive of uncompressed texts. */
function zip(files) {
  const [locals, central] = [[], []];
  let place = 0;
  for (const [path, text] of Object.entries(files)) {
    const [name, data] = [Buffer.from(path), Buffer.from(text, "latin1")];
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    fields.writeUInt32LE(crc32(data), 10);
    fields.writeUInt32LE(data.length, 14);
    fields.writeUInt32LE(data.length, 18);
    fields.writeUInt16LE(name.length, 22);
    const more = Buffer.alloc(14);
    more.writeUInt32LE(place, 10);
    locals.push(Buffer.from("PK\x03\x04", "latin1"), fields, name, data);
    central.push(Buffer.from("PK\x01\x02\x14\x00", "latin1"), fields, more, name);
    place += 30 + name.length + data.length;
  }
  const list = Buffer.concat(central);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", "latin1");
  end.writeUInt16LE(locals.length / 4, 8);
  end.writeUInt16LE(locals.length / 4, 10);
  end.writeUInt32LE(list.length, 12);
  end.writeUInt32LE(place, 16);
  return Buffer.concat([...locals, list, end]);
}

/** An array of float32 in NumPy's format. */
function npy(shape, numbers) {
  const list = shape.join(", ");
  const header = `{'descr': '<f4', 'fortran_order': False, 'shape': (${list}), }`.padEnd(117) + "\n";
  const length = Buffer.from([header.length, 0]);
  const data = Buffer.from(new Float32Array(numbers).buffer);
  return Buffer.concat([Buffer.from("\x93NUMPY\x01\x00", "latin1"), length, Buffer.from(header), data]);
}
