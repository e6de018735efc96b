// `cargo xtask bench typing`: the time from a key press to the frame that shows it, in files of 1,000 and 10,000 lines, and
// how long a project of 1,000 files blocks the page. In a real Chromium, by the browser's own clocks: Event Timing for keys,
// Long Tasks for the project.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PortPage, launch } from "../../../tests/browser/port_page.mjs";
import { root, serve } from "../../../tests/browser/site.mjs";

/** Numbers of lines, and the limit for the median time from a key press to its frame, in milliseconds. */
const FILES = [
  [1_000, 16],
  [10_000, 50],
];
/** The number of key presses measured in each file. */
const KEYS = 150;
/** The text that is typed; there is a pause every few words, in which the page ports. */
const TYPED = "loss = criterion(net(x.cuda()), y)  # ";
const LONGEST_TASK = 50;
const PROJECT = 1_000;
/** Milliseconds for porting all of it on a slow machine. */
const PATIENCE = 180_000;

const trainer = readFileSync(join(root, "tests/fixtures/scripts/spectra_trainer.py"), "utf8");

/** A script of this many lines: the trainer's, repeated, with numbered names so that nothing is defined twice. */
function script(lines) {
  const text = [];
  for (let copy = 0; text.length < lines; copy++) {
    text.push(...trainer.replaceAll(/^(class|def) (\w+)/gm, `$1 $2_${copy}`).split("\n"));
  }
  return text.slice(0, lines).join("\n") + "\n";
}

const sorted = (numbers) => [...numbers].sort((a, b) => a - b);
const share = (numbers, part) => sorted(numbers)[Math.min(numbers.length - 1, Math.floor(numbers.length * part))];
const ms = (number) => `${number.toFixed(1)} ms`.padStart(9);

/** In the page: records the browser's measurement of every key press, and the time at which its frame was produced. */
function watch() {
  window.keys = [];
  window.frames = [];
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      if (entry.name === "keydown") window.keys.push(entry.duration);
    }
  }).observe({ type: "event", durationThreshold: 16 });
  addEventListener(
    "keydown",
    (event) => {
      const channel = new MessageChannel();
      // A message that is sent while a frame is being produced arrives once it is.
      channel.port1.onmessage = () => window.frames.push(performance.now() - event.timeStamp);
      requestAnimationFrame(() => channel.port2.postMessage(null));
    },
    true,
  );
  // The browser creates objects for the files in the same task, before the page gets the event.
  window.chosen = 0;
  addEventListener("change", (event) => (window.chosen = event.timeStamp), true);
  window.tasks = [];
  const ofPage = ({ startTime, duration }) => {
    const before = Math.max(0, window.chosen - startTime);
    return before < duration ? duration - before : duration;
  };
  new PerformanceObserver((list) => window.tasks.push(...list.getEntries().map(ofPage))).observe({ type: "longtask" });
}

/** Processor time of the page's main thread in seconds, by category: on a busy machine, elapsed time depends on other programs. */
async function cpu(page) {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  return async () => {
    const { metrics } = await session.send("Performance.getMetrics");
    return Object.fromEntries(metrics.filter(({ name }) => /^(?:Task|Script|Layout|RecalcStyle)Duration$/.test(name)).map(({ name, value }) => [name, value]));
  };
}

/** Types into the middle of a field as a person does, and returns the time of each key press. */
async function typing(page, field, scroller, lines) {
  await page.locator(field).evaluate(
    (field, [line, scroller]) => {
      field.focus();
      // The first text from the middle of a field of the page's, which has many.
      const blocks = field.childNodes;
      if (field.value === undefined) getSelection().collapse(blocks[blocks.length >> 1].firstChild, 0);
      else field.setSelectionRange(...Array(2).fill(field.value.split("\n").slice(0, line).join("\n").length));
      document.querySelector(scroller).scrollTop = (line - 8) * 20;
    },
    [lines / 2, scroller],
  );
  await page.evaluate(watch);
  const busy = await cpu(page);
  const before = await busy();
  await page.keyboard.press("Enter");
  for (let key = 0; key < KEYS; key++) {
    await page.keyboard.press(TYPED[key % TYPED.length] === " " ? "Space" : TYPED[key % TYPED.length]);
    // Irregular, so that keys do not coincide with frames; after every twelfth key, a pause in which the page ports.
    await page.waitForTimeout(key % 12 === 11 ? 1200 : 60 + ((key * 37) % 50));
  }
  const after = await busy();
  const measured = await page.evaluate(() => ({ keys: window.keys, frames: window.frames, tasks: window.tasks }));
  // A key press that took less than 16 ms is not in the browser's list.
  const each = Object.fromEntries(Object.entries(after).map(([name, seconds]) => [name, (1000 * (seconds - before[name])) / (KEYS + 1)]));
  return { ...measured, each, keys: [...measured.keys, ...Array(Math.max(0, KEYS + 1 - measured.keys.length)).fill(8)] };
}

// Wide enough for source and port side by side.
const WINDOW = { width: 1600, height: 900 };

/** Typing on the page at /port/. */
async function typingInPage(browser, address, lines) {
  const port = await PortPage.open(browser, address, WINDOW);
  port.page.setDefaultTimeout(PATIENCE);
  await port.chooseFiles([{ name: "train.py", text: script(lines) }]);
  await port.ported();
  const measured = await typing(port.page, "#source", "#editor-scroll", lines);
  await port.settled();
  await port.close();
  return measured;
}

/**
 * Typing in a page that has nothing but a text field of the same size: what the browser itself takes. The page has the site's
 * address, because Chromium takes longer for a key there than in a page without one, probably for autofill.
 */
async function typingInBareField(browser, address, lines) {
  const page = await browser.newPage({ viewport: WINDOW });
  await page.route("**/bare", (route) => route.fulfill({ contentType: "text/html", body: "<!doctype html>" }));
  await page.goto(new URL("bare", address).href);
  await page.setContent(
    `<div id="scroll" style="height:700px;overflow:auto"><textarea wrap="off" spellcheck="false"
      style="width:800px;height:${lines * 20}px;font:13px/20px monospace;overflow:hidden"></textarea></div>`,
  );
  await page.locator("textarea").evaluate((field, text) => (field.value = text), script(lines));
  const measured = await typing(page, "textarea", "#scroll", lines);
  await page.close();
  return measured;
}

/** Opens a project and several of its views, and returns the tasks that blocked the page for 50 ms or longer. */
async function project(browser, address) {
  const port = await PortPage.open(browser, address);
  const { page } = port;
  page.setDefaultTimeout(PATIENCE);
  await page.evaluate(watch);
  // Files on disk, because the driver would read others in the page itself.
  const folder = mkdtempSync(join(tmpdir(), "portolan-"));
  for (let number = 0; number < PROJECT; number++) {
    const place = join(folder, "project", `package_${number % 20}`);
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, `module_${number}.py`), trainer.replaceAll("spectra", `spectra_${number}`));
  }
  const [dialog] = await Promise.all([page.waitForEvent("filechooser"), page.getByRole("button", { name: "Open folder…" }).click()]);
  await dialog.setFiles(join(folder, "project"));
  await port.ported();
  await page.waitForTimeout(2000);
  const opened = (await page.evaluate(() => window.tasks.splice(0))).filter((task) => task >= LONGEST_TASK);
  const others = {};
  const walk = async (name, steps) => {
    await steps();
    await page.waitForTimeout(1500);
    others[name] = await page.evaluate(() => window.tasks.splice(0));
  };
  await walk("another file", () => page.locator("#file-5").click());
  for (const tab of ["needs", "recipes", "certificate", "matrix"]) await walk(`the tab ${tab}`, () => port.tab(tab));
  await port.close();
  rmSync(folder, { recursive: true });
  return { opened, others };
}

const [browser, site] = await Promise.all([launch(), serve()]);
const over = [];
try {
  console.log(`    ${"a key".padEnd(16)}    median       95 %       most   by Event Timing: median, 95 %; long tasks`);
  for (const [lines, bar] of FILES) {
    const { frames, keys, tasks, each } = await typingInPage(browser, site.address, lines);
    const [median, most] = [share(frames, 0.5), Math.max(...frames)];
    console.log(
      `    ${`${lines} lines`.padEnd(16)} ${ms(median)} ${ms(share(frames, 0.95))} ${ms(most)}   ` +
        `${ms(share(keys, 0.5))} ${ms(share(keys, 0.95))}   ${tasks.map(Math.round).join(", ") || "none"}`,
    );
    const shares = ["Script", "RecalcStyle", "Layout"].map((name) => `${name} ${each[`${name}Duration`].toFixed(1)}`).join(", ");
    console.log(`      computing, a key with its share of the ports: ${each.TaskDuration.toFixed(1)} ms of processor time (${shares})`);
    const bare = share((await typingInBareField(browser, site.address, lines)).frames, 0.5);
    console.log(`      a bare text field with the same text: ${ms(bare).trim()}; the page takes ${(median / bare).toFixed(2)} times that`);
    if (median > bar) over.push(`a key in ${lines} lines takes ${ms(median).trim()}, more than ${bar} ms`);
  }
  const { opened, others } = await project(browser, site.address);
  console.log(`    ${PROJECT} files opened: tasks of 50 ms or longer: ${opened.map(Math.round).join(", ") || "none"}`);
  for (const [name, tasks] of Object.entries(others)) console.log(`      ${name}: ${tasks.map(Math.round).join(", ") || "none"}`);
  const longest = Math.max(0, ...opened, ...Object.values(others).flat());
  if (longest > LONGEST_TASK) over.push(`${PROJECT} files keep the page busy for ${Math.round(longest)} ms, more than ${LONGEST_TASK} ms`);
} finally {
  await browser.close();
  site.end();
}
for (const fault of over) console.error(`    over: ${fault}`);
process.exitCode = over.length ? 1 : 0;
