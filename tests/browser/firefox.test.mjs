// The site in Firefox: it starts, ports to the same bytes, saves the work, and recovers from errors.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Firefox } from "./firefox.mjs";
import { choose, isSource, openPort, ported, source, write } from "./firefox_port.mjs";
import { crashes } from "./faults.mjs";
import { root, serve } from "./site.mjs";

const command = ["debug", "release"].map((kind) => join(root, "target", kind, "portolan")).find(existsSync);
const script = (name) => readFileSync(join(root, "tests/fixtures/scripts", name), "utf8");
const trainer = script("spectra_trainer.py");

let firefox, site;

before(async () => {
  [firefox, site] = await Promise.all([Firefox.launch(), serve()]);
});

after(async () => {
  await firefox?.close();
  await site?.end();
});

/** A test with a tab of its own, which shares nothing with others; errors on the page are part of the result. */
function inTab(name, body) {
  test(name, { timeout: 60_000 }, async () => {
    const user = await firefox.user();
    const tab = await firefox.tab(user);
    firefox.errors.length = 0;
    await body(tab, user);
    assert.deepEqual(firefox.errors, []);
    await firefox.ask("browser.removeUserContext", { userContext: user });
  });
}

inTab("pasted text is ported to the bytes of the command", async (tab) => {
  assert.ok(command, "target/ has no portolan; build the command first");
  await openPort(tab, site.address);
  const folder = mkdtempSync(join(tmpdir(), "portolan-"));
  try {
    for (const [name, target] of [["spectra_trainer.py", "hpu"], ["spectra_trainer.py", "xpu"], ["plankton.py", "hpu"]]) {
      // Another script, not an edit of the one before: a patch would be relative to that.
      await write(tab, "");
      await write(tab, script(name));
      await choose(tab, "target", target);
      await tab.until((target) => document.querySelector("#result-pane").ariaBusy === "false" && document.querySelector("#to-launch")?.href.includes(`target=${target}`), target);
      const file = await tab.run(() => document.querySelector("#file-name").value);
      const patch = await firefox.download(() => tab.click("#patch"));
      assert.equal(patch.name, `portolan-${target}.patch`);
      const report = await firefox.download(() => tab.click("#download-report"));
      writeFileSync(join(folder, file), script(name));
      const run = (...more) => execFileSync(command, ["port", "--target", target, ...more, file], { cwd: folder, stdio: "pipe" });
      assert.equal(patch.bytes.toString(), run().toString(), `${name}, ${target}`);
      assert.equal(report.bytes.toString(), run("--format", "json").toString(), `${name}, ${target}`);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

inTab("files are opened with their line ends, and a link brings all of it to another tab", async (tab) => {
  await openPort(tab, site.address);
  await tab.choose("#open-files", join(root, "tests/fixtures/scripts/tabs_crlf_bom.py"));
  await tab.until(() => document.querySelector("#file-name")?.value === "tabs_crlf_bom.py");
  const summary = await ported(tab);
  const file = await firefox.download(() => tab.click("#download-file"));
  assert.ok(file.bytes.subarray(0, 3).equals(Buffer.from("\ufeff")) && file.bytes.includes("\r\n"));
  await tab.click("#share");
  await tab.said(".port-notice", "It contains your code");
  const link = await tab.run(() => location.hash);
  assert.match(link, /^#s=/);
  const other = await firefox.tab(await firefox.user());
  await openPort(other, site.address, link);
  assert.equal(await ported(other), summary);
  const same = await firefox.download(() => other.click("#download-file"));
  assert.deepEqual(same.bytes, file.bytes);
  await other.close();
});

inTab("open work is there after a reload, and in the next tab once the first is closed in the middle", async (tab, user) => {
  await openPort(tab, site.address);
  await write(tab, trainer);
  const summary = await ported(tab);
  await tab.said("#kept", "saved in this browser");
  await tab.reload();
  assert.equal(await ported(tab), summary);
  assert.equal(await source(tab), trainer);
  // Closed immediately, long before the pause after which work is saved.
  const longer = `${trainer}last = 1\n`;
  await write(tab, longer);
  const next = await firefox.tab(user);
  await tab.close();
  await openPort(next, site.address);
  await isSource(next, longer);
});

inTab("the source is edited across its blocks of lines", async (tab) => {
  await openPort(tab, site.address);
  const lines = Array.from({ length: 250 }, (_, n) => `x${n} = ${n}`);
  const text = [...lines, ""].join("\n");
  await write(tab, text);
  await tab.said("#kept", "saved in this browser");
  // A page that is reopened has the text in blocks.
  await tab.reload();
  await isSource(tab, text);
  const without = (from, to, ...came) => [...lines.slice(0, from), ...came, ...lines.slice(to), ""].join("\n");
  const edits = [
    ["x99 = 99", "x99 = 99", [["forwardDelete"]], without(99, 101, "x99 = 99x100 = 100")],
    ["x99 = 99", "x99 = 99", [["insertLineBreak"], ["insertText", "y"]], without(100, 100, "y")],
    ["x50 = 50", "x220 = 220", [["delete"]], without(51, 221)],
    ["x50 = 50", "x220 = 220", [["insertText", "y"]], without(50, 221, "x50 = 50y")],
    ["x190 = 190", "x249 = 249", [["delete"]], without(191, 250)],
    ["x249 = 249", "x249 = 249", [["insertParagraph"], ["insertText", "y"]], without(250, 250, "y")],
    ["x0", "", [["selectAll"], ["delete"]], ""],
    ["x0", "", [["selectAll"], ["insertText", "y"]], "y"],
  ];
  for (const [from, to, commands, wanted] of edits) {
    const shown = await tab.run(
      (from, to, commands) => {
        const place = (text) => {
          const walker = document.createTreeWalker(document.querySelector("#source"), NodeFilter.SHOW_TEXT);
          while (walker.nextNode() && !walker.currentNode.data.includes(text));
          return [walker.currentNode, walker.currentNode.data.indexOf(text) + text.length];
        };
        document.querySelector("#source").focus();
        getSelection().setBaseAndExtent(...place(from), ...place(to || from));
        for (const [command, value] of commands) document.execCommand(command, false, value);
        return document.querySelector("#source").innerHTML.slice(-200);
      },
      from,
      to,
      commands,
    );
    assert.equal(await source(tab), wanted, `${from}, ${JSON.stringify(commands)}: ${shown}`);
    // What is stored is what is shown.
    const number = Math.max(0, lines.indexOf(from) - 5);
    await tab.until(
      (number, wanted) => {
        document.querySelector("#editor-scroll").scrollTop = number * 20;
        const numbers = [...document.querySelectorAll("#painted .number")].map((number) => number.textContent - 1);
        const painted = [...document.querySelectorAll("#painted .ln")].map((line) => line.textContent.trimEnd());
        return painted.every((line, at) => line === wanted[numbers[at]]) && painted.length >= Math.min(20, wanted.length);
      },
      number,
      wanted === "" ? [] : wanted.replace(/\n$/, "").split("\n"),
    );
    for (let undone = 0; undone < 5 && (await source(tab)) !== text; undone++) {
      await tab.run(() => document.execCommand("undo"));
    }
    assert.equal(await source(tab), text, `${from}, ${JSON.stringify(commands)}, undone`);
  }
});

inTab("two tabs keep their work apart", async (tab, user) => {
  await openPort(tab, site.address);
  await write(tab, "first = 1\n");
  await tab.said("#kept", "saved in this browser");
  const second = await firefox.tab(user);
  await openPort(second, site.address);
  await isSource(second, "first = 1\n");
  await write(second, "second = 2\n");
  await second.said("#kept", "This tab’s own work is saved");
  await tab.reload();
  await isSource(tab, "first = 1\n");
  await second.close();
  await tab.reload();
  await tab.said("#other-work", "Work from another tab");
});

test("a worker that crashes is said, the text stays, and the next one ports it", { timeout: 60_000 }, async () => {
  const { fault, asked } = crashes();
  const own = await serve(undefined, "/sub/", { fault });
  const user = await firefox.user();
  const tab = await firefox.tab(user);
  await openPort(tab, own.address);
  await write(tab, trainer);
  await tab.said(".state.bad", "Your text is unchanged");
  assert.equal(await source(tab), trainer);
  await tab.click(".state.bad button");
  assert.match(await ported(tab), /^\d+ changes/);
  assert.equal(await source(tab), trainer);
  assert.ok(asked() >= 2);
  await firefox.ask("browser.removeUserContext", { userContext: user });
  await own.end();
});

test("where storage is refused the page says so, ports, and asks before it is closed", { timeout: 60_000 }, async () => {
  // A setting of Firefox: no site may store anything.
  const strict = await Firefox.launch({ "network.cookie.cookieBehavior": 2 });
  try {
    const tab = await strict.tab();
    await openPort(tab, site.address);
    await write(tab, trainer);
    assert.match(await ported(tab), /^\d+ changes/);
    await tab.said("#unkept", "this browser does not allow this site to store anything");
    await tab.said("#offline", "Not available offline: this browser does not allow the site to be stored");
    assert.equal(await source(tab), trainer);
    // Firefox itself reports that a service worker is refused.
    assert.deepEqual(strict.errors.filter((error) => !error.includes("ServiceWorker")), []);
  } finally {
    await strict.close();
  }
});

test("after one visit the site is there without a network", { timeout: 60_000 }, async () => {
  const own = await serve();
  const user = await firefox.user();
  const tab = await firefox.tab(user);
  await tab.goto(`${own.address}guides/`);
  await tab.said("#offline", "Available offline");
  await own.stop();
  try {
    await tab.goto(`${own.address}guides/hpu/`);
    assert.ok((await tab.said("main")).length > 1000);
    await openPort(tab, own.address);
    await write(tab, trainer);
    assert.match(await ported(tab), /^\d+ changes/);
  } finally {
    await own.start();
    await firefox.ask("browser.removeUserContext", { userContext: user });
    await own.end();
  }
});

inTab("the page for launches writes the command's script", async (tab) => {
  const fields = { target: "hpu", entry: "train.py", instances: "8", scheduler: "slurm" };
  await tab.goto(`${site.address}launch/#${new URLSearchParams(fields)}`);
  await tab.until(() => document.querySelector("#script")?.textContent.includes("train.py"));
  const words = Object.entries(fields).flatMap(([name, value]) => [`--${name}`, value]);
  assert.equal(await tab.run(() => document.querySelector("#script").textContent), execFileSync(command, ["launch", ...words], { encoding: "utf8" }));
});

inTab("the network is computed, and agrees with PyTorch", async (tab) => {
  const fixture = join(root, "tests/fixtures/uresnet/d_convdown_convup");
  const { config } = JSON.parse(readFileSync(`${fixture}.json`, "utf8"));
  await tab.goto(`${site.address}check/#${new URLSearchParams({ ...config, height: 32, width: 48 })}`);
  await tab.until(() => document.querySelector("#run") !== null);
  for (const file of ["weights", "input"]) await tab.choose(`#file-${file}`, `${fixture}.safetensors`);
  // The event is opened first, for the size of its image.
  await tab.until(() => !document.querySelector("#run").disabled);
  await tab.click("#run");
  await tab.said("#said", "Done");
  await tab.choose("#file-candidate", `${fixture}.safetensors`);
  await tab.said("#said", "Compared");
  assert.match(await tab.said("#verdict"), /^PASS/);
});
