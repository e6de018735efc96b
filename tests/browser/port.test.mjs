// The Port page, end to end in a real browser. A message in the browser's console fails a test.

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { focusReaches } from "./browser.mjs";
import { PortPage, launch, untilSource } from "./port_page.mjs";
import { root, serve } from "./site.mjs";
import { putCaretBehind } from "./source_text.mjs";

const script = (name) => readFileSync(join(root, "tests/fixtures/scripts", name), "utf8");
const trainer = script("spectra_trainer.py");
const fixture = (name) => readFileSync(join(root, "tests/fixtures/bad", name));

let browser, site;

before(async () => {
  [browser, site] = await Promise.all([launch(), serve()]);
});

after(async () => {
  await browser?.close();
  site?.end();
});

/** A test with a page of its own; errors on the page are part of the result. */
function onPage(name, options, body) {
  test(name, { timeout: 90_000 }, async () => {
    const page = await PortPage.open(browser, site.address, options);
    try {
      await body(page);
      assert.deepEqual(page.errors, []);
      const elsewhere = page.requests.filter((url) => !url.startsWith(site.address) && !url.startsWith("blob:"));
      assert.deepEqual(elsewhere, []);
    } finally {
      await page.close();
    }
  });
}

/** A folder that is deleted after `body`. */
async function inFolder(body) {
  const folder = mkdtempSync(join(tmpdir(), "portolan-"));
  try {
    return await body(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const command = ["debug", "release"].map((kind) => join(root, "target", kind, "portolan")).find(existsSync);

onPage("paste, read, refuse a recipe, download, apply, compile", {}, async (page) => {
  await page.paste(trainer);
  const before = await page.ported();
  assert.match(before, /^\d+ changes/);
  const { added } = await page.changedLines();
  assert.ok(added.length > 0, "added lines are in sight");
  assert.equal(await page.page.locator(".changes .about").first().locator("a").first().isVisible(), true);

  await page.tab("recipes");
  const first = page.recipes().first();
  const title = await first.textContent();
  await first.locator("input").uncheck();
  const fewer = await page.summaryOtherThan(before);
  assert.ok(parseInt(fewer) < parseInt(before), `${title}: ${before} -> ${fewer}`);

  const patch = await page.download("patch");
  assert.equal(patch.name, "portolan-hpu.patch");
  await page.tab("changes");
  const ported = (await page.download("download-file")).bytes;
  await inFolder((folder) => {
    const run = (program, ...words) => execFileSync(program, words, { cwd: folder, stdio: "pipe" });
    run("git", "init", "-q");
    writeFileSync(join(folder, "trainer.py"), trainer);
    writeFileSync(join(folder, "a.patch"), patch.bytes);
    run("git", "apply", "--check", "a.patch");
    run("git", "apply", "a.patch");
    assert.deepEqual(readFileSync(join(folder, "trainer.py")), ported);
    run("python3", "-m", "py_compile", "trainer.py");
  });
});

onPage("refusing one change and taking it back", {}, async (page) => {
  await page.fill(trainer);
  await page.choose("style", "in-place");
  const before = await page.ported();
  await page.page.locator(".changes .reject").nth(1).click();
  const fewer = await page.summaryOtherThan(before);
  assert.ok(parseInt(fewer) < parseInt(before));
  // The placeholder of the rejected change has the focus.
  const accept = page.page.locator(".changes .accept");
  await accept.waitFor();
  // One button accepts what one button rejected.
  assert.equal(await accept.count(), 1);
  await page.page.waitForFunction(() => document.activeElement?.classList.contains("accept"));
  await page.page.locator("#undo").click();
  assert.equal(await page.summaryOtherThan(fewer), before);
  await page.page.locator("#redo").click();
  assert.equal(await page.summaryOtherThan(before), fewer);
  await accept.click();
  assert.equal(await page.summaryOtherThan(fewer), before);
});

onPage("the page and the command give the same bytes", {}, async (page) => {
  assert.ok(command, "target/ has no portolan; build the command first");
  for (const [target, style, sdk] of [["hpu", "auto", ""], ["hpu", "agnostic", ""], ["hpu", "in-place", "1.8"]]) {
    await page.chooseFiles([{ name: "trainer.py", text: trainer }]);
    await page.ported();
    await page.choose("style", style);
    if (sdk) await page.choose("sdk", sdk);
    await page.ported();
    const patch = await page.download("patch");
    const report = await page.download("download-report");
    await inFolder((folder) => {
      writeFileSync(join(folder, "trainer.py"), trainer);
      const words = ["port", "--target", target, "--style", style, ...(sdk ? ["--sdk", sdk] : [])];
      const run = (...more) => execFileSync(command, [...words, ...more, "trainer.py"], { cwd: folder, stdio: "pipe" });
      assert.equal(patch.bytes.toString(), run().toString());
      assert.equal(report.bytes.toString(), run("--format", "json").toString());
    });
  }
});

onPage("a shared link brings everything back", {}, async (page) => {
  await page.fill(trainer);
  await page.ported();
  await page.choose("style", "in-place");
  await page.choose("sdk", "1.8");
  await page.tab("recipes");
  const before = await page.summary();
  await page.recipes().nth(1).locator("input").uncheck();
  const summary = await page.summaryOtherThan(before);
  const link = await page.share();
  assert.ok(link.includes("/sub/port/#s="), link.slice(0, 80));
  const other = await PortPage.open(browser, site.address, { fragment: new URL(link).hash });
  try {
    assert.equal(await other.ported(), summary);
    assert.equal(await other.source(), trainer);
    assert.equal(await other.page.locator("#sdk").inputValue(), "1.8");
    assert.equal(await other.page.locator("#style").inputValue(), "in-place");
    assert.deepEqual(other.errors, []);
  } finally {
    await other.close();
  }
});

onPage("a cut link is refused in words", { fragment: "#s=AAAA" }, async (page) => {
  await page.page.locator(".port-notice.bad").waitFor();
  assert.match(await page.notice(), /link can't be opened/);
});

test("every example that the guide links to opens", { timeout: 90_000 }, async () => {
  const html = readFileSync(join(process.env.PORTOLAN_DIST ?? join(root, "dist"), "guides/hpu/index.html"), "utf8");
  const links = [...html.matchAll(/port\/(#example=[^"]+)"/g)].map((match) => match[1]);
  assert.ok(links.length > 10, `${links.length} links`);
  const page = await PortPage.open(browser, site.address, { fragment: links[0] });
  try {
    await page.ported();
    for (const link of links.slice(1)) {
      // Two examples may have the same text: the page writes it again.
      await page.page.evaluate((link) => {
        document.querySelector("#source").replaceChildren();
        location.hash = link;
      }, link);
      await untilSource(page.page, (text) => text !== "");
      await page.ported();
    }
    assert.equal(await page.page.locator(".port-notice.bad").count(), 0);
    assert.deepEqual(page.errors, []);
  } finally {
    await page.close();
  }
});

onPage("an example's style is not the next script's", { fragment: "#example=hpu/compute-mode/1" }, async (page) => {
  const before = await page.ported();
  assert.equal(await page.page.locator("#style").inputValue(), "branch");
  // The user's choices are kept, those of the example are removed.
  await page.choose("sdk", "1.8");
  await page.ported();
  await page.fill("");
  await page.fill("import torch\nx = torch.zeros(1).cuda()\n");
  await page.summaryOtherThan(before);
  assert.equal(await page.page.locator("#style").inputValue(), "auto");
  assert.equal(await page.page.locator("#sdk").inputValue(), "1.8");
});

onPage("a script without compute modes is offered the other style", {}, async (page) => {
  await page.choose("style", "branch");
  await page.fill("import torch\nx = torch.zeros(1).cuda()\n");
  await page.panel().getByText("can’t be ported yet").waitFor();
  assert.equal(await page.panel().getByRole("button", { name: /Go to line/ }).count(), 0);
  await page.panel().getByRole("button", { name: "Replace CUDA code instead" }).click();
  await page.page.waitForFunction(() => /^\d+ changes/.test(document.querySelector("#summary").textContent));
  assert.equal(await page.page.locator("#style").inputValue(), "in-place");
});

onPage("on a phone a way leads down to the port", { width: 360, height: 740 }, async (page) => {
  const way = page.page.locator("#way button");
  assert.equal(await way.count(), 0);
  await page.page.getByRole("button", { name: "Sample", exact: true }).click();
  await way.waitFor();
  await page.ported();
  const inSight = (element) => element.evaluate((element) => {
    const { top, bottom } = element.getBoundingClientRect();
    return top >= 0 && bottom <= innerHeight;
  });
  const port = page.page.locator("#result-head");
  assert.equal(await inSight(way), true);
  assert.equal(await inSight(port), false);
  assert.ok((await way.textContent()).startsWith(await page.summary()));
  await page.page.getByRole("button", { name: "Options" }).focus();
  await page.page.keyboard.press("Tab");
  assert.equal(await way.evaluate((way) => way === document.activeElement), true);
  await page.page.keyboard.press("Enter");
  assert.equal(await port.evaluate((port) => port === document.activeElement), true);
  assert.equal(await inSight(port), true);
});

for (const [width, height] of [[640, 400], [320, 480], [360, 740]]) {
  onPage(`an explanation leaves room for code at ${width} × ${height}`, { width, height }, async (page) => {
    await page.fill(trainer);
    await page.ported();
    const about = page.page.locator(".changes .about").first();
    await about.waitFor();
    const [box, words] = await Promise.all([
      page.page.locator("#diff-scroll").evaluate((box) => box.clientHeight),
      about.evaluate((row) => row.offsetHeight),
    ]);
    assert.ok(box - words >= 8 * 20, `${words} of ${box} pixels`);
    // Heights are computed before the text is laid out: nothing is cut off, and not much space is left over.
    for (const free of await page.page.locator(".changes .about td").evaluateAll((cells) => cells.map((cell) => cell.clientHeight - 16 - cell.firstElementChild.scrollHeight))) {
      assert.ok(free >= -1 && free <= 3 * 18, `${free} pixels are left below an explanation`);
    }
  });
}

onPage("with the keyboard alone", {}, async (page) => {
  const { keyboard } = page.page;
  const focused = () =>
    page.page.evaluate(() => {
      const e = document.activeElement;
      return e.id || e.getAttribute("aria-label") || e.textContent.trim();
    });
  const walkTo = async (wanted, key = "Tab") => {
    for (let step = 0; step < 80; step++) {
      if (wanted.test(await focused())) return;
      await keyboard.press(key);
    }
    assert.fail(`${key} never reaches ${wanted}`);
  };
  await walkTo(/^source$/);
  await keyboard.insertText("import torch\nnet = Net().cuda()\n");
  await keyboard.press("Tab");
  assert.equal(await page.source(), "import torch\nnet = Net().cuda()\n    ");
  // The browser's own undo.
  await keyboard.press("Control+z");
  assert.equal(await page.source(), "import torch\nnet = Net().cuda()\n");
  await keyboard.press("Control+Enter");
  const before = await page.ported();
  assert.equal(await page.spoken(), before);
  await keyboard.press("F8");
  await page.page.waitForFunction(() => document.activeElement?.closest("tr.about"));
  await page.page.locator("#source").focus();
  await keyboard.press("Escape");
  await keyboard.press("Tab");
  await walkTo(/^tab-changes$/);
  await keyboard.press("ArrowRight");
  assert.equal(await focused(), "tab-needs");
  await keyboard.press("ArrowRight");
  assert.equal(await focused(), "tab-recipes");
  await keyboard.press("Tab");
  await keyboard.press("Tab");
  await keyboard.press("Space");
  const fewer = await page.summaryOtherThan(before);
  await keyboard.press("Control+z");
  assert.equal(await page.summaryOtherThan(fewer), before);
  await walkTo(/^patch$/, "Shift+Tab");
  // A menu that closes returns the focus; a button that disappears leaves it where it was.
  await page.page.locator(".menu > summary").focus();
  await keyboard.press("Enter");
  await keyboard.press("Tab");
  assert.equal(await focused(), "download-file");
  await keyboard.press("Escape");
  assert.equal(await focused(), "More");
  await keyboard.press("Enter");
  await keyboard.press("Tab");
  await keyboard.press("Enter");
  assert.equal(await focused(), "More");
  assert.equal(await page.page.locator("#download-file").isVisible(), false);
  await page.fill("");
  await page.page.getByRole("button", { name: "Start from the sample", exact: true }).focus();
  await keyboard.press("Enter");
  await page.ported();
  assert.equal(await focused(), "panel");
});

onPage("bad input is named, with its place, and nothing is lost", {}, async (page) => {
  await page.fill("import torch\nx = 1\n");
  await page.ported();
  const refused = async (file, words) => {
    await page.chooseFiles([file]);
    await page.page.locator(".port-notice.bad").filter({ hasText: words }).waitFor();
    assert.equal(await page.source(), "import torch\nx = 1\n");
    await page.page.locator(".port-notice button").last().click();
  };
  await refused({ name: "nul.py", bytes: fixture("nul.py") }, /zero byte.*line \d+, column \d+/);
  await refused({ name: "binary.py", bytes: fixture("binary.py") }, /(is a binary file|not UTF-8).*line \d+, column \d+/);
  await refused({ name: "latin1.py", bytes: fixture("latin1_undeclared.py") }, /not UTF-8.*line \d+, column \d+/);
  await refused({ name: "big.py", bytes: Buffer.alloc(5 << 20, "x = 1\n") }, /too big/);
  await refused({ name: "a.zip", bytes: Buffer.from("PK no archive") }, /zip/);
  await refused({ name: "run.ipynb", text: "{}" }, /run\.ipynb can’t be read: this is not a notebook: it has no cells\./);
  await inFolder((folder) => {
    const pack = "import sys, zipfile\nwith zipfile.ZipFile('n.zip', 'w') as out:\n  for name in sys.argv[1:]: out.writestr(name, '{}')";
    execFileSync("python3", ["-c", pack, "p/a.ipynb", "p/b.ipynb", "p/.ipynb_checkpoints/a.ipynb", "p/x.csv"], { cwd: folder });
    return refused({ name: "n.zip", bytes: readFileSync(join(folder, "n.zip")) }, /p\/a\.ipynb can’t be read: this is not a notebook.*Also not opened: p\/b\.ipynb\./);
  });
  for (const name of ["not_python.py", "python2.py", "half_pasted.py"]) {
    await page.chooseFiles([{ name, bytes: fixture(name) }]);
    await page.settled();
    const go = page.page.locator(".state.bad button");
    assert.match(await go.textContent(), /Go to line \d+, column \d+/);
    await go.click();
    await page.page.waitForFunction(() => document.activeElement?.id === "source");
    assert.equal(await page.source(), fixture(name).toString().replaceAll("\r\n", "\n"));
  }
  await page.chooseFiles([{ name: "deep.py", text: `x = ${"(".repeat(5000)}1${")".repeat(5000)}\n` }]);
  await page.settled();
  await page.page.locator(".state").waitFor();
  await page.fill(trainer);
  await page.page.waitForFunction(() => /^\d+ changes/.test(document.querySelector("#summary")?.textContent));
});

onPage("a 10 MB paste is refused and the page stays usable", {}, async (page) => {
  await page.fill("import torch\n");
  await page.paste("x = 1\n".repeat((10 << 20) / 6));
  await page.page.locator(".port-notice.bad").filter({ hasText: /too big/ }).waitFor();
  assert.equal(await page.source(), "import torch\n");
  await page.fill(trainer);
  assert.match(await page.summaryOtherThan("No changes"), /^\d+ changes/);
});

onPage("line ends, tabs and the byte order mark stay", {}, async (page) => {
  const bytes = readFileSync(join(root, "tests/fixtures/scripts/tabs_crlf_bom.py"));
  await page.chooseFiles([{ name: "t.py", bytes }]);
  await page.ported();
  // Typing into it only changes the typed text.
  await page.showSource();
  await page.page.locator("#source").focus();
  await page.page.keyboard.press("Control+End");
  await page.page.keyboard.insertText("# end\n");
  await page.ported();
  const { bytes: ported } = await page.download("download-file");
  const text = ported.toString("utf8");
  assert.ok(text.startsWith("\ufeff"));
  assert.equal(text.split("\n").length, text.split("\r\n").length);
  assert.ok(text.endsWith("# end\r\n"));
  assert.ok(text.includes("\t"));
});

onPage("a notebook is ported in its cells, edited, kept and given back as its file", {}, async (page) => {
  const cell = (...source) => ({ cell_type: "code", execution_count: 1, metadata: {}, outputs: [{ output_type: "stream", name: "stdout", text: ["caf\u00e9\n"] }], source });
  const cells = [
    { cell_type: "markdown", metadata: {}, source: ["# A model"] },
    cell("%matplotlib inline\n", "import torch\n", "net = torch.nn.Linear(4, 1).cuda()"),
    cell("%%time\n", "x = torch.rand(2, 4).cuda()\n", "net(x).sum().backward()"),
  ];
  const text = JSON.stringify({ cells, metadata: {}, nbformat: 4, nbformat_minor: 5 }, null, 1) + "\n";
  await page.chooseFiles([{ name: "run.ipynb", text }]);
  const summary = await page.ported();
  assert.match(summary, /^3 changes/);
  await page.showSource();
  assert.match(await page.source(), /^# %% \[2\]\nget_ipython\(\)\.run_line_magic\('matplotlib', 'inline'\)\nimport torch\n[^]*# %% \[3:2\] %%time\n/);
  const expected = text.replace('Linear(4, 1).cuda()', "Linear(4, 1).to('xpu')").replace('rand(2, 4).cuda()', "rand(2, 4).to('xpu')");
  await page.choose("target", "xpu");
  await page.summaryOtherThan(summary);
  assert.equal((await page.download("download-file")).bytes.toString(), expected);
  const patch = await page.download("patch");
  await inFolder((folder) => {
    writeFileSync(join(folder, "run.ipynb"), text);
    writeFileSync(join(folder, "a.patch"), patch.bytes);
    execFileSync("git", ["apply", "a.patch"], { cwd: folder });
    assert.equal(readFileSync(join(folder, "run.ipynb"), "utf8"), expected);
  });
  // Edited on the page, and there again after a reload.
  await page.page.locator("#source").focus();
  await page.page.keyboard.press("Control+End");
  await page.page.keyboard.insertText("print(x.cuda())\n");
  await page.ported();
  await page.page.waitForFunction(() => /saved in this browser/.test(document.querySelector("#kept")?.textContent));
  await page.page.reload();
  await page.ported();
  const edited = JSON.parse((await page.download("download-file")).bytes.toString());
  assert.deepEqual(edited.cells[2].source.slice(-2), ["net(x).sum().backward()\n", "print(x.to('xpu'))"]);
  assert.deepEqual(edited.cells[2].outputs, cells[2].outputs);
});

onPage("a project as files, and back as a zip", {}, async (page) => {
  const project = [
    { name: "train.py", text: trainer },
    { name: "model.py", text: "import torch\nnet = torch.nn.Linear(2, 2).cuda()\n" },
    { name: "notes.md", text: "no Python" },
  ];
  await page.chooseFiles(project.slice(0, 2));
  const summary = await page.ported();
  assert.match(summary, /in 2 files/);
  assert.equal(await page.page.locator(".files li").count(), 2);
  const zip = await page.download("download-zip");
  await page.chooseFiles([{ name: zip.name, bytes: zip.bytes }]);
  await page.page.waitForFunction(() => /No changes/.test(document.querySelector("#summary")?.textContent));
  await page.page.locator(".port-notice .link").first().click();
  assert.equal(await page.summaryOtherThan("No changes"), summary);
  await page.page.locator(".files .file").nth(1).click();
  await page.page.locator(".changes td.add").first().waitFor();
  await inFolder((folder) => {
    writeFileSync(join(folder, "a.zip"), zip.bytes);
    execFileSync("python3", ["-m", "zipfile", "-e", "a.zip", "out"], { cwd: folder });
    mkdirSync(join(folder, "x"));
    execFileSync("python3", ["-m", "py_compile", "out/train.py", "out/model.py"], { cwd: folder });
  });
});

onPage("a message jumps to its line, in another file too", {}, async (page) => {
  const filler = Array.from({ length: 300 }, (_, i) => `x${i} = ${i}`).join("\n");
  await page.chooseFiles([
    { name: "a.py", text: "import torch\nnet = torch.nn.Linear(2, 2).cuda()\n" },
    { name: "b.py", text: `import torch\nnet = torch.nn.Linear(2, 2).cuda()\n${filler}\nnet = torch.nn.DataParallel(net)\n` },
  ]);
  await page.ported();
  await page.tab("needs");
  const place = page.page.locator(".needs .place", { hasText: "b.py" }).first();
  const line = parseInt((await place.textContent()).split(":")[1]);
  assert.ok(line > 300, `line ${line}`);
  await place.click();
  const number = page.page.locator(".changes td.num.old", { hasText: new RegExp(`^${line}$`) });
  await number.waitFor();
  const shown = await number.evaluate((cell) => {
    const box = cell.getBoundingClientRect();
    const pane = cell.closest(".diff-scroll").getBoundingClientRect();
    return box.top >= pane.top && box.bottom <= pane.bottom;
  });
  assert.ok(shown, "the line is in sight");
});

onPage("all targets side by side: an entry opens that port there, Back leads back", {}, async (page) => {
  await page.chooseFiles([
    { name: "train.py", text: trainer },
    { name: "model.py", text: "import torch\n\nnet = torch.nn.Linear(2, 2).cuda()\n" },
  ]);
  await page.ported();
  await page.tab("matrix");
  const matrix = page.page.locator(".matrix");
  await matrix.waitFor();
  const legend = await page.page.locator(".legend dt").allTextContents();
  assert.deepEqual(legend, ["done", "to do", "not possible", "–"]);
  const heads = await matrix.locator("thead th").evaluateAll((heads) => heads.map((head) => head.firstChild.textContent));
  // The list contains the target of each; above a column there is only its name.
  const targets = await page.page.locator("#target option").allTextContents();
  const name = (text) => text.match(/^[A-Za-z]+/)[0];
  assert.deepEqual(heads.slice(1).map(name), targets.map(name));
  for (const name of ["rdu", "hpu"]) {
    const entry = matrix.locator(`a[href^="#at=${name}/0/"]`).first();
    const href = await entry.getAttribute("href");
    const line = href.split("/")[2];
    await entry.press("Enter");
    // The row is only marked for a moment, so it is read as soon as it is visible. A file without changes has its line
    // in the source.
    const seen = await page.page.waitForFunction((name) => {
      if (document.querySelector("#target").value !== name) return null;
      const row = document.querySelector(".changes tr.here");
      if (row) return { numbers: [...row.querySelectorAll("td.num")].map((cell) => cell.textContent), remark: row.classList.contains("remark") };
      return document.activeElement.id === "source" ? {} : null;
    }, name);
    const { numbers = [await page.lineOfCaret()], remark } = await seen.jsonValue();
    assert.equal(await page.page.locator(".files [aria-selected=true]").textContent().then((text) => text.startsWith("model.py")), true);
    assert.ok(numbers.includes(line) || remark, `line ${line}`);
    await page.page.goBack();
    await matrix.waitFor();
    await page.page.waitForFunction((href) => document.activeElement?.getAttribute("href") === href, href);
  }
  // The table follows the text, which is folded in a project until it is requested.
  await page.tab("changes");
  await page.page.locator("#show-source").click();
  await page.tab("matrix");
  await matrix.waitFor();
  await page.fill("x = 1\n");
  await page.page.waitForFunction(() => document.querySelectorAll(".matrix .file").length === 1);
  assert.equal(await matrix.locator(".file").textContent(), "train.py");
  await page.page.locator(".files .close").last().click();
  await page.page.locator(".state").filter({ hasText: "Nothing to compare" }).waitFor();
});

onPage("a port without its training step begins with what is done and what is left", {}, async (page) => {
  const clipped = `import torch

net = torch.nn.Linear(4, 2).cuda()
optimizer = torch.optim.RMSprop(net.parameters(), lr=0.1)
loader = torch.utils.data.DataLoader(data, batch_size=32)


def train():
    for image, label in loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(net(image), label)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
`;
  await page.chooseFiles([{ name: "train.py", text: clipped }]);
  await page.ported();
  assert.equal(await page.page.locator(".overview").count(), 0);
  for (const [target, ported] of [["ipu", /^Nothing yet$/], ["rdu", /./]]) {
    await page.choose("target", target);
    const overview = page.page.locator("#panel .overview");
    await overview.locator("dd").first().filter({ hasText: ported }).waitFor({ state: "attached" });
    await page.settled();
    await page.tab("needs");
    await overview.waitFor();
    await page.tab("changes");
    // The same number of changes as reported by the command.
    const changes = (await page.summary()).match(/^\d+/)?.[0] ?? "0";
    const said = spawnSync(command, ["port", "--target", target, "-"], { input: clipped, encoding: "utf8" }).stderr;
    assert.match(said, new RegExp(`^portolan: ${changes} changes? in`, "m"));
  }
  const place = page.page.locator(".overview .place");
  await page.page.locator("#panel .overview > summary").click();
  const line = (await place.textContent()).split(":")[1];
  await place.click();
  await page.page.waitForFunction((line) => {
    const row = document.querySelector(".changes tr.here");
    return row && [...row.querySelectorAll("td.num")].some((cell) => cell.textContent === line);
  }, line);
});

onPage("above the diff of a step that is not ported, what stops it takes one line", { height: 720 }, async (page) => {
  await page.page.getByRole("button", { name: "sample" }).first().click();
  await page.ported();
  await page.choose("target", "rdu");
  const overview = page.page.locator("#panel .overview");
  await overview.waitFor();
  await page.settled();
  const height = await page.page.locator("#diff-scroll").evaluate((diff) => diff.clientHeight);
  assert.ok(height > 360, `${height} px of 720`);
  assert.equal(await overview.locator(".place").first().isVisible(), false);
  await overview.locator("summary").first().press("Enter");
  assert.equal(await overview.locator(".place").first().isVisible(), true);
});

onPage("lines wrap at words, in the rows that were reckoned with", {}, async (page) => {
  const wide = (name) => `${name} = criterion(outputs_of_the_network, labels_of_the_batch, reduction_over_samples)  # the loss of ${"x".repeat(90)}`;
  await page.chooseFiles([{ name: "train.py", text: `import torch\nnet = net.cuda()\n${wide("loss")}\nif net:\n\tx = (1,\t2)\n` }]);
  await page.ported();
  const rows = await page.page.locator(".changes tr:is(.same, .change)").evaluateAll((rows) =>
    rows.map((row) => ({
      wanted: parseFloat(row.style.height),
      is: row.getBoundingClientRect().height,
      cut: [...row.querySelectorAll(".code > span")].some((code) => code.getBoundingClientRect().right > code.parentElement.getBoundingClientRect().right + 1),
      parts: [...row.querySelectorAll(".code:last-child > span")].flatMap((code) => code.innerHTML.split("<wbr>").map((part) => part.replace(/<[^>]*>/g, ""))),
    })),
  );
  for (const { wanted, is, cut } of rows) assert.ok(wanted === is && !cut, JSON.stringify({ wanted, is, cut }));
  const { parts } = rows.find(({ parts }) => parts[0].startsWith("loss"));
  assert.ok(parts.length > 2, JSON.stringify(parts));
  for (const part of parts.slice(0, -1)) assert.match(part, /[ (,]$|x{8}$/);
});

test("the bar has its room before its controls come", { timeout: 90_000 }, async () => {
  const page = await browser.newPage({ serviceWorkers: "block" });
  let hold;
  await page.route(/\.wasm/, (route) => hold.then(() => route.continue()));
  const height = (selector) => page.locator(selector).evaluate((bar) => bar.getBoundingClientRect().height);
  for (const width of [320, 360, 480, 577, 600, 660, 743, 800, 1183, 1280, 1920]) {
    let go;
    hold = new Promise((done) => (go = done));
    await page.setViewportSize({ width, height: 800 });
    await page.goto(`${site.address}port/`);
    const before = await height(".waiting .port-bar");
    go();
    await page.locator("#sdk:enabled").waitFor({ state: "attached" });
    assert.equal(await height("#port-page .port-bar"), before, `${width} px`);
    const inside = await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth);
    assert.ok(inside, `${width} px: nothing stands out`);
  }
  await page.close();
});

/** The page as it is while its program is being loaded, and a function that lets it load. */
async function loading(context, fragment = "", answer = (route) => route.continue()) {
  const page = await context.newPage();
  let load;
  const loads = new Promise((go) => (load = go));
  await page.route(/page-[0-9a-f]+_bg\.wasm$/, async (route) => {
    await loads;
    await answer(route);
  });
  await page.goto(`${site.address}port/${fragment}`);
  const field = page.locator(".port-source.stand-in textarea");
  await field.click();
  return { page, field, load };
}

/** What is selected in the source in the first task in which it has the focus. */
function selectedAtFirst(page) {
  const look = () =>
    new Promise((done) => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => (document.activeElement?.id === "source" ? done(String(getSelection())) : port2.postMessage(0));
      port2.postMessage(0);
    });
  return page.evaluate(look);
}

const early = "import torch\n\nmodel = torch.nn.Linear(2, 2).cuda()\n";

test("what is typed and chosen while the page is being loaded is continued", async () => {
  const context = await browser.newContext({ serviceWorkers: "block" });
  const { page, field, load } = await loading(context);
  const port = new PortPage(page, context);
  const targets = (list) => page.locator(`${list} option`).evaluateAll((options) => options.map(({ value, textContent }) => [value, textContent]));
  const offered = await targets(".stand-in .target");
  await page.locator(".stand-in .target").selectOption("xpu");
  await page.locator(".stand-in .switch input").check();
  await field.fill(early);
  await page.locator(".panel .state", { hasText: "Your script is ported as soon as the page has loaded." }).waitFor();
  await field.evaluate((field) => field.setSelectionRange(7, 12));
  const selected = selectedAtFirst(page);
  load();
  assert.equal(await selected, "torch");
  await page.keyboard.press("End");
  await page.keyboard.type("  # end");
  await untilSource(page, early.replace("import torch", "import torch  # end"));
  assert.match(await port.ported(), /^1 change/);
  assert.equal(await page.locator("#target").inputValue(), "xpu");
  assert.equal(await page.locator("#unsafe").isChecked(), true);
  assert.deepEqual(await targets("#target"), offered);
  assert.equal(await page.locator(".port-notice").count(), 0);
  await context.close();
});

test("the cursor is where it was, and what was typed while the page was being loaded can be undone", async () => {
  const context = await browser.newContext({ serviceWorkers: "block" });
  const { page, field, load } = await loading(context);
  await field.fill(early);
  await field.evaluate((field) => field.setSelectionRange(13, 13));
  const selected = selectedAtFirst(page);
  load();
  assert.equal(await selected, "");
  await page.keyboard.press("Control+z");
  await untilSource(page, "");
  await page.keyboard.press("Control+Shift+z");
  await untilSource(page, early);
  await context.close();
});

test("without its program the page says so, and what was typed survives a reload", async () => {
  const context = await browser.newContext({ serviceWorkers: "block" });
  const { page, field, load } = await loading(context, "", (route) => route.abort());
  await field.fill(early);
  load();
  const said = page.locator(".panel [role=alert]", { hasText: "This page could not be loaded" });
  await said.waitFor();
  await page.unrouteAll();
  await said.getByRole("button", { name: "Reload" }).click();
  await untilSource(page, early);
  await context.close();
});

test("the lists of the bar are never empty, and the engine can be started again without a script", async () => {
  const context = await browser.newContext({ serviceWorkers: "block" });
  await context.route(/engine_bg\.wasm$/, (route) => route.abort());
  const { page, load } = await loading(context);
  const offered = await page.locator(".stand-in .target option").allTextContents();
  await page.locator(".stand-in .target").selectOption("xpu");
  load();
  const restart = page.getByRole("button", { name: "Restart the engine" });
  await restart.waitFor();
  assert.deepEqual(await page.locator("#target option").allTextContents(), offered);
  assert.equal(await page.locator("#sdk:disabled option").textContent(), "newest");
  assert.equal(await page.locator("#target").inputValue(), "xpu");
  await context.unrouteAll();
  await restart.click();
  await page.locator("#sdk:enabled").waitFor({ state: "attached" });
  assert.equal(await page.locator("#target").inputValue(), "xpu");
  await context.close();
});

test("the target in the address is shown while the page is being loaded, and another choice wins", async () => {
  const context = await browser.newContext({ serviceWorkers: "block" });
  for (const [choice, expected] of [[undefined, "xpu"], ["ipu", "ipu"], ["hpu", "hpu"]]) {
    const { page, load } = await loading(context, "#target=xpu");
    assert.equal(await page.locator(".stand-in .target").inputValue(), "xpu");
    if (choice) await page.locator(".stand-in .target").selectOption(choice);
    load();
    await page.locator("#sdk:enabled").waitFor({ state: "attached" });
    assert.equal(await page.locator("#target").inputValue(), expected);
    await page.close();
  }
  await context.close();
});

test("a text that can't be opened stays where it was typed until it can", async () => {
  const context = await browser.newContext({ serviceWorkers: "block" });
  const { page, field, load } = await loading(context);
  await field.evaluate((field) => (field.value = "x = 1\0"));
  load();
  await page.locator(".port-notice", { hasText: "is still in the field" }).waitFor();
  assert.equal(await field.inputValue(), "x = 1\0");
  await field.fill(early);
  await untilSource(page, early);
  await context.close();
});

test("saved work is closed for what is typed while the page is being loaded, and comes back", async () => {
  const context = await browser.newContext({ serviceWorkers: "block" });
  const first = await loading(context);
  first.load();
  const saved = new PortPage(first.page, context);
  await first.page.locator("#sdk:enabled").waitFor({ state: "attached" });
  await saved.fill("import torch\n\nold = torch.zeros(2).cuda()\n");
  await saved.keptAsItIs();
  await first.page.close();
  const { page, field, load } = await loading(context);
  await field.fill(early);
  load();
  const notice = page.locator(".port-notice", { hasText: "while the page was loading" });
  await notice.waitFor();
  await untilSource(page, early);
  await notice.getByRole("button", { name: "Restore previous project" }).click();
  await untilSource(page, "import torch\n\nold = torch.zeros(2).cuda()\n");
  await context.close();
});

test("files dropped while the page is being loaded are opened", async () => {
  const context = await browser.newContext({ serviceWorkers: "block" });
  const { page, load } = await loading(context);
  const data = await page.evaluateHandle((text) => {
    const data = new DataTransfer();
    data.items.add(new File([text], "dropped.py"));
    return data;
  }, early);
  await page.dispatchEvent(".port-source.stand-in textarea", "drop", { dataTransfer: data });
  load();
  await untilSource(page, early);
  assert.equal(await page.locator("#file-name").inputValue(), "dropped.py");
  await context.close();
});

test("nothing moves while the page starts, and its parts replace their stand-ins", { timeout: 90_000 }, async () => {
  for (const width of [360, 800, 1280]) {
    const page = await browser.newPage({ viewport: { width, height: 800 }, serviceWorkers: "block" });
    await page.addInitScript(() => {
      window.moved = [];
      const note = (list) => window.moved.push(...list.getEntries().map(({ value, sources }) => [value, ...sources.map(({ node }) => node?.id || node?.className)]));
      new PerformanceObserver(note).observe({ type: "layout-shift", buffered: true });
    });
    // As slow as a phone, so that frames are drawn between the parts.
    const slow = await page.context().newCDPSession(page);
    await slow.send("Emulation.setCPUThrottlingRate", { rate: 4 });
    await page.goto(`${site.address}port/`);
    await page.locator("#sdk:enabled").waitFor({ state: "attached" });
    const [moved, left, shown] = await page.evaluate(() => [
      window.moved.filter(([value]) => value > 0.001),
      document.querySelectorAll(".stand-in, .waiting").length,
      ["#target", "#source", "#result-pane", "#key-list"].filter((part) => document.querySelector(part)),
    ]);
    assert.deepEqual(moved, [], `${width} px`);
    assert.equal(left, 0, "stand-ins");
    assert.equal(shown.length, 4, "the engine's answer is shown when the page is complete");
    await page.close();
  }
});

onPage("a training step that is not ported shows what it would be without what stops it", {}, async (page) => {
  const stopped = `import torch

net = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
loader = torch.utils.data.DataLoader(data, batch_size=32)


def train():
    for image, label in loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(net(image), label)
        loss.backward()
        print(net.weight.grad.norm())
        optimizer.step()
`;
  await page.choose("target", "ipu");
  await page.chooseFiles([{ name: "train.py", text: stopped }]);
  await page.ported();
  await page.page.locator("#panel .overview > summary").click();
  const wayOut = page.page.locator("#panel .way-out");
  await wayOut.filter({ hasText: "Without the code at train.py:13, the training step is ported." }).waitFor();
  await wayOut.locator("summary").click();
  assert.match(await wayOut.locator(".patch .add").allTextContents().then((lines) => lines.join("")), /poptorch/);
  // It has the diff's space, and returns it.
  const inSight = await wayOut.locator(".patch").evaluate((patch) => {
    const [own, frame] = [patch, patch.closest(".overview")].map((element) => element.getBoundingClientRect());
    return Math.min(own.bottom, frame.bottom) - Math.max(own.top, frame.top);
  });
  assert.ok(inSight >= 300, `${inSight} pixels of the preview`);
  await wayOut.locator("summary").click();
  await page.page.locator("#diff-scroll").waitFor();
  // Once the line is removed, so is the question, and the port is the displayed one.
  await page.fill(stopped.replace(/.*grad.norm.*\n/, ""));
  await page.page.locator(".overview").waitFor({ state: "detached" });
});

onPage("a text is found in lines that are folded or far away", {}, async (page) => {
  const far = Array.from({ length: 800 }, (_, n) => `value_${n} = ${n}\n`).join("");
  await page.chooseFiles([{ name: "long.py", text: `${trainer}\n${far}net = net.cuda()\n${far}` }]);
  await page.ported();
  await page.page.locator("#diff-scroll").focus();
  await page.page.keyboard.press("Control+f");
  await page.page.keyboard.type("value_417");
  const said = page.page.locator("#find-place");
  const here = (text) => page.page.locator(".changes tr.here", { hasText: text }).waitFor();
  await said.filter({ hasText: "1 of 2" }).waitFor();
  await here("value_417 = 417");
  assert.equal(await page.page.evaluate(() => document.activeElement.id), "find", "the focus stays in the field");
  const scrolled = () => page.page.locator("#diff-scroll").evaluate((table) => table.scrollTop);
  const first = await scrolled();
  // The second is in another fold, 800 lines of 20 pixels below; if both are unfolded, the first is back.
  await page.page.keyboard.press("Enter");
  await said.filter({ hasText: "2 of 2" }).waitFor();
  await here(/^1\d{3}value_417 = 417/);
  const second = await scrolled();
  assert.ok(second > first + 800 * 20, `${first}, then ${second}`);
  const sight = await page.page.locator(".changes tr.here", { hasText: /^1\d{3}value_417/ }).evaluate((row) => {
    const [seen, table] = [row, row.closest("#diff-scroll")].map((element) => element.getBoundingClientRect());
    return seen.top >= table.top && seen.bottom <= table.bottom;
  });
  assert.ok(sight, "the row is in sight");
  await page.page.keyboard.press("Enter");
  await said.filter({ hasText: "1 of 2" }).waitFor();
  await here(/^[1-9]\d\dvalue_417 = 417/);
  assert.equal(await scrolled(), first);
  await page.page.locator("#find").fill("nowhere_at_all");
  await said.filter({ hasText: "Not found" }).waitFor();
  await page.page.keyboard.press("Escape");
  assert.equal(await page.page.locator("#find").count(), 0);
  await focusReaches(page.page, "diff-scroll");
  // The next task may be another key press, which must not be lost.
  const next = await page.page.locator("#diff-scroll").evaluate(async (table) => {
    table.dispatchEvent(new KeyboardEvent("keydown", { key: "f", ctrlKey: true, bubbles: true, cancelable: true }));
    const { port1, port2 } = new MessageChannel();
    await new Promise((task) => {
      port1.onmessage = task;
      port2.postMessage(0);
    });
    return document.activeElement.id;
  });
  assert.equal(next, "find");
});

onPage("typing goes on while the matrix is made, and makes it anew", {}, async (page) => {
  await page.chooseFiles([{ name: "long.py", text: trainer.repeat(10) }]);
  await page.ported();
  await page.tab("matrix");
  await page.page.locator(".columns").waitFor();
  const columns = await page.page.locator("#source").evaluate(async (field) => {
    for (let n = 0; n < 20; n++) {
      field.firstChild.firstChild.insertData(0, "# \n");
      field.dispatchEvent(new Event("input", { bubbles: true }));
      await new Promise((next) => setTimeout(next));
    }
    return document.querySelectorAll(".columns").length;
  });
  assert.equal(columns, 1, "the keys were taken before the table was there");
  await page.page.waitForFunction(() => document.querySelector(".matrix-place:not([aria-busy]) .matrix"));
  const first = await page.page.locator(".matrix [scope=row] b").first().textContent();
  assert.ok(parseInt(first) > 20, `the rows are of the text as it is now: ${first}`);
});

onPage("the ledger stands beside the certificate, and says what changes", {}, async (page) => {
  await page.fill(
    [
      "import torch",
      "from torch.utils.data import DataLoader",
      "net = torch.nn.Linear(4, 2)",
      "criterion = torch.nn.CrossEntropyLoss()",
      "opt = torch.optim.SGD(net.parameters(), lr=0.1)",
      "loader = DataLoader(data, batch_size=32, shuffle=True)",
      "def train():",
      "    for image, label in loader:",
      "        opt.zero_grad()",
      "        loss = criterion(net(image), label)",
      "        loss.backward()",
      "        opt.step()",
      "",
    ].join("\n"),
  );
  await page.ported();
  await page.choose("target", "popdist");
  await page.page.locator("#tab-certificate .count.warn").waitFor();
  await page.tab("certificate");
  const row = page.page.locator(".ledger tr.changed", { hasText: "samples per optimizer step" });
  assert.match(await row.textContent(), /32.*32 × replicas of poprun/);
  assert.ok((await page.page.locator(".flags li").count()) >= 1);
  await page.page.locator(".ledger .place").first().click();
  await page.page.locator(".changes .here").waitFor();
});

onPage("the twin run kit unpacks to a program that runs", {}, async (page) => {
  await page.fill(trainer);
  await page.ported();
  const kit = await page.download("download-kit");
  assert.equal(kit.name, "portolan-rehearsal.zip");
  await page.tab("certificate");
  await page.panel().getByRole("button", { name: "a twin run" }).click();
  assert.match(await page.page.locator("#twin-command").textContent(), /rehearse\.py --target hpu --project port .* -- trainer\.py$/);
  await inFolder((folder) => {
    writeFileSync(join(folder, "kit.zip"), kit.bytes);
    execFileSync("python3", ["-m", "zipfile", "-e", "kit.zip", "."], { cwd: folder });
    const help = execFileSync("python3", ["rehearsal/rehearse.py", "--help"], { cwd: folder });
    assert.match(help.toString(), /--target/);
  });
});

onPage("options are labelled, explained, and in the link", {}, async (page) => {
  await page.fill(trainer);
  await page.ported();
  await page.page.locator("#options").focus();
  await page.page.keyboard.press("Enter");
  // Options that would change this port come first; the sample is not a Lightning trainer.
  const folded = page.page.locator("#named summary");
  await folded.filter({ hasText: /\d options with no effect on this code/ }).waitFor();
  assert.equal(await page.page.getByLabel("Lazy mode").isVisible(), true);
  const zero = page.page.getByLabel("DeepSpeed ZeRO stage");
  assert.equal(await zero.isVisible(), false);
  await folded.focus();
  await page.page.keyboard.press("Enter");
  assert.match(await zero.evaluate((e) => document.getElementById(e.getAttribute("aria-describedby")).textContent), /1 or 2 or 3\. Default: 2/);
  await zero.selectOption("3");
  // The selected option is no longer folded; the others are, in a group that keeps its state.
  await folded.click();
  assert.equal(await zero.isVisible(), true);
  await folded.click();
  await page.page.getByLabel(/^Cards/).fill("8");
  await page.page.keyboard.press("Tab");
  await page.page.getByLabel("Lazy mode").selectOption("on");
  const mode = page.page.locator(".changes td.add", { hasText: "PT_HPU_LAZY_MODE" }).first();
  // The options leave the changes little room.
  for (let step = 0; step < 60 && !(await mode.count()); step++) await page.scrollDiff();
  await mode.waitFor();
  assert.match(await page.page.locator("#options-chosen").textContent(), /3/);
  await page.page.getByLabel("Lazy mode").press("Escape");
  await page.page.waitForFunction(() => document.activeElement?.id === "options");
  assert.equal(await page.page.locator("#named").isVisible(), false);
  const link = await page.share();
  const other = await PortPage.open(browser, site.address, { fragment: new URL(link).hash });
  try {
    await other.ported();
    assert.equal(await other.page.locator("#option-zero").inputValue(), "3");
    assert.equal(await other.page.locator("#option-devices").inputValue(), "8");
    assert.equal(await other.page.locator("#option-lazy").inputValue(), "on");
    assert.deepEqual(other.errors, []);
  } finally {
    await other.close();
  }
});

onPage("each change names what it is drawn from, and leads there", {}, async (page) => {
  await page.fill(trainer);
  await page.choose("style", "in-place");
  await page.ported();
  await page.page.locator("#unified").click();
  await page.page.locator(".changes.unified .about").first().waitFor();
  const heads = page.page.locator(".changes .about");
  const seen = new Map();
  for (let step = 0; step < 40; step++) {
    // Read at one moment: rows appear and disappear while scrolling.
    const inSight = await heads.evaluateAll((heads) =>
      heads.map((head) => ({
        row: head.getAttribute("aria-rowindex"),
        grounds: [...head.querySelectorAll(".grounds")].map((ground) => ground.textContent),
        titles: head.querySelectorAll(".title").length,
      })),
    );
    for (const { row, grounds, titles } of inSight) seen.set(row, [grounds, titles]);
    if (await page.scrollDiff()) break;
  }
  assert.ok(seen.size > 5, `${seen.size} changes`);
  for (const [grounds, titles] of seen.values()) {
    assert.equal(grounds.length, titles);
    for (const text of grounds) assert.match(text, /^Holds for: .+ Source: .+|^For SDK [\d., ]+ Source: .+/);
  }
  await page.scrollDiff(0);
  const cited = page.page.locator(".changes .grounds a").first();
  assert.match(await cited.getAttribute("href"), /^https:/);
  await page.tab("recipes");
  assert.ok((await page.page.locator(".recipes p a[href^='https:']").count()) > 3);
});

onPage("of several files the program is shown, and a file without changes says where they are", {}, async (page) => {
  await page.chooseFiles([
    { name: "data.py", text: "import numpy\n\n\ndef load():\n    return numpy.zeros(3)\n" },
    { name: "model.py", text: "import torch\n\nnet = torch.nn.Linear(2, 2).cuda()\n" },
    { name: "train.py", text: `${trainer}\n\nif __name__ == "__main__":\n    pass\n` },
  ]);
  const shown = page.page.locator(".files [aria-selected=true] .path");
  await shown.filter({ hasText: "train.py" }).waitFor();
  await page.page.locator("#file-0").click();
  const state = page.page.locator(".state", { hasText: "Nothing changed in this file" });
  await state.filter({ hasText: "The changes are in:" }).waitFor();
  await state.getByRole("button", { name: "model.py" }).click();
  await page.page.locator(".changes td.add").first().waitFor();
  assert.equal(await shown.textContent(), "model.py");
});

/** The current fields of the link to the launch scripts. */
async function launchFields(page) {
  const href = await page.page.locator("#to-launch").getAttribute("href");
  assert.match(href, /^\.\.\/launch\/#/);
  return Object.fromEntries(new URLSearchParams(href.split("#")[1]));
}

onPage("a step leads the source to the same place, and only its goal is lit", {}, async (page) => {
  const far = "pass\n".repeat(120);
  await page.fill(`import torch\nx = torch.zeros(1).cuda()\n${"pass\n".repeat(9)}y = torch.zeros(1).cuda()\n${far}z = torch.zeros(1).cuda()\n`);
  const total = parseInt(await page.ported());
  const place = page.page.locator("#step-place");
  for (let step = 1; step <= total; step++) {
    await page.page.keyboard.press("F8");
    await place.filter({ hasText: `${step} of ${total}` }).waitFor();
  }
  // The line with `z` is the 132nd.
  const inSource = () => page.page.locator("#painted .number", { hasText: /^132$/ }).first().evaluate((number) => {
    const [own, pane] = [number, number.closest("#editor-scroll")].map((element) => element.getBoundingClientRect());
    return own.top >= pane.top && own.bottom <= pane.bottom;
  });
  await page.page.locator("#painted .number", { hasText: /^132$/ }).waitFor();
  assert.ok(await inSource(), "the line is in sight in the source");
  for (let step = 0; step < 3; step++) await page.page.keyboard.press("Shift+F8");
  await page.page.locator("#painted .number", { hasText: /^2$/ }).waitFor();
  // Two goals that are visible together, one directly after the other.
  const lit = await page.page.evaluate(async () => {
    const press = () => window.dispatchEvent(new KeyboardEvent("keydown", { key: "F8", cancelable: true }));
    const task = (time) => new Promise((go) => setTimeout(go, time));
    press();
    await task(150);
    press();
    await task(150);
    return document.querySelectorAll(".changes tr.here").length;
  });
  assert.equal(lit, 1);
});

onPage("of several recipes that change the same lines, what one button rejects is said", {}, async (page) => {
  await page.fill(trainer);
  await page.choose("style", "in-place");
  await page.ported();
  const hunk = page.page.locator(".changes .about", { hasText: "Ask whether a Gaudi is available" }).first();
  await page.scrollDiff(0);
  for (let step = 0; step < 60 && !(await hunk.count()); step++) await page.scrollDiff();
  await hunk.getByText("These recipes change the same lines. They are rejected and accepted together:").waitFor();
  assert.equal(await hunk.locator(".title").count(), 2);
  const line = await hunk.locator(".whys > div").last().evaluate((why) => getComputedStyle(why).boxShadow);
  assert.notEqual(line, "none", "a line stands between them");
  const [needed, reckoned] = await hunk.evaluate((row) => [row.querySelector(".head").offsetHeight + 18, row.getBoundingClientRect().height]);
  assert.ok(needed <= reckoned, `${needed} of ${reckoned} pixels`);
  const single = page.page.locator(".changes .about", { hasText: "Cast to bfloat16" }).first();
  assert.equal(await single.getByText("together").count(), 0);
});

onPage("on a phone the way back to one's own project stays in sight of what was opened", { width: 360, height: 740 }, async (page) => {
  await page.chooseFiles([{ name: "own.py", text: "import torch\nx = torch.zeros(1).cuda()\n" }, { name: "other.py", text: "y = 1\n" }]);
  await page.ported();
  await page.page.getByRole("button", { name: "Sample", exact: true }).click();
  await page.page.locator(".port-notice", { hasText: "Restore previous project" }).waitFor();
  await page.ported();
  await page.page.getByRole("button", { name: "Dismiss" }).click();
  const back = page.page.getByRole("button", { name: "Previous project" });
  assert.equal(await back.isVisible(), true);
  const isInSight = await back.evaluate((button) => button.getBoundingClientRect().top >= 0 && button.getBoundingClientRect().bottom <= innerHeight);
  assert.ok(isInSight);
  await back.click();
  await page.page.locator(".files .file", { hasText: "own.py" }).waitFor();
});

onPage("a port leads to its launch scripts", {}, async (page) => {
  await page.fill(trainer);
  await page.ported();
  const fields = await launchFields(page);
  assert.equal(fields.target, "hpu");
  assert.equal(fields.entry, "trainer.py");
});

/** An argparse trainer that joins its processes, with a step that every target ports. */
const distributed = `import argparse
import os

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=24)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cuda")
    args = parser.parse_args()
    if os.environ.get("WORLD_SIZE"):
        dist.init_process_group("nccl")
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    net = torch.nn.Linear(8, 2).to(args.device)
    criterion = torch.nn.CrossEntropyLoss()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    loader = DataLoader(Rows(), batch_size=args.batch_size, shuffle=True)
    for image, label in loader:
        image, label = image.to(args.device), label.to(args.device)
        opt.zero_grad()
        loss = criterion(net(image), label)
        loss.backward()
        opt.step()


if __name__ == "__main__":
    main()
`;

/** Rejects the change with that title in the diff, and resolves to the resulting launch fields. */
async function launchWithout(page, title) {
  const before = await page.summary();
  const head = page.page.locator(".changes .about", { hasText: title }).first();
  await page.scrollDiff(0);
  for (let step = 0; step < 60 && !(await head.count()); step++) await page.scrollDiff();
  await head.locator(".reject").click();
  const fewer = await page.summaryOtherThan(before);
  const fields = await launchFields(page);
  await page.page.locator("#undo").click();
  await page.summaryOtherThan(fewer);
  return fields;
}

onPage("a refused change takes its part of the launch along", {}, async (page) => {
  await page.fill(distributed);
  await page.ported();
  const plain = await launchFields(page);
  assert.equal(plain.batch, "24");
  assert.equal(plain["batch-key"], "--batch-size");
  assert.match(plain["batch-from"], /^--batch-size trainer\.py:\d+$/);
  // The program joins through torchrun's variables, whatever selects the card.
  assert.equal(plain.suits, "torchrun");
  assert.equal((await launchWithout(page, "Let the launcher choose the card")).suits, "torchrun");
  assert.deepEqual(await launchFields(page), plain);

  await page.choose("target", "popdist");
  await page.page.waitForFunction(() => /target=popdist/.test(document.querySelector("#to-launch")?.href));
  assert.equal((await launchFields(page)).alone, undefined);
  const apart = await launchWithout(page, "Start PopDist once");
  assert.equal(apart.alone, "on");
  assert.equal((await launchFields(page)).alone, undefined);

  // The Launch page receives it.
  const other = await page.context.newPage();
  const site = { poplar: "/sdk/poplar", popart: "/sdk/popart", cache: "/cache" };
  const wanted = new URLSearchParams({ ...apart, ...site, instances: "2", replicas: "2" });
  await other.goto(`${new URL("../launch/", page.page.url().split("#")[0])}#${wanted}`);
  await other.locator("#problem-instances", { hasText: "the program does not use PopDist" }).waitFor();
  assert.equal(await other.locator("#field-entry").inputValue(), "trainer.py");
  assert.equal(await other.locator("#field-batch").inputValue(), "24");
});

onPage("without SambaFlow's options there is no launch on an RDU", {}, async (page) => {
  await page.fill(distributed.replace(/    if os[^]*?LOCAL_RANK"\]\)\)\n/, ""));
  await page.ported();
  await page.choose("target", "rdu");
  await page.page.waitForFunction(() => /target=rdu/.test(document.querySelector("#to-launch")?.href));
  assert.equal((await launchFields(page)).alone, undefined);
  assert.equal((await launchWithout(page, "Compile the model, and keep the loss on the host")).alone, "on");
});

onPage("an empty page, a cleared page, nothing to do", {}, async (page) => {
  assert.match(await page.panel().textContent(), /No script yet/);
  await page.fill("x = 1\n");
  await page.page.locator(".state").filter({ hasText: "Nothing changed" }).waitFor();
  await page.fill("");
  await page.page.locator(".state").filter({ hasText: "No script yet" }).waitFor();
  await page.page.getByRole("button", { name: "Start from the sample", exact: true }).click();
  assert.match(await page.ported(), /^\d+ changes/);
});

onPage("50,000 lines: few elements, and typing goes on", {}, async (page) => {
  const body = trainer.split("\n");
  const lines = [];
  for (let i = 0; lines.length < 50_000; i++) lines.push(`def f${i}(x):`, ...Array.from({ length: 9 }, (_, k) => `    y${k} = x + ${i}`));
  await page.chooseFiles([{ name: "long.py", text: [...body, ...lines].join("\n") + "\n" }]);
  await page.page.waitForFunction(() => /^\d+ changes/.test(document.querySelector("#summary")?.textContent));
  await page.page.locator("#whole").click();
  await page.page.waitForFunction(() => document.querySelector(".diff-scroll").scrollHeight > 900_000);
  await page.scrollDiff(500_000);
  assert.ok((await page.page.locator("body *").count()) <= 2000);
  const rows = await page.page.locator(".changes tr.same").count();
  assert.ok(rows > 10, `${rows} rows in sight`);
  assert.match(await page.page.locator(".changes tr.same td.num").first().textContent(), /^\d{5}$/);
});

for (const width of [1280, 360]) {
  onPage(`columns and reflow at ${width} pixels`, { width }, async (page) => {
    await page.fill(trainer);
    await page.ported();
    await page.page.locator(".changes td.add").first().waitFor();
    const unified = await page.page.locator(".changes.unified").count();
    assert.equal(unified, width < 900 ? 1 : 0);
    const overflow = await page.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(overflow <= 0, `${overflow} pixels too wide`);
    // Computed and rendered heights agree.
    const off = await page.page.evaluate(() =>
      [...document.querySelectorAll(".changes tbody tr:not(.space)")]
        .map((row) => [row.getBoundingClientRect().height, parseFloat(row.style.height), row.textContent.slice(0, 60)])
        .filter(([is, should]) => Math.abs(is - should) > 1),
    );
    assert.deepEqual(off, []);
    const small = await page.page.evaluate(() =>
      [...document.querySelectorAll(".port button, .port select, .port summary")]
        .filter((e) => e.checkVisibility({ visibilityProperty: true }))
        .map((e) => [e.getBoundingClientRect(), e.textContent.slice(0, 30)])
        .filter(([box]) => box.width < 24 || box.height < 24)
        .map(([box, text]) => `${text}: ${box.width} x ${box.height}`),
    );
    assert.deepEqual(small, []);
  });
}

const project = [
  { name: "train.py", text: "import torch\nfrom model import net\n\ntorch.cuda.empty_cache()\nnet.cuda()\n\nif __name__ == \"__main__\":\n    net.train()\n" },
  { name: "model.py", text: "import torch\n\nnet = torch.nn.Linear(2, 2).cuda()\nold = torch.jit.script(net)\n" },
  { name: "util.py", text: "x = 1\n" },
];

onPage("what is left to do is grouped, filtered, ticked off, and that stays", {}, async (page) => {
  await page.chooseFiles(project);
  await page.choose("target", "ipu");
  await page.settled();
  await page.tab("needs");
  const entries = page.page.locator(".needs li");
  const all = await entries.count();
  assert.ok(all >= 3, `${all} entries`);
  assert.ok((await page.page.locator(".needs .line").first().textContent()).length > 0, "the line of code is there");
  await page.page.locator("#todo-filter").fill("model.py");
  await page.page.waitForFunction((all) => document.querySelectorAll(".needs li").length < all, all);
  for (const place of await page.page.locator(".needs .place").allTextContents()) assert.match(place, /^model\.py:/);
  await page.page.locator("#todo-filter").fill("");
  const box = page.page.locator(".needs li input").first();
  const label = await box.getAttribute("aria-label");
  await box.check();
  await page.page.locator(".todo-controls .summary", { hasText: /^1 of/ }).waitFor();
  await page.keptAsItIs();
  await page.page.reload();
  await page.ported();
  await page.tab("needs");
  assert.equal(await page.page.getByLabel(label, { exact: true }).first().isChecked(), true);
  await page.page.locator("#todo-open").check();
  await page.page.waitForFunction((all) => document.querySelectorAll(".needs li").length < all, all);
  await page.page.locator("#todo-grouping").selectOption("file");
  assert.match(await page.page.locator(".needs h3").first().textContent(), /\.py/);
  // From an entry to the same place in the source, where it can be edited.
  await page.page.locator(".needs .edit").first().click();
  await page.page.waitForFunction(() => document.activeElement?.id === "source");
});

onPage("a project is closed for a new start, and comes back", {}, async (page) => {
  const start = page.page.getByRole("button", { name: "New", exact: true });
  assert.equal(await start.count(), 0, "there is nothing to close");
  await page.chooseFiles(project);
  await page.settled();
  await start.click();
  await page.page.locator("#editor-empty").waitFor();
  assert.equal(await page.source(), "");
  await start.waitFor({ state: "detached" });
  // The button that had the focus is gone.
  await page.page.waitForFunction(() => document.activeElement?.tagName !== "BODY");
  await page.page.getByRole("button", { name: "Restore previous project" }).click();
  await page.settled();
  assert.equal(await page.page.locator(".files .path").count(), project.length);
});

onPage("what is left to do has the lines of the newest port", {}, async (page) => {
  await page.choose("target", "ipu");
  await page.paste("import torch\nfirst = torch.ones(2).cuda()\n");
  await page.ported();
  await page.tab("needs");
  const entry = page.page.locator(".needs li");
  await entry.filter({ hasText: "first = torch.ones(2).cuda()" }).filter({ hasText: ":2" }).waitFor();
  // The same message, in the same group, at another place.
  await page.fill("import torch\n\n\nsecond = torch.ones(3).cuda()\n");
  await entry.filter({ hasText: "second = torch.ones(3).cuda()" }).filter({ hasText: ":4" }).waitFor();
  assert.equal(await entry.count(), 1);
  // Text that is not Python is named here too.
  await page.fill("#!/bin/bash\n#SBATCH --gres=gpu:4\nmodule load cuda\n");
  await page.panel().locator("p", { hasText: "This is a shell or job script" }).waitFor();
});

onPage("a project: the entry program first, a tree with counts, and what is removed comes back", {}, async (page) => {
  await page.chooseFiles([...project, { name: "notes.py", text: "y = 2\n" }]);
  await page.settled();
  assert.match(await page.page.locator(".files [aria-selected=true] .path").textContent(), /train\.py/);
  // At this width the source gives its space to the diff, and returns.
  assert.equal(await page.page.locator("#source").isVisible(), false);
  assert.ok((await page.page.locator("#diff-scroll").evaluate((box) => box.clientWidth)) > 900);
  await page.page.locator("#show-source").click();
  assert.equal(await page.page.locator("#source").isVisible(), true);
  await page.page.locator("#changed-only").check();
  assert.equal(await page.page.locator(".files .file", { hasText: "util.py" }).count(), 0);
  await page.page.locator("#changed-only").uncheck();
  await page.page.getByRole("button", { name: "Remove util.py" }).click();
  await page.page.locator(".port-notice", { hasText: "Removed util.py" }).getByRole("button", { name: "Undo" }).click();
  await page.settled();
  assert.equal(await page.page.locator(".files .file", { hasText: "util.py" }).count(), 1);
});

onPage("a pasted script that names itself gives its room to the diff until its source is asked for", {}, async (page) => {
  await page.paste("# tools/train.py\nimport torch\nx = torch.zeros(1).cuda()\n");
  await page.page.locator("#source").waitFor({ state: "hidden" });
  await focusReaches(page.page, "result-head");
  assert.ok((await page.page.locator("#diff-scroll").evaluate((box) => box.clientWidth)) > 1200);
  await page.page.getByRole("button", { name: "Show source" }).click();
  await page.page.waitForFunction(() => document.activeElement.id === "source");
  await page.page.keyboard.type("# typed\n");
  await page.settled();
  assert.equal(await page.page.locator("#source").isVisible(), true, "what is typed does not fold it again");
  await page.page.getByRole("button", { name: "Hide source" }).click();
  await page.page.waitForFunction(() => document.activeElement.id === "show-source");
});

onPage("the last good port stays while the code does not parse", {}, async (page) => {
  await page.fill("import torch\nx = torch.zeros(1).cuda()\n");
  await page.ported();
  await page.page.locator(".changes td.add").first().waitFor();
  await page.fill("import torch\nx = torch.zeros(1).cuda(\n");
  await page.page.locator(".stale-notice", { hasText: "Earlier port" }).waitFor();
  assert.ok((await page.page.locator(".changes.stale td.add").count()) > 0);
  assert.equal(await page.page.locator(".changes .reject").count(), 0, "an earlier port has nothing to decide");
  await page.fill("import torch\nx = torch.zeros(2).cuda()\n");
  await page.page.locator(".stale-notice").waitFor({ state: "detached" });
});

onPage("what is not Python is named as what it is", {}, async (page) => {
  for (const [text, what] of [
    ['{"cells": [], "metadata": {}, "nbformat": 4}', /Jupyter notebook/],
    ["#!/bin/bash\n#SBATCH --gpus=1\nsrun python train.py\n", /job script/],
    ["Traceback (most recent call last):\n  File \"t.py\", line 1, in <module>\nRuntimeError: x\n", /traceback/],
  ]) {
    await page.fill(text);
    await page.panel().getByText(what).waitFor();
    assert.doesNotMatch(await page.panel().textContent(), /no CUDA or NVIDIA references/i);
  }
});

onPage("a file that the port adds is shown, and is in every download", {}, async (page) => {
  const lightning = "import lightning as L\n\ntrainer = L.Trainer(accelerator=\"gpu\", devices=1)\ntrainer.fit(net)\n";
  const model = "import torch\nnet = torch.nn.Linear(2, 2).cuda()\n";
  await page.chooseFiles([{ name: "train.py", text: lightning }, { name: "model.py", text: model }]);
  const before = await page.ported();
  await page.choose("target", "xpu");
  assert.match(await page.summaryOtherThan(before), /, new file xpu_lightning\.py/);
  const added = page.page.locator(".files .file", { hasText: "xpu_lightning.py" });
  assert.equal(await added.locator(".badge").textContent(), "new");
  await page.tab("needs");
  assert.match(await page.panel().textContent(), /the port adds it as xpu_lightning\.py/);
  const { bytes } = await page.download("patch");
  const zip = await page.download("download-zip");
  await page.page.locator(".files .file", { hasText: "train.py" }).click();
  await page.download("download-file");
  assert.match(await page.notice(), /new file xpu_lightning\.py: it is in the patch and in the zip/);
  await inFolder((folder) => {
    const run = (...words) => execFileSync(words[0], words.slice(1), { cwd: folder });
    writeFileSync(join(folder, "train.py"), lightning);
    writeFileSync(join(folder, "model.py"), model);
    writeFileSync(join(folder, "a.patch"), bytes);
    writeFileSync(join(folder, "a.zip"), zip.bytes);
    run("git", "apply", "a.patch");
    run("python3", "-m", "zipfile", "-e", "a.zip", "out");
    for (const at of ["xpu_lightning.py", "out/xpu_lightning.py"]) {
      assert.match(readFileSync(join(folder, at), "utf8"), /^class XPUAccelerator/m);
    }
  });
});

onPage("what was pasted is given its name, and the patch says how it is applied", {}, async (page) => {
  await page.paste("import torch\nx = torch.zeros(1).cuda()\n");
  await page.ported();
  assert.equal(await page.page.locator("#name-hint").isVisible(), true);
  await page.page.locator("#file-name").fill("src/fit.py");
  await page.page.locator("#file-name").blur();
  await page.settled();
  assert.equal(await page.page.locator("#name-hint").isVisible(), false);
  const { bytes } = await page.download("patch");
  assert.match(bytes.toString(), /^\+\+\+ b\/src\/fit\.py$/m);
  assert.match(await page.notice(), /git apply portolan-hpu\.patch/);
  await page.fill("");
  await page.paste("# tools/train.py\nimport torch\n");
  await page.settled();
});

onPage("the keyboard says where it is, lists its keys, and moves the border", {}, async (page) => {
  await page.fill(trainer);
  await page.ported();
  const place = page.page.locator("#step-place");
  await page.page.keyboard.press("F8");
  await place.filter({ hasText: /^\d+ of \d+$/ }).waitFor();
  const [, total] = /of (\d+)/.exec(await place.textContent());
  for (let step = 2; step <= Number(total); step++) {
    await page.page.keyboard.press("F8");
    await place.filter({ hasText: `${step} of ${total}` }).waitFor();
  }
  await page.page.keyboard.press("F8");
  await place.filter({ hasText: `Last of ${total}` }).waitFor();
  await page.page.keyboard.press("Shift+F8");
  await place.filter({ hasText: /^\d+ of \d+$/ }).waitFor();
  await page.page.locator("#result-head").focus();
  await page.page.keyboard.press("?");
  assert.equal(await page.page.locator("#key-list").isVisible(), true);
  await page.page.keyboard.press("Escape");
  assert.equal(await page.page.locator("#key-list").isVisible(), false);
  const width = () => page.page.locator("#source-pane").evaluate((pane) => pane.clientWidth);
  const before = await width();
  await page.page.getByRole("separator").focus();
  for (let step = 0; step < 5; step++) await page.page.keyboard.press("ArrowRight");
  assert.ok((await width()) > before);
});

onPage("lines with messages are marked in the source", {}, async (page) => {
  await page.fill("import torch\nx = 1\ntorch.jit.script(x)\n");
  await page.ported();
  await page.page.locator("#painted :is(.urgent, .noted)").first().waitFor();
  assert.equal(await page.page.locator("#painted .number:is(.urgent, .noted)").first().textContent(), "3");
});

onPage("coloured words of the source stand where they are typed", {}, async (page) => {
  await page.fill("import torch\n\ndef double(x):\n    return x * 2\n");
  await page.ported();
  await page.page.locator("#painted .hk").first().waitFor();
  const [numbers, keywords] = await page.page.locator("#painted").evaluate((painted) =>
    [".number", ".hk"].map((found) => [...painted.querySelectorAll(found)].map((part) => part.getBoundingClientRect().toJSON())));
  assert.equal(numbers.length, 4);
  assert.equal(keywords.length, 3);
  for (const word of keywords) assert.ok(word.left >= Math.max(...numbers.map((number) => number.right)) - 0.5, "a word is among the line numbers");
});

onPage("the caret of a long source is at the letters that are painted", {}, async (page) => {
  const lines = Array.from({ length: 1_000 }, (_, n) => `value_${n} = number_${n}`);
  await page.chooseFiles([{ name: "long.py", text: [...lines, ""].join("\n") }]);
  await page.settled();
  for (const line of [0, 99, 100, 550, 990]) {
    await page.page.evaluate((line) => (document.querySelector("#editor-scroll").scrollTop = Math.max(0, line - 5) * 20), line);
    await page.page.locator("#painted .ln", { hasText: `value_${line} ` }).waitFor();
    const [typed, painted] = await page.page.evaluate((word) => {
      const place = (root) => {
        const walker = document.createTreeWalker(document.querySelector(root), NodeFilter.SHOW_TEXT);
        while (walker.nextNode() && !walker.currentNode.data.includes(word));
        const range = new Range();
        const end = walker.currentNode.data.indexOf(word) + word.length;
        range.setStart(walker.currentNode, end - 1);
        range.setEnd(walker.currentNode, end);
        const { left, top } = range.getBoundingClientRect();
        return [left, top];
      };
      return ["#source", "#painted"].map(place);
    }, `number_${line}`);
    for (const at of [0, 1]) assert.ok(Math.abs(typed[at] - painted[at]) < 1, `line ${line}: ${typed} and ${painted}`);
  }
});

/** Edits a line of the source like a person, at its end, and waits for the port. */
async function editLine(page, line, more) {
  assert.ok(await page.page.evaluate(putCaretBehind, line), line);
  await page.page.keyboard.type(more);
  await page.settled();
}

onPage("the source is edited across its blocks of lines, and that is undone", {}, async (page) => {
  const { keyboard } = page.page;
  const lines = Array.from({ length: 250 }, (_, n) => `x${n} = ${n}`);
  const text = [...lines, ""].join("\n");
  await page.chooseFiles([{ name: "long.py", text }]);
  await page.settled();
  /** The field's text, and the stored text as it is painted around a line. */
  const check = async (edit, wanted, line) => {
    assert.equal(await page.source(), wanted, edit);
    await page.page.evaluate((line) => (document.querySelector("#editor-scroll").scrollTop = Math.max(0, line - 5) * 20), line);
    const wantedLines = wanted === "" ? [] : wanted.replace(/\n$/, "").split("\n");
    await page.page.waitForFunction(
      (wanted) => {
        const numbers = [...document.querySelectorAll("#painted .number")].map((number) => number.textContent - 1);
        const painted = [...document.querySelectorAll("#painted .ln")].map((line) => line.textContent.trimEnd());
        return painted.every((line, at) => line === wanted[numbers[at]]) && painted.length >= Math.min(20, wanted.length);
      },
      wantedLines,
    );
  };
  const without = (from, to, ...came) => [...lines.slice(0, from), ...came, ...lines.slice(to), ""].join("\n");
  const select = (from, to) =>
    page.page.evaluate(([from, to]) => {
      const places = [from, to].map((text) => {
        const walker = document.createTreeWalker(document.querySelector("#source"), NodeFilter.SHOW_TEXT);
        while (walker.nextNode() && !walker.currentNode.data.includes(text));
        return [walker.currentNode, walker.currentNode.data.indexOf(text) + text.length];
      });
      document.querySelector("#source").focus();
      getSelection().setBaseAndExtent(...places[0], ...places[1]);
    }, [from, to]);
  const edits = [
    ["a line joined with the next block's first", 99, ["x99 = 99"], ["Delete"], without(99, 101, "x99 = 99x100 = 100")],
    ["a block's first line joined with the line before", 99, ["x100 = 100"], ["Home", "Backspace"], without(99, 101, "x99 = 99x100 = 100")],
    ["a line behind a block's last", 99, ["x99 = 99"], ["Enter", "y"], without(100, 100, "y")],
    ["a line before a block's first", 99, ["x100 = 100"], ["Home", "Enter"], without(100, 100, "")],
    ["lines of three blocks", 50, ["x50 = 50", "x220 = 220"], ["Delete"], without(51, 221)],
    ["a key for lines of three blocks", 50, ["x50 = 50", "x220 = 220"], ["y"], without(50, 221, "x50 = 50y")],
    ["the last lines", 190, ["x199 = 199", "x249 = 249"], ["Delete"], without(200, 250)],
    ["a line at the end", 240, ["x249 = 249"], ["ArrowDown", "y"], `${text}y`],
    ["everything", 0, ["x5 = 5"], ["Control+a", "Delete"], ""],
    ["a key for everything", 0, ["x5 = 5"], ["Control+a", "y", "z"], "yz"],
    ["everything that ends in an empty line", 0, ["x5 = 5"], ["Control+a", "a", "Enter", "Control+a", "Delete"], ""],
    ["everything, and new lines", 0, ["x5 = 5"], ["Control+a", "Delete", "a", "Enter", "b"], "a\nb"],
  ];
  for (const [edit, line, [from, to = from], keys, wanted] of edits) {
    await select(from, to);
    for (const key of keys) await keyboard.press(key);
    await check(edit, wanted, line);
    for (let undone = 0; undone < 5 && (await page.source()) !== text; undone++) await keyboard.press("Control+z");
    await check(`${edit}, undone`, text, line);
  }
  // A paste over everything is undone and redone together with what was typed before and after it.
  const pasted = Array.from({ length: 150 }, (_, n) => `y${n} = ${n}\n`).join("");
  await select("x99 = 99", "x99 = 99");
  await keyboard.press("z");
  const typed = without(99, 100, "x99 = 99z");
  await check("typed", typed, 99);
  await page.page.evaluate((text) => navigator.clipboard.writeText(text), pasted);
  await keyboard.press("Control+a");
  await keyboard.press("Control+v");
  await check("pasted", pasted, 99);
  await keyboard.press("z");
  await check("typed behind it", `${pasted}z`, 140);
  for (const [key, wanted] of [
    ["Control+z", pasted],
    ["Control+z", typed],
    ["Control+z", text],
    ["Control+Shift+z", typed],
    ["Control+Shift+z", pasted],
    ["Control+Shift+z", `${pasted}z`],
  ]) {
    await keyboard.press(key);
    await check(key, wanted, 99);
  }
});

onPage("a patch takes what was pasted to the port of what was edited on the page", {}, async (page) => {
  await page.paste(trainer);
  await page.ported();
  await page.showSource();
  await page.page.locator("#file-name").fill("train/fit.py");
  await page.page.locator("#file-name").blur();
  await page.settled();
  const note = page.page.locator("#patch-note");
  assert.equal(await note.isVisible(), false);
  await editLine(page, "import torch\n", "import edited_here\n");
  await note.filter({ hasText: "Your edits in the source are part of the patch." }).waitFor();

  const applied = async () => {
    const patch = (await page.download("patch")).bytes;
    assert.match(await page.notice(), /git apply portolan-hpu\.patch.* Your edits in the source are part of the patch\./);
    const ported = (await page.download("download-file")).bytes.toString();
    assert.match(ported, /import edited_here/);
    inFolder((folder) => {
      mkdirSync(join(folder, "train"));
      writeFileSync(join(folder, "train/fit.py"), trainer);
      writeFileSync(join(folder, "port.patch"), patch);
      execFileSync("git", ["apply", "port.patch"], { cwd: folder, stdio: "pipe" });
      assert.equal(readFileSync(join(folder, "train/fit.py"), "utf8"), ported);
    });
  };
  await applied();
  // Saved with the work: a page that is reopened knows what was pasted.
  await page.keptAsItIs();
  await page.page.reload();
  await page.ported();
  assert.equal(await note.isVisible(), true);
  await applied();
  // Undone in the field, it is not an edit any more; the next patch is relative to another script pasted over all of
  // it.
  await page.showSource();
  const other = `${trainer}\nprint("another")\n`;
  await page.page.evaluate((text) => navigator.clipboard.writeText(text), other);
  await page.page.locator("#source").focus();
  await page.page.keyboard.press("Control+A");
  await page.page.keyboard.press("Control+V");
  await page.settled();
  await note.waitFor({ state: "hidden" });
  const patch = (await page.download("patch")).bytes.toString();
  assert.doesNotMatch(patch, /edited_here|^[-+]print\("another"\)/m);
  await page.page.locator("#source").focus();
  await page.page.keyboard.press("Control+Z");
  await note.waitFor();
});

onPage("steps go on in the next changed file, count all changes, and start anew with another port", {}, async (page) => {
  const line = (name) => `${name} = torch.zeros(1).cuda()\n`;
  await page.chooseFiles([
    { name: "a.py", text: `import torch\n${line("x")}${"pass\n".repeat(30)}${line("y")}` },
    { name: "b.py", text: "z = 1\n" },
    { name: "c.py", text: `import torch\n${line("z")}` },
  ]);
  const total = parseInt(await page.ported());
  const place = page.page.locator("#step-place");
  const shown = () => page.page.locator(".files [aria-selected=true]").textContent();
  const seen = new Set();
  for (let step = 1; step <= total; step++) {
    await page.page.keyboard.press("F8");
    await place.filter({ hasText: `${step} of ${total}` }).waitFor();
    seen.add((await shown()).slice(0, 4));
  }
  assert.deepEqual([...seen], ["a.py", "c.py"]);
  await page.page.keyboard.press("F8");
  await place.filter({ hasText: `Last of ${total}` }).waitFor();
  for (let step = total - 1; step >= 1; step--) {
    await page.page.keyboard.press("Shift+F8");
    await place.filter({ hasText: `${step} of ${total}` }).waitFor();
  }
  await page.page.keyboard.press("Shift+F8");
  await place.filter({ hasText: `First of ${total}` }).waitFor();
  await page.choose("target", "ipu");
  await page.settled();
  await page.page.waitForFunction(() => document.querySelector("#step-place")?.textContent === "" || !document.querySelector("#step-place"));
  // A file without a change is not a dead end.
  await page.choose("target", "hpu");
  await page.settled();
  await page.page.locator(".files .file", { hasText: "b.py" }).click();
  await page.page.keyboard.press("F8");
  await place.filter({ hasText: new RegExp(`^\\d of ${total}$`) }).waitFor();
  assert.match(await shown(), /^c\.py/);
});

onPage("back from a target's port brings back the matrix and the target", {}, async (page) => {
  await page.paste(trainer);
  await page.ported();
  await page.choose("target", "hpu");
  await page.settled();
  await page.tab("matrix");
  const matrix = page.page.locator(".matrix");
  await matrix.waitFor();
  await matrix.locator(`a[href^="#at=rdu/0/"]`).first().press("Enter");
  await page.page.waitForFunction(() => document.querySelector("#target").value === "rdu");
  await page.settled();
  await page.page.goBack();
  await matrix.waitFor();
  await page.page.waitForFunction(() => document.querySelector("#target").value === "hpu");
  await page.settled();
  // Selecting another tab removes this one from the address.
  await page.tab("needs");
  await page.page.waitForFunction(() => location.hash === "");
});

onPage("an entry of what is to do has the number of the line that it shows", {}, async (page) => {
  await page.paste(trainer);
  await page.ported();
  await page.tab("needs");
  const lines = trainer.split("\n");
  const entries = await page.page.locator(".needs li").evaluateAll((entries) =>
    entries.map((entry) => [entry.querySelector(".place").textContent, entry.querySelector(".line").textContent]));
  assert.ok(entries.length > 0);
  for (const [place, code] of entries) assert.equal(lines[Number(place.split(":")[1]) - 1].trim(), code, place);
});

onPage("a style that a script gives no place for is explained in the menu's words", {}, async (page) => {
  await page.paste("import torch\nnet = torch.nn.Linear(1, 1).cuda()\n");
  await page.ported();
  await page.choose("style", "branch");
  const said = page.page.locator(".state.bad", { hasText: "“Keep CUDA, add a branch” needs a project" });
  await said.waitFor();
  assert.equal(await page.page.locator(".stale-notice, .changes").count(), 0);
  await said.getByRole("button", { name: "Replace CUDA code instead" }).click();
  await page.page.locator(".changes .about").first().waitFor();
});

onPage("comments at open places are in the port and in its link, and go when they are turned off", {}, async (page) => {
  const written = async (page) => {
    await page.tab("changes");
    const { added } = await page.changedLines();
    return added.filter((line) => line.includes("# portolan: hpu#"));
  };
  await page.paste("import torch\n\nnet = torch.nn.Linear(2, 1).cuda()\nprint(torch.cuda.get_device_properties(0))\n");
  await page.ported();
  await page.choose("target", "hpu");
  await page.settled();
  assert.deepEqual(await written(page), []);
  await page.tab("needs");
  await page.page.locator("#annotate").check();
  await page.settled();
  assert.equal((await written(page)).length, 1);
  const link = await page.share();
  const other = await PortPage.open(browser, site.address, { fragment: link.slice(link.indexOf("#")) });
  try {
    await other.ported();
    assert.equal((await written(other)).length, 1);
    assert.deepEqual(other.errors, []);
  } finally {
    await other.close();
  }
  await page.tab("needs");
  await page.page.locator("#annotate").uncheck();
  await page.settled();
  assert.deepEqual(await written(page), []);
});
