// The user's own guides on the Port page: they are used like those of the command's `--guides`, and belong to the work.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { PortPage, launch } from "./port_page.mjs";
import { dist, root, serve } from "./site.mjs";

let browser, site;
const command = ["debug", "release"].map((kind) => join(root, "target", kind, "portolan")).find(existsSync);
/** The guide that the page about recipes teaches. */
const guide = /\{#own-site\}\n[^]*?````markdown\n([^]*?)````/.exec(readFileSync(join(root, "guides/writing-a-recipe.md"), "utf8"))[1];
const program = 'import fastevents\n\nevents = fastevents.load_gpu("a.h5")\n\nsize = 4\nnet = build(size).cuda()\n';
const events = { name: "events.md", text: guide };
const train = { name: "train.py", text: program };
const builtIn = /^1 change\b/;
const both = /^2 changes/;

before(async () => {
  [browser, site] = await Promise.all([launch(), serve()]);
});

after(async () => {
  await browser?.close();
  site?.end();
});

/** A test with a page of its own; errors on the page are part of the result. */
function onPage(name, body) {
  test(name, { timeout: 120_000 }, async () => {
    const page = await PortPage.open(browser, site.address);
    try {
      await body(page);
      assert.deepEqual(page.errors, []);
    } finally {
      await page.close();
    }
  });
}

const shown = (page) => page.page.locator("#own-guides span").allTextContents();

/** Waits for a port whose summary is like this. */
const until = async (page, expected) => {
  await page.page.waitForFunction((expected) => new RegExp(expected).test(document.querySelector("#summary")?.textContent), expected.source, { timeout: 15_000 });
  await page.settled();
};

/** What the command writes for files with the guides in a folder beside them. */
function byCommand(files) {
  const folder = mkdtempSync(join(tmpdir(), "portolan-"));
  try {
    for (const path of ["p", "p/guides"]) mkdirSync(join(folder, path));
    for (const [path, bytes] of Object.entries(files)) writeFileSync(join(folder, "p", path), bytes);
    execFileSync(command, ["port", "--target", "hpu", "--guides", "p/guides", "--out", "out", "p"], { cwd: folder, stdio: "pipe" });
    return readFileSync(join(folder, "out/train.py"), "utf8");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The files of an archive, by path. */
function unpacked(bytes) {
  const script = "import json, io, sys, zipfile; z = zipfile.ZipFile(io.BytesIO(sys.stdin.buffer.read())); print(json.dumps({n: z.read(n).decode() for n in z.namelist()}))";
  return JSON.parse(execFileSync("python3", ["-c", script], { input: bytes }));
}

onPage("an opened guide ports as the command does with it", async (page) => {
  await page.chooseFiles([train]);
  assert.match(await page.ported(), builtIn);
  assert.ok(!page.requests.some((url) => url.includes("guide_file")), "its reader is fetched with the first guide");
  await page.chooseFiles([events]);
  await until(page, both);
  assert.equal(await page.notice(), "Opened events.md.UndoDismiss");
  assert.deepEqual(await shown(page), ["events.md: Our cluster's readers: 1 recipe for HPU×"]);
  assert.equal(await page.source(), program, "the program stays open");
  // Its reason and source are beside the change, and nothing links to a page that the site does not have.
  const head = page.page.locator(".changes .head", { hasText: "Read events on the host" });
  assert.match(await head.textContent(), /fills buffers on an NVIDIA GPU[^]*Source: its README, 3\.2\./);
  await page.tab("recipes");
  const links = await page.page.locator("a[href*='guides/events']").count();
  assert.equal(links, 0);
  await page.tab("twin");
  const { bytes } = await page.download("download-zip");
  const files = unpacked(bytes);
  assert.deepEqual(Object.keys(files).sort(), ["guides/events.md", "train.py"]);
  assert.equal(files["guides/events.md"], guide);
  assert.equal(files["train.py"], byCommand({ "train.py": program, "guides/events.md": guide }));
});

onPage("the shown command names the guides", async (page) => {
  await page.chooseFiles([{ ...train, text: `${program}\nif __name__ == "__main__":\n    print(net)\n` }, events]);
  // The mode of Gaudi's bridge is set where a program starts, also where only a library imports torch.
  await until(page, /^3 changes/);
  await page.tab("twin");
  await page.page.locator(".take-away code", { hasText: "portolan rehearse --target hpu --guides guides train.py" }).waitFor();
});

onPage("a guide is part of the work: undone, removed, cleared, restored", async (page) => {
  await page.chooseFiles([train, events]);
  await until(page, both);
  const button = (name) => page.page.getByRole("button", { name, exact: true });
  await page.showSource();
  await button("Remove events.md").click();
  await until(page, builtIn);
  assert.deepEqual(await shown(page), []);
  await page.page.locator(".port-notice .link", { hasText: "Undo" }).click();
  await until(page, both);
  await page.page.locator("#undo").click();
  await until(page, builtIn);
  await page.page.locator("#redo").click();
  await until(page, both);
  await page.keptAsItIs();
  await page.page.reload();
  await until(page, both);
  assert.equal((await shown(page)).length, 1);
  await page.showSource();
  await page.page.locator("#start-over").click();
  await page.page.locator("#own-guides").waitFor({ state: "hidden" });
  await page.paste(program);
  await until(page, builtIn);
  await page.page.locator("#former").click();
  await until(page, both);
});

onPage("a guide alone waits for the program", async (page) => {
  await page.chooseFiles([events]);
  await page.page.locator("#own-guides span").waitFor();
  await page.paste(program);
  await until(page, both);
  // The next program is ported with it, too.
  await page.chooseFiles([{ name: "other.py", text: `${program}x = 1\n` }]);
  await until(page, both);
  assert.match(await page.source(), /x = 1/);
});

test("a link has the guide", { timeout: 120_000 }, async () => {
  const sender = await PortPage.open(browser, site.address);
  await sender.chooseFiles([train, events]);
  await until(sender, both);
  const link = await sender.share();
  await sender.close();
  const reader = await PortPage.open(browser, site.address, { fragment: link.slice(link.indexOf("#")) });
  await until(reader, both);
  assert.deepEqual(await shown(reader), ["events.md: Our cluster's readers: 1 recipe for HPU×"]);
  assert.equal(await reader.source(), program);
  assert.deepEqual(reader.errors, []);
  await reader.close();
});

onPage("what is wrong with a guide is named by line, and nothing is lost", async (page) => {
  await page.chooseFiles([train, events]);
  await until(page, both);
  const refused = async (from, to, expected) => {
    assert.ok(guide.includes(from), from);
    await page.chooseFiles([{ name: "events.md", text: guide.replace(from, to) }]);
    const notice = page.page.locator(".port-notice.bad", { hasText: expected });
    await notice.waitFor();
    await until(page, both);
    assert.equal((await shown(page)).length, 1);
    await notice.getByRole("button", { name: "Dismiss" }).click();
  };
  await refused('title = "Our', "title = Our", /^Not used: events\.md:2: /);
  await refused("diff rule", "diff rule usafe", /^Not used: events\.md:17: unknown word usafe/);
  await refused("- fastevents.load_gpu($FILE, $$$MORE)", "- fastevents.load_gpu($FILE, $$$MORE", /^Not used: events\.md:18: /);
  await refused('target = "hpu"', 'target = "hpuu"', /^Not used: events\.md:3: /);
  await page.chooseFiles([{ name: "hpu.md", text: guide }]);
  await page.page.locator(".port-notice.bad", { hasText: "hpu.md:1: the built-in guides have a page hpu" }).waitFor();
  await until(page, both);
  assert.equal(await page.source(), program);
});

onPage("other texts in Markdown are no guides", async (page) => {
  await page.chooseFiles([train]);
  assert.match(await page.ported(), builtIn);
  const readme = "# A project\n\nA rule looks like this:\n\n```diff rule\n- a\n+ b\n```\n";
  await page.chooseFiles([{ name: "README.md", text: readme }]);
  await page.page.locator(".port-notice", { hasText: "Opened README.md." }).waitFor();
  await page.settled();
  assert.equal(await page.source(), readme);
  assert.deepEqual(await shown(page), []);
  // In an archive or a folder, guides are found among them.
  const pack = "import sys, zipfile\nwith zipfile.ZipFile(sys.stdout.buffer, 'w') as out:\n  for name, text in zip(sys.argv[1::2], sys.argv[2::2]): out.writestr(name, text)";
  const bytes = execFileSync("python3", ["-c", pack, "p/README.md", readme, "p/guides/events.md", guide, "p/train.py", program]);
  await page.chooseFiles([{ name: "p.zip", bytes }]);
  await until(page, both);
  assert.deepEqual(await shown(page), ["events.md: Our cluster's readers: 1 recipe for HPU×"]);
  assert.equal(await page.page.locator("#file-name").inputValue(), "train.py");
});

test("a reader of guides that can't be fetched is said, and the work stays", { timeout: 120_000 }, async () => {
  let isDown = true;
  const own = await serve(dist, "/sub/", { fault: (path) => (isDown && /guide_file\.js$/.test(path) ? "drop" : undefined) });
  after(() => own.end());
  const page = await PortPage.open(browser, own.address);
  await page.chooseFiles([train]);
  assert.match(await page.ported(), builtIn);
  await page.chooseFiles([events]);
  await page.page.locator(".port-notice.bad", { hasText: "events.md: the reader of guides could not be loaded" }).waitFor();
  await until(page, builtIn);
  isDown = false;
  await page.chooseFiles([events]);
  await until(page, both);
  await page.close();
});
