// The page that writes launch scripts, end to end in a real browser, compared with the command.

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { focusReaches } from "./browser.mjs";
import { PortPage, launch } from "./port_page.mjs";
import { root, serve } from "./site.mjs";

const command = ["debug", "release"].map((kind) => join(root, "target", kind, "portolan")).find(existsSync);

let browser, site;

before(async () => {
  [browser, site] = await Promise.all([launch(), serve()]);
});

after(async () => {
  await browser?.close();
  site?.end();
});

/** The page as used by a person. */
class LaunchPage {
  static async open(address, { fragment = "", width = 1280, height = 800 } = {}) {
    const context = await browser.newContext({
      viewport: { width, height },
      acceptDownloads: true,
      permissions: ["clipboard-read", "clipboard-write"],
      serviceWorkers: "block",
    });
    const self = new LaunchPage();
    self.context = context;
    self.page = await context.newPage();
    self.errors = [];
    self.requests = [];
    self.page.on("pageerror", (error) => self.errors.push(String(error)));
    self.page.on("console", (message) => message.type() === "error" && self.errors.push(message.text()));
    self.page.on("request", (request) => self.requests.push(request.url()));
    await self.page.goto(`${address}launch/${fragment}`);
    await self.page.locator("#field-target").waitFor();
    return self;
  }

  field(name) {
    return this.page.locator(`#field-${name}`);
  }

  /** Fills fields in, in order: text, or for a list its value. */
  async fill(fields) {
    for (const [name, value] of Object.entries(fields)) {
      const field = this.field(name);
      const folded = this.page.locator(`details:not([open]):has(#field-${name}) > summary`);
      if (await folded.count()) await folded.click();
      const kind = await field.evaluate((element) => element.tagName);
      if (kind === "SELECT") await field.selectOption(value);
      else await field.fill(value);
      await field.blur();
    }
  }

  /** Follows the list of missing fields to a field. */
  async goTo(name) {
    const label = await this.page.locator(`label[for=field-${name}]`).evaluate((label) => label.firstChild.textContent);
    await this.page.locator("#missing").getByRole("button", { name: label, exact: true }).click();
  }

  script() {
    return this.page.locator("#script").evaluate((element) => element.textContent);
  }

  problem(name) {
    return this.page.locator(`#problem-${name}`).textContent();
  }

  button(name) {
    return this.page.getByRole("button", { name, exact: true });
  }

  async download(button) {
    const [download] = await Promise.all([this.page.waitForEvent("download"), this.button(button).click()]);
    return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
  }
}

/** A test with a page of its own; errors on the page are part of the result. */
function onPage(name, options, body) {
  test(name, { timeout: 60_000 }, async () => {
    const page = await LaunchPage.open(site.address, options);
    try {
      await body(page);
      assert.deepEqual(page.errors, []);
      const elsewhere = page.requests.filter((url) => !url.startsWith(site.address) && !url.startsWith("blob:"));
      assert.deepEqual(elsewhere, []);
    } finally {
      await page.context.close();
    }
  });
}

const hostile = "a b/\"q\" 'q' $HOME `id` $(id) ; & * ~ \\ é.py";

for (const [name, fields, args] of [
  ["one card", { entry: "train.py" }, ["--target", "hpu", "--entry", "train.py"]],
  [
    "eight cards under Slurm",
    { entry: hostile, args: "mode=train run.id='a b'", scheduler: "slurm", instances: "8", batch: "16", "distributed-key": "run.distributed" },
    [
      ...["--target", "hpu", "--entry", hostile, "--args", "mode=train run.id='a b'", "--scheduler", "slurm"],
      ...["--instances", "8", "--batch", "16", "--distributed-key", "run.distributed"],
    ],
  ],
  [
    "poprun at a site",
    { target: "popdist", site: "alcf-pod64", scheduler: "slurm", entry: "t.py", cache: "/c d", instances: "2", replicas: "4", time: "01:00:00" },
    [
      ...["--target", "popdist", "--site", "alcf-pod64", "--scheduler", "slurm", "--entry", "t.py", "--set", "cache=/c d"],
      ...["--instances", "2", "--replicas", "4", "--set", "time=01:00:00"],
    ],
  ],
  [
    "compile and run",
    { target: "rdu", entry: "t.py", batch: "8", pef: "net" },
    ["--target", "rdu", "--entry", "t.py", "--batch", "8", "--set", "pef=net"],
  ],
]) {
  onPage(`page and command write the same bytes: ${name}`, {}, async (page) => {
    await page.fill(fields);
    const expected = execFileSync(command, ["launch", ...args], { encoding: "utf8" });
    assert.equal(await page.script(), expected);
    assert.equal((await page.download("Download script")).bytes.toString(), expected);
    // The command shown on the page, as parsed by a shell, gives the same script.
    const shown = await page.page.locator("#launch-command").textContent();
    const again = spawnSync("bash", ["-c", shown.replace(/^portolan/, '"$0"'), command], { encoding: "utf8" });
    assert.equal(again.stdout, expected, again.stderr);
  });
}

onPage("a problem stands at its field and is said", {}, async (page) => {
  assert.match(await page.page.locator("#missing").textContent(), /Program/);
  assert.equal(await page.problem("entry"), "", "nothing is wrong with a field that nobody was in");
  await page.goTo("entry");
  await focusReaches(page.page, "field-entry");
  await page.fill({ entry: "a.py", instances: "9" });
  assert.match(await page.problem("instances"), /9 processes on a machine with 8 cards/);
  assert.equal(await page.field("instances").getAttribute("aria-invalid"), "true");
  assert.equal(await page.button("Download script").isDisabled(), true);
  for (const bad of ["0", "10000", "x", "-1"]) {
    await page.fill({ instances: bad });
    assert.notEqual(await page.problem("instances"), "", bad);
    assert.doesNotMatch(await page.problem("instances"), /`/);
  }
  await page.fill({ instances: "8" });
  assert.equal(await page.problem("instances"), "");
  assert.match(await page.script(), /mpirun -n 8/);
});

const folded = (page) => page.page.locator(".launch-form .folded").first().evaluate((element) => !element.open);

onPage(
  "a step that is not ported says so above the script, until the field is emptied",
  { fragment: "#target=ipu&site=tamu-aces&cache=/c&entry=a.py&unported=a.py:9" },
  async (page) => {
    const warning = page.page.locator("#warnings");
    await warning.getByText("a.py:9: this training step is not ported to the IPU").waitFor();
    assert.match(await page.script(), /# Warning: a\.py:9: this training step is not ported/);
    await page.fill({ unported: "" });
    await page.page.waitForFunction(() => !document.getElementById("warnings").textContent);
    assert.doesNotMatch(await page.script(), /Warning/);
  },
);

onPage("on a phone a way leads down to the script", { width: 360, height: 740 }, async (page) => {
  await page.fill({ entry: "train.py" });
  const way = page.page.locator(".launch-way button");
  await way.click();
  await focusReaches(page.page, "script-name");
  assert.ok((await page.page.locator("#script-name").boundingBox()).y < 100);
});

onPage("a way leads from the top to the check of an existing script", {}, async (page) => {
  await page.page.locator(".to-check button").click();
  await focusReaches(page.page, "check-name");
  const { y } = await page.page.locator("#check-name").boundingBox();
  assert.ok(y >= 0 && y < (await page.page.evaluate(() => innerHeight)) - 100, `at ${y}`);
});

onPage("the script stays in view next to a field far down", { width: 1400, height: 1080 }, async (page) => {
  await page.fill({ entry: "train.py" });
  await page.page.evaluate(() => {
    const form = document.querySelector(".launch-form").getBoundingClientRect();
    scrollBy(0, form.top + form.height / 2 - innerHeight / 2);
  });
  const top = async () => (await page.page.locator("#script-name").boundingBox()).y;
  assert.ok((await page.page.evaluate(() => scrollY)) > 500, "the form is longer than the window");
  assert.ok((await top()) >= 0 && (await top()) < 200, `at ${await top()}`);
  // It ends with the form, and does not cover the check of an existing script.
  await page.page.locator(".to-check button").click();
  const ends = await page.page.evaluate(() => {
    const script = document.querySelector(".launch-script > div").getBoundingClientRect();
    return document.querySelector(".launch-check").getBoundingClientRect().top - script.bottom;
  });
  assert.ok(ends >= 0, `the script covers ${-ends} pixels of the check`);
});

onPage("what few need is folded, unless something stands in it", {}, async (page) => {
  await page.fill({ entry: "a.py" });
  assert.equal(await folded(page), true);
  assert.equal(await page.field("batch-key").isVisible(), false);
  // A problem in it is visible, and the list of problems links to it.
  await page.page.locator(".launch-form .folded > summary").first().click();
  await page.fill({ batch: "8", "batch-key": "two words" });
  assert.match(await page.problem("batch-key"), /must be only the key/);
  await page.page.locator(".launch-form .folded > summary").first().click();
  assert.equal(await folded(page), true);
  await page.goTo("batch-key");
  await focusReaches(page.page, "field-batch-key");
  await page.fill({ "batch-key": "--batch" });
  assert.match(await page.script(), /a\.py --batch=8/);
  // Groups that the user opened stay open when the form changes.
  await page.fill({ "batch-key": "", target: "ipu" });
  assert.equal(await folded(page), false);
});

for (const [what, fragment, is] of [
  ["nothing", "#entry=a.py&batch=8", true],
  ["a place", "#entry=a.py&batch=8&batch-from=a.py%3A3", false],
  ["a switch", "#entry=a.py&alone=on", false],
]) {
  onPage(`a link that says ${what} of the project`, { fragment }, async (page) => {
    assert.equal(await folded(page), is);
  });
}

test("without scripts there is no form, and the command is named", { timeout: 60_000 }, async () => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(`${site.address}launch/`);
  const text = await page.locator("main").innerText();
  assert.match(text, /portolan launch --target hpu --entry train\.py/);
  assert.doesNotMatch(text, /being loaded/);
  assert.equal(await page.locator("main :is(button, input, select, textarea):visible").count(), 0);
  await context.close();
});

onPage("a link holds the form, and going back undoes", {}, async (page) => {
  await page.fill({ entry: hostile, instances: "4" });
  await page.button("Copy link").click();
  await page.page.locator("#script-said", { hasText: "Link copied" }).waitFor();
  const link = await page.page.evaluate(() => navigator.clipboard.readText());
  const script = await page.script();
  const other = await LaunchPage.open(site.address, { fragment: new URL(link).hash });
  assert.equal(await other.script(), script);
  assert.deepEqual(other.errors, []);
  await other.context.close();
  await page.page.goBack();
  await page.page.waitForFunction(() => document.querySelector("#field-instances").value === "");
  assert.equal(await page.field("entry").inputValue(), hostile);
  await page.page.goForward();
  await page.page.waitForFunction((script) => document.querySelector("#script").textContent === script, script);
  await page.page.reload();
  await page.field("target").waitFor();
  assert.equal(await page.script(), script);
});

onPage("all scripts as an archive", {}, async (page) => {
  await page.fill({ script: "collect", results: "out" });
  await page.fill({ script: "train", entry: "a.py", venv: "my venv", scheduler: "pbs" });
  assert.match(await page.page.locator("#missing").textContent(), /PBS's name for the devices/);
  await page.fill({ select: "ngpus=1" });
  const { name, bytes } = await page.download("All scripts (.zip)");
  assert.equal(name, "launch-scripts.zip");
  const folder = mkdtempSync(join(tmpdir(), "portolan-"));
  try {
    const unpack = "import io, sys, zipfile; zipfile.ZipFile(io.BytesIO(sys.stdin.buffer.read())).extractall(sys.argv[1])";
    execFileSync("python3", ["-c", unpack, folder], { input: bytes });
    for (const script of ["setup-hpu.sh", "train-hpu.sh", "train-hpu-slurm.sh", "train-hpu-pbs.sh", "collect-hpu.sh"]) {
      execFileSync("bash", ["-n", join(folder, script)]);
    }
    assert.match(readFileSync(join(folder, "README.md"), "utf8"), /sbatch train-hpu-slurm\.sh/);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

onPage("a site file of one's own, and a broken one", {}, async (page) => {
  await page.fill({ entry: "a.py", site: "own", "site-file": "name = 3" });
  // Its reader is fetched at that time.
  await page.page.locator("#problem-site-file", { hasText: "line 1" }).waitFor();
  const good = [
    'name = "mine"',
    'title = "Mine"',
    'status = "template"',
    'source = "here"',
    'targets = ["hpu"]',
    'schedulers = ["slurm"]',
    'request = "--gres=hpu:{devices}"',
  ];
  await page.fill({ "site-file": good.join("\n") });
  await page.page.locator("#script", { hasText: "#SBATCH --gres=hpu:1" }).waitFor();
  assert.equal(await page.problem("site-file"), "");
});

onPage("a script of one's own is checked and fixed, and that can be undone", {}, async (page) => {
  const script = 'export ONM_NUM_THREADS=4\npython “x”\n';
  const text = page.page.locator("#check-text");
  await text.fill(script);
  await page.page.locator("#check-found", { hasText: "2 problems" }).waitFor();
  await page.button("line 2").click();
  const selected = await text.evaluate((area) => area.value.slice(area.selectionStart, area.selectionEnd));
  assert.equal(selected, "python “x”");
  await page.page.locator("#fix").click();
  assert.equal(await text.inputValue(), 'export OMP_NUM_THREADS=4\npython "x"\n');
  // By keyboard: the restore button has the focus, and disappears once there is something to lose.
  await page.page.keyboard.press("Enter");
  assert.equal(await text.inputValue(), script);
  await page.page.locator("#fix").press("Enter");
  await text.press("Control+End");
  await page.page.keyboard.type("ls");
  assert.equal(await page.page.locator("#undo-fix").count(), 0);
  assert.match(await text.inputValue(), /OMP_NUM_THREADS[^]*ls$/);
});

test("a checker that cannot be fetched is said, and the next change tries again", async () => {
  let isDown = true;
  const own = await serve(undefined, "/sub/", { fault: (path) => (isDown && /own_script\.js$/.test(path) ? "drop" : undefined) });
  const context = await browser.newContext({ serviceWorkers: "block" });
  const page = await context.newPage();
  await page.goto(`${own.address}launch/`);
  await page.locator("#check-text").fill("export ONM_NUM_THREADS=4\n");
  await page.locator("#check-found", { hasText: "could not be loaded" }).waitFor();
  isDown = false;
  await page.locator("#check-text").press("Enter");
  await page.locator("#check-found", { hasText: "1 problem" }).waitFor();
  await context.close();
  await own.end();
});

onPage("a script of one's own is for the form's target, unless one says otherwise", {}, async (page) => {
  const target = page.page.locator("#check-target");
  await page.fill({ target: "rdu" });
  assert.equal(await target.inputValue(), "rdu");
  await target.selectOption("popdist");
  await page.fill({ target: "ipu" });
  assert.equal(await target.inputValue(), "popdist");
});

/** A trainer whose port adds a choice of device. */
const trainer = `from dataclasses import dataclass
from enum import Enum

import hydra
import torch
from hydra.core.config_store import ConfigStore


class ComputeMode(Enum):
    CPU = 0
    GPU = 1


@dataclass
class Run:
    compute_mode: ComputeMode = ComputeMode.GPU
    batch: int = 4


@dataclass
class Config:
    run: Run


ConfigStore.instance().store(name="base", node=Config)


@hydra.main(config_name="base")
def main(config):
    device = torch.device("cuda" if config.run.compute_mode == ComputeMode.GPU else "cpu")
    net = torch.nn.Linear(4, 2).to(device)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    loader = torch.utils.data.DataLoader([], batch_size=config.run.batch)
    for batch in loader:
        loss = net(batch.to(device)).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
`;

test("a port's launch follows its changes, refused ones too", { timeout: 60_000 }, async () => {
  // So high that no change requires scrolling.
  const port = await PortPage.open(browser, site.address, { height: 4000 });
  try {
    await port.fill(trainer);
    const before = await port.ported();
    const script = async () => {
      const href = await port.page.locator("#to-launch").getAttribute("href");
      const page = await LaunchPage.open(site.address, { fragment: new URL(href, site.address).hash });
      const script = await page.script();
      assert.deepEqual(page.errors, []);
      await page.context.close();
      return script;
    };
    const ported = await script();
    assert.match(ported, /\nrun python3 -u trainer\.py run\.compute_mode=HPU run\.lazy_mode=False run\.batch=4\n/);
    assert.match(ported, /# 4 samples × 1 micro-batch × 1 card = 4 samples per step/);
    await port.page.locator(".changes .reject[data-edits^='hpu#compute-mode@']").first().click();
    await port.summaryOtherThan(before);
    assert.match(await script(), /\nrun python3 -u trainer\.py run\.lazy_mode=False run\.batch=4\n/);
    assert.deepEqual(port.errors, []);
  } finally {
    await port.close();
  }
});

onPage("the keyboard alone", {}, async (page) => {
  await page.field("entry").focus();
  await page.page.keyboard.type("train.py");
  await page.page.keyboard.press("Tab");
  assert.equal(await page.page.evaluate(() => document.activeElement.id), "field-args");
  await page.field("target").focus();
  await page.page.keyboard.press("ArrowDown");
  await page.page.waitForFunction(() => document.getElementById("field-target").value !== "hpu" && !document.getElementById("script").textContent.includes("PT_HPU_LAZY_MODE"));
  assert.equal(await page.page.evaluate(() => document.activeElement.id), "field-target", "the focus stays in a form that changes");
});

for (const width of [1280, 320]) {
  onPage(`nothing is cut off at ${width} pixels`, { width, fragment: "#entry=a.py&instances=8" }, async (page) => {
    const over = await page.page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.ok(over <= 0, `${over} pixels too wide`);
  });
}

test("nothing moves while the page starts", { timeout: 60_000 }, async () => {
  for (const width of [360, 1280]) {
    const page = await browser.newPage({ viewport: { width, height: 800 }, serviceWorkers: "block" });
    await page.addInitScript(() => {
      window.moved = [];
      const note = (list) => window.moved.push(...list.getEntries().map(({ value, sources }) => [value, ...sources.map(({ node }) => node?.id || node?.className)]));
      new PerformanceObserver(note).observe({ type: "layout-shift", buffered: true });
    });
    // As slow as a phone, so that frames are drawn between the parts.
    const slow = await page.context().newCDPSession(page);
    await slow.send("Emulation.setCPUThrottlingRate", { rate: 4 });
    await page.goto(`${site.address}launch/`);
    await page.locator("#check-text").waitFor();
    const state = await page.evaluate(() => [window.moved.filter(([value]) => value > 0.01), document.querySelectorAll(".launch-page > .help").length]);
    assert.deepEqual(state, [[], 0], `${width} px`);
    await page.close();
  }
});
