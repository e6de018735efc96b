// The Port page, as used by a person: tests act and read through these functions, so that they name no elements.

import { readFile } from "node:fs/promises";
import { sourceText, writeSource } from "./source_text.mjs";

export { launch, launchWith } from "./browser.mjs";

/** In the page: the stored value of a name, as numbers. */
const kept = async (name) => {
  if (!(await indexedDB.databases()).some(({ name }) => name === "portolan")) return undefined;
  const result = (request) =>
    new Promise((done, fail) => Object.assign(request, { onsuccess: () => done(request.result), onerror: () => fail(request.error) }));
  const database = await result(indexedDB.open("portolan", 1));
  const bytes = await result(database.transaction("work").objectStore("work").get(name));
  database.close();
  return bytes && [...bytes];
};

/** Waits until the source on a page is a text, or passes a test. */
export async function untilSource(page, wanted) {
  const holds = typeof wanted === "string" ? (text) => text === wanted : wanted;
  for (const end = Date.now() + 60_000; ; await new Promise((next) => setTimeout(next, 50))) {
    // While another page is being loaded there is none to ask.
    const text = await page.evaluate(sourceText).catch(() => undefined);
    if (text !== undefined && holds(text)) return;
    if (Date.now() > end) throw new Error(`the source is ${JSON.stringify(text?.slice(0, 200))}`);
  }
}

export class PortPage {
  /** Opens the page in a window of its own, without a service worker; its errors are added to `errors`. */
  static async open(browser, address, { fragment = "", width = 1280, height = 800, scheme = "light" } = {}) {
    const context = await browser.newContext({
      viewport: { width, height },
      colorScheme: scheme,
      acceptDownloads: true,
      permissions: ["clipboard-read", "clipboard-write"],
      serviceWorkers: "block",
    });
    const page = await context.newPage();
    const self = new PortPage(page, context);
    page.on("pageerror", (error) => self.errors.push(String(error)));
    page.on("console", (message) => message.type() === "error" && self.errors.push(message.text()));
    page.on("request", (request) => self.requests.push(request.url()));
    await page.goto(`${address}port/${fragment}`);
    await page.locator("#sdk:enabled").waitFor({ state: "attached" });
    return self;
  }

  constructor(page, context) {
    this.page = page;
    this.context = context;
    this.errors = [];
    this.requests = [];
  }

  close() {
    return this.context.close();
  }

  /** Pastes like a person: clipboard, focus, key. */
  async paste(text) {
    await this.page.evaluate((text) => navigator.clipboard.writeText(text), text);
    await this.page.locator("#source").focus();
    await this.page.keyboard.press("Control+V");
  }

  /** Replaces the whole source. */
  fill(text) {
    return this.page.evaluate(writeSource, text);
  }

  /** The text of the source. The page creates its parts one after another, the editor among the last. */
  async source() {
    await this.page.locator("#source").waitFor({ state: "attached" });
    return this.page.evaluate(sourceText);
  }

  /** The number of the line that has the caret. */
  async lineOfCaret() {
    const before = await this.page.evaluate(sourceText, true);
    return String(before.split("\n").length);
  }

  /** Waits until no file is being read and everything is ported. */
  settled() {
    return this.page.locator("#result-pane[aria-busy=false]").waitFor();
  }

  /** Waits for a port of the current source; resolves to its summary. */
  async ported() {
    await this.page.waitForFunction(() => {
      const atRest = document.querySelector("#result-pane")?.getAttribute("aria-busy") === "false";
      return atRest && document.querySelector("#summary").textContent;
    });
    return this.summary();
  }

  summary() {
    return this.page.locator("#summary").textContent();
  }

  /** Waits until the summary changes. */
  async summaryOtherThan(before) {
    await this.page.waitForFunction((before) => {
      const now = document.querySelector("#summary")?.textContent;
      return now && now !== before;
    }, before);
    return this.ported();
  }

  spoken() {
    return this.page.locator("#spoken").textContent();
  }

  notice() {
    return this.page.locator(".port-notice").textContent();
  }

  panel() {
    return this.page.locator("#panel");
  }

  tab(name) {
    return this.page.locator(`#tab-${name}`).click();
  }

  /** Switches of the recipes, with their titles. */
  recipes() {
    return this.page.locator(".recipes .switch");
  }

  choose(id, value) {
    return this.page.locator(`#${id}`).selectOption(value);
  }

  /** Scrolls the diff to this many pixels, or by half of the visible part, and waits for the rows; resolves to whether these are the last. */
  async scrollDiff(top) {
    const pane = this.page.locator(".diff-scroll");
    await pane.evaluate((pane, top) => (pane.scrollTop = top ?? pane.scrollTop + pane.clientHeight / 2), top);
    await this.page.waitForFunction(() => {
      const pane = document.querySelector(".diff-scroll");
      const top = pane.getBoundingClientRect().top + pane.clientTop;
      const [above, below] = [...document.querySelectorAll(".changes tr.space")].map((row) => row.getBoundingClientRect());
      const filled = (space, inSight) => space.height < 1 || !inSight;
      return above && below && filled(above, above.bottom > top + 1) && filled(below, below.top < top + pane.clientHeight - 1);
    });
    return pane.evaluate((pane) => pane.scrollTop + pane.clientHeight >= pane.scrollHeight - 1);
  }

  /** The visible added and removed lines. */
  async changedLines() {
    const texts = (selector) => this.page.locator(selector).allTextContents();
    const bare = (lines) => lines.map((line) => line.replace(/^(added|removed): /, ""));
    return { added: bare(await texts(".changes td.add")), removed: bare(await texts(".changes td.del")) };
  }

  /** Clicks a button that saves a file; resolves to its name and bytes. */
  async download(id) {
    if (id.startsWith("download-")) await this.page.locator(".menu > summary").click();
    const [download] = await Promise.all([
      this.page.waitForEvent("download"),
      this.page.locator(`#${id}`).click(),
    ]);
    return { name: download.suggestedFilename(), bytes: await readFile(await download.path()) };
  }

  /** Shows the source if its space is used by the diff, like a person who continues to edit it. */
  async showSource() {
    const show = this.page.locator("#show-source");
    if (await show.isVisible()) await show.click();
  }

  /** Opens files like a person, with the button and the browser's own dialog: `{name, text}`, `{name, bytes}`, or paths. */
  async chooseFiles(files) {
    const payload = files.map((file) =>
      typeof file === "string" ? file : { name: file.name, mimeType: "application/octet-stream", buffer: Buffer.from(file.bytes ?? file.text) },
    );
    await this.showSource();
    const [dialog] = await Promise.all([
      this.page.waitForEvent("filechooser"),
      this.page.getByRole("button", { name: "Open files…" }).click(),
    ]);
    await dialog.setFiles(payload, { timeout: 120_000 });
  }

  /** The work stored in this browser. Requests are answered in order, so it includes what the page wrote before. */
  kept(name = "open") {
    return this.page.evaluate(kept, name);
  }

  /** Waits until the saved work is the open one, including all additional data. */
  async keptAsItIs() {
    const isKept = async () => {
      const [open, beside] = await this.page.evaluate(() => [[...window.portolanWork.bytes()], [...window.portolanWork.beside()]]);
      return String(await this.kept()) === String(open) && String((await this.kept("beside")) ?? "") === String(beside);
    };
    const end = Date.now() + 30_000;
    // By a timer: a page in the background may get no frames.
    while (!(await isKept())) {
      if (Date.now() > end) throw new Error("what is open is not kept");
      await this.page.waitForTimeout(20);
    }
  }

  /** Creates a share link. */
  async share() {
    await this.page.locator("#share").click();
    await this.page.locator(".port-notice span").filter({ hasText: "link" }).waitFor();
    return this.page.evaluate(() => navigator.clipboard.readText());
  }
}
