// All external input, in malicious form: pasted text, file names, archives, links, results, site files, reports. None
// of it may become markup, a script or a link that runs one; none of it may escape its folder or its quotes.

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { deflateRawSync } from "node:zlib";
import { PortPage, launch } from "./port_page.mjs";
import { dist, root, serve } from "./site.mjs";

const limit = { timeout: 120_000 };
const markup = `'"></title></style></script><img src=x onerror="hit=1"><svg onload="hit=1"><iframe srcdoc="<script>parent.hit=1</script>"></iframe><script>hit=1</script><a href="javascript:hit=1">x</a>`;
const shell = "$(touch hit)`touch hit`;touch hit #";
/** The text after it is displayed from right to left, so that `x\u202Eyp.exe` looks like another name. */
const turned = "\u202e";

/** Pasted text with hostile strings in every place that a message, a title or a table quotes. */
const script = `import torch
# ${markup}
name = torch.device("cuda")  # ${turned}${markup}
class Net${"é"}(torch.nn.Module):
    """${markup.replaceAll('"', "'")}"""
model = Net${"é"}().cuda()
table = {'''${markup.replaceAll("'", "")}''': model.cuda(), "javascript:hit=1": torch.cuda.memory_allocated("${shell}")}
print(f"{torch.cuda.get_device_name(0)}${markup.replaceAll('"', "'")}")
torch.cuda.nccl.all_reduce(['''${markup.replaceAll("'", "")}'''])
`;

let browser, site;

before(async () => {
  [browser, site] = await Promise.all([launch(), serve()]);
});

after(async () => {
  await browser?.close();
  await site?.end();
});

/** A page that records violations of its policy. */
async function opened(address) {
  const context = await browser.newContext({ acceptDownloads: true, serviceWorkers: "block" });
  await context.addInitScript(() => {
    window.tried = [];
    addEventListener("securitypolicyviolation", (event) => window.tried.push(`${event.effectiveDirective} ${event.sample}`));
  });
  const page = await context.newPage();
  const errors = [];
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  page.on("dialog", (dialog) => errors.push(`dialog: ${dialog.message()}`) && dialog.dismiss());
  await page.goto(address);
  return Object.assign(page, { errors, port: new PortPage(page, context) });
}

/** All external input is only text. */
async function isText(page, where) {
  const found = await page.evaluate(() => {
    const all = [...document.querySelectorAll("*")];
    const bad = all.filter(({ attributes }) => [...attributes].some(({ name }) => /^on/i.test(name) || name === "srcdoc"));
    bad.push(...document.querySelectorAll("iframe, object, embed, base, body style, main script, img[src='x'], form[action^='javascript']"));
    const links = [...document.querySelectorAll("a[href], area[href], use")].map((link) => link.href?.baseVal ?? link.href);
    // The single-file site contains the kit's archive in a link.
    const led = links.filter((to) => to && !/^(?:(?:https?|blob|file):|data:application\/zip;)/.test(to)).map((to) => to.slice(0, 120));
    return { hit: window.hit, markup: bad.map(({ outerHTML }) => outerHTML.slice(0, 120)), links: led, tried: window.tried };
  });
  assert.deepEqual(found, { hit: undefined, markup: [], links: [], tried: [] }, where);
  assert.deepEqual(page.errors, [], where);
}

/** Every panel of the Port page. */
async function panels(page) {
  await isText(page, "first panel");
  for (const tab of await page.locator("#port [role=tab]").all()) {
    await tab.click();
    await isText(page, await tab.textContent());
  }
}

async function inFolder(body) {
  const folder = mkdtempSync(join(tmpdir(), "portolan-"));
  try {
    return await body(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const pack = `
import sys, zipfile, json
with zipfile.ZipFile(sys.argv[1], "w", zipfile.ZIP_DEFLATED) as out:
    for name, text in json.load(sys.stdin):
        out.writestr(name, text)
`;
const zip = (files) =>
  inFolder((folder) => {
    execFileSync("python3", ["-c", pack, join(folder, "a.zip")], { input: JSON.stringify(files) });
    return readFileSync(join(folder, "a.zip"));
  });
const namesIn = (bytes) =>
  inFolder((folder) => {
    writeFileSync(join(folder, "a.zip"), bytes);
    const list = "import sys, zipfile, json; print(json.dumps(zipfile.ZipFile(sys.argv[1]).namelist()))";
    return JSON.parse(execFileSync("python3", ["-c", list, join(folder, "a.zip")]));
  });
const leaves = (path) => path.startsWith("/") || path.split(/[\\/]/).includes("..") || /^[a-z]:/i.test(path);

const portPage = async (fragment = "") => {
  const page = await opened(`${site.address}port/${fragment}`);
  await page.locator("#sdk:enabled").waitFor({ state: "attached" });
  return page;
};

test("a paste is text in every panel, for every target", limit, async () => {
  const page = await portPage();
  await page.port.fill(script);
  assert.match(await page.port.ported(), /\d/);
  const targets = await page.locator("#target option").evaluateAll((options) => options.map(({ value }) => value));
  assert.ok(targets.length >= 5);
  for (const target of targets) {
    await page.port.choose("target", target);
    await page.port.ported();
    await panels(page);
  }
  await page.context().close();
});

test("names of files, chosen and packed, are names; nothing packed leaves the project", limit, async () => {
  const page = await portPage();
  const names = [`${markup.replaceAll("/", "|")}.py`, "javascript:hit=1.py", `x${turned}yp.py`, `${shell.replaceAll("/", "|")}.py`];
  await page.port.chooseFiles(names.map((name) => ({ name, text: script })));
  await page.port.ported();
  await panels(page);
  const paths = ["../../evil.py", "/etc/evil.py", "a/../../../evil.py", "..\\..\\evil.py", "C:\\evil.py", `p/${names[0]}`, "p/ok.py"];
  await page.port.chooseFiles([{ name: `${markup.replaceAll("/", "|")}.zip`, bytes: await zip(paths.map((path) => [path, script])) }]);
  await page.port.settled();
  await page.port.ported();
  await panels(page);
  await page.port.tab("changes");
  const given = await namesIn((await page.port.download("download-zip")).bytes);
  assert.ok(given.length > 0);
  assert.deepEqual(given.filter(leaves), []);
  await page.context().close();
});

/** A project as encoded in a link, with arbitrary contents (`app/web/src/port/state/fragment.rs`). */
function link({ files, target, sdk, options = [], recipes = [], edits = [] }) {
  const number = (value) => (value > 127 ? [(value & 127) | 128, ...number(value >>> 7)] : [value]);
  const text = (value) => [...number(Buffer.byteLength(value)), ...Buffer.from(value)];
  const list = (values, write) => [...number(values.length), ...values.flatMap(write)];
  const bytes = [1, ...list(files, ({ path, text: body }) => [...text(path), ...text(body)]), 0, ...text(target), 1, 1, ...text(sdk), 1];
  bytes.push(...list(options, ([name, value]) => [...text(name), ...text(value)]), ...list(recipes, text));
  bytes.push(...list(edits, (edit) => [...text(edit.path), ...text(edit.id), ...text(edit.recipe), ...number(edit.start)]));
  return `#s=${deflateRawSync(Buffer.from(bytes)).toString("base64url")}`;
}

test("a link's project stays in its folder, and what it names is text", limit, async () => {
  const header = "a.py\n--- a/b.py\n+++ ../../evil.py\n@@ -1 +1 @@\n-x\n+y\n";
  const paths = ["../../evil.py", "/etc/evil.py", header, `p/${shell}.py`, `p/${markup}.py`, `x${turned}yp.py`];
  const files = paths.map((path) => ({ path, text: script }));
  const edits = [{ path: "../../evil.py", id: markup, recipe: markup, start: 4_000_000_000 }];
  const page = await portPage(link({ files, target: "hpu", sdk: markup, options: [[markup, markup]], recipes: [markup, "__proto__"], edits }));
  await page.port.ported();
  await panels(page);
  await page.port.tab("changes");
  const given = await namesIn((await page.port.download("download-zip")).bytes);
  assert.deepEqual(given.filter(leaves), []);
  const patch = (await page.port.download("patch")).bytes.toString();
  await inFolder((folder) => {
    const project = join(folder, "in", "project");
    mkdirSync(project, { recursive: true });
    for (const path of paths) {
      const inside = path.replace(/^(\.\.\/|\/)+/, "");
      mkdirSync(join(project, inside, ".."), { recursive: true });
      writeFileSync(join(project, inside), script);
    }
    execFileSync("git", ["init", "-q", project]);
    const applied = spawnSync("git", ["apply"], { cwd: project, input: patch, encoding: "utf8" });
    assert.notEqual(applied.status, 0, "git takes no path that leaves the folder");
    assert.deepEqual(readdirSync(folder), ["in"]);
    assert.deepEqual(readdirSync(join(folder, "in")), ["project"]);
  });
  await page.context().close();
});

test("a command that the page offers stays one command", limit, async () => {
  const name = `${shell} 'q' "q".py`;
  const train = `import torch\nnet = torch.nn.Linear(2, 1).cuda()\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\nfor x in range(2):\n    loss = net(torch.ones(1, 2).cuda()).sum()\n    opt.zero_grad()\n    loss.backward()\n    opt.step()\n\nif __name__ == "__main__":\n    print("${name.replaceAll('"', "'")}")\n`;
  const page = await portPage(link({ files: [{ path: name, text: train }, { path: "b.py", text: "x = 1\n" }], target: "hpu", sdk: "1.8" }));
  await page.port.ported();
  const lines = await page.evaluate(async () => {
    const found = new Set();
    for (const tab of document.querySelectorAll("[role=tab]")) {
      tab.click();
      await new Promise(requestAnimationFrame);
      await new Promise((rest) => setTimeout(rest, 100));
      for (const code of document.querySelectorAll("main code, main pre")) found.add(code.textContent);
    }
    return [...found].filter((line) => /^\s*(?:portolan|python3?) /.test(line));
  });
  assert.ok(lines.some((line) => line.includes("touch hit")), `no command names the file: ${lines.join("\n")}`);
  for (const line of lines.filter((line) => line.includes("touch hit"))) {
    await inFolder((folder) => {
      const said = spawnSync("bash", ["-c", `portolan() { printf '%s\\n' "$@"; }; python() { portolan "$@"; }; python3() { portolan "$@"; }\n${line}`], { cwd: folder, encoding: "utf8" });
      assert.equal(said.stderr, "", line);
      assert.ok(said.stdout.split("\n").some((word) => word.endsWith(name)), `${line}\n${said.stdout}`);
      assert.ok(!existsSync(join(folder, "hit")), line);
    });
  }
  await page.context().close();
});

test("the result of a twin run is text, and so is the page that the kit writes of it", limit, async () => {
  const first = { what: markup, step: 2, tensor: markup, original: 0.25, port: 0.5, far: 0.5, place: [markup, 3], told: markup, recipe: markup };
  const step = { step: 1, loss: [1, 2], norm: [1, 1], rate: [[0.1], [0.1]], samples: [8, 8] };
  const ran = { program: markup, arguments: [markup], steps: 16, seed: 20, precision: markup, fake_data: 0, fake_images: [markup], instances: 1, framework: markup, python: markup, stand_ins: [markup] };
  const result = {
    target: "hpu", verdict: "differs", told: markup, reasons: [markup], failed: null, first, findings: [markup, markup], steps: [step],
    trained: [1, 1], printed: 1, notes: [markup], contracts: [{ rule: markup, why: markup, file: markup, line: 3 }], ran, trace: [markup],
    files: { [markup]: { original: "00", port: "11" } },
  };
  const page = await portPage();
  await page.port.fill(script);
  await page.port.ported();
  await page.port.chooseFiles([{ name: "twin.json", text: JSON.stringify(result) }]);
  await page.port.settled();
  await page.locator("main", { hasText: "onerror" }).waitFor();
  await panels(page);
  await page.context().close();
  await inFolder(async (folder) => {
    const write = "import json, sys; sys.path.insert(0, sys.argv[1]); from twins.page import page; print(page(json.load(sys.stdin)))";
    for (const [name, told] of [["differs", result], ["failed", { ...result, failed: markup }]]) {
      const html = execFileSync("python3", ["-c", write, join(root, "rehearsal")], { input: JSON.stringify(told) });
      writeFileSync(join(folder, `${name}.html`), html);
      const page = await opened(pathToFileURL(join(folder, `${name}.html`)).href);
      await isText(page, name);
      assert.match(await page.locator("h1").textContent(), /onerror/);
      assert.match(String(html), /<meta http-equiv="Content-Security-Policy" content="default-src 'none'/);
      await page.context().close();
    }
  });
});

test("addresses, searches and forms are text on every page", limit, async () => {
  const word = encodeURIComponent(markup);
  const places = [
    `port/#example=hpu/${word}/1`, `port/#${word}`, `port/#target=${word}&sdk=${word}`, `port/#at=${word}/0/1`, `port/#s=${word}`,
    `launch/#target=${word}`, `launch/#target=hpu&entry=${word}&args=${word}&site=${word}&scheduler=slurm&instances=${word}`,
    `launch/#target=hpu&entry=a.py&site-file=${encodeURIComponent(`name = ${JSON.stringify(markup)}\nurl = "javascript:hit=1"\n`)}`,
    `check/#preset=${word}&weights=${word}&depth=${word}`, `guides/hpu/#${word}`, `recipes/?q=${word}`, `apis/?q=${word}#${word}`,
  ];
  for (const place of places) {
    const page = await opened(site.address + place);
    await page.waitForLoadState("networkidle");
    await isText(page, place);
    await page.context().close();
  }
  const page = await opened(`${site.address}guides/`);
  await page.locator("#search-open").click();
  const field = page.locator("dialog input[type=search], dialog input").first();
  for (const text of [markup, "<img src=x onerror=hit=1> cuda", "javascript:hit=1"]) {
    await field.fill(text);
    await page.evaluate(() => new Promise((rest) => setTimeout(rest, 300)));
    await isText(page, `search for ${text}`);
  }
  await page.context().close();
});

test("a site file, a launch script and a network's file are text", limit, async () => {
  const quoted = JSON.stringify(markup);
  const rest = `status = "template"\ntargets = ["hpu"]\nschedulers = ["slurm"]\nrequest = "--gres=hpu:{devices}"\n`;
  const good = `name = "mine"\ntitle = ${quoted}\nsource = "javascript:hit=1"\n${rest}`;
  for (const file of [markup, `name = ${quoted}\n`, good]) {
    const page = await opened(`${site.address}launch/#target=hpu&entry=a.py&site=own&site-file=${encodeURIComponent(file)}`);
    await page.locator("#field-site-file").waitFor({ state: "attached" });
    if (file === good) await page.locator("#script", { hasText: "--gres=hpu:1" }).waitFor();
    else await page.locator("#problem-site-file", { hasText: /./ }).waitFor();
    assert.equal(await page.locator("#field-site-file").inputValue(), file);
    await isText(page, "a site file");
    await page.locator("#check-text").fill(`#!/bin/bash\n#SBATCH --job-name=${markup}\nexport ONM_NUM_THREADS=4 # ${markup}\npython “${markup}”\n`);
    await page.locator("#check-found", { hasText: "problem" }).waitFor();
    await isText(page, "a launch script");
    await page.context().close();
  }
  const checkPage = await opened(`${site.address}check/`);
  await checkPage.locator("#run").waitFor({ state: "attached" });
  const head = Buffer.from(JSON.stringify({ [markup]: { dtype: markup, shape: [1], data_offsets: [0, 4] }, __metadata__: { [markup]: markup } }));
  const size = Buffer.alloc(8);
  size.writeBigUInt64LE(BigInt(head.length));
  const tensors = Buffer.concat([size, head, Buffer.alloc(4)]);
  for (const field of await checkPage.locator("input[type=file]").all()) {
    for (const [ending, bytes] of [["safetensors", tensors], ["npy", Buffer.from(markup)], ["json", Buffer.from(JSON.stringify(markup))]]) {
      await field.setInputFiles({ name: `${markup.replaceAll("/", "|")}.${ending}`, mimeType: "application/octet-stream", buffer: bytes });
      await checkPage.evaluate(() => new Promise((rest) => setTimeout(rest, 300)));
      await isText(checkPage, `check, ${ending}`);
    }
  }
  await checkPage.context().close();
});

test("the site as one file holds against the same", limit, async () => {
  const address = pathToFileURL(join(dist, "portolan.html")).href;
  for (const fragment of ["#port", `#launch?target=hpu&entry=${encodeURIComponent(markup)}`, `#guides/hpu/${encodeURIComponent(markup)}`, `#example=hpu/${encodeURIComponent(markup)}/1`]) {
    const page = await opened(address + fragment);
    if (fragment === "#port") {
      await page.locator("#sdk:enabled").waitFor({ state: "attached" });
      await page.port.fill(script);
      await page.port.ported();
      await panels(page);
    } else {
      await page.evaluate(() => new Promise((rest) => setTimeout(rest, 1000)));
    }
    await isText(page, fragment);
    await page.context().close();
  }
});

test("what this file looks for would be found", limit, async () => {
  const page = await opened(`${site.address}glossary/`);
  await page.evaluate(() => {
    const link = Object.assign(document.createElement("a"), { href: "javascript:hit=1", textContent: "x" });
    document.querySelector("main").append(link);
  });
  await assert.rejects(isText(page, "a link"), (error) => JSON.stringify(error.actual).includes("javascript:hit=1"));
  await page.evaluate(() => document.querySelector("main a[href^=javascript]").click());
  await page.evaluate(() => new Promise((rest) => setTimeout(rest, 200)));
  assert.equal(await page.evaluate(() => window.hit), undefined, "and the policy keeps even that from running");
  await page.context().close();
});
