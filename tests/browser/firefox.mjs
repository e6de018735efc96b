// Firefox from Debian, controlled through WebDriver BiDi, which it supports itself: there is no driver in between.
// Playwright's and Puppeteer's own functions for it are compiled in the page by `eval`, which the site's policy
// forbids.

import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { createInterface } from "node:readline";
import WebSocket from "ws";

const named = ["firefox-esr", "firefox"].flatMap((name) => process.env.PATH.split(delimiter).map((folder) => join(folder, name)));
const program = process.env.PORTOLAN_FIREFOX ?? named.find(existsSync);

const pause = (milliseconds) => new Promise((go) => setTimeout(go, milliseconds));

export class Firefox {
  /** Starts one with a profile of its own; `preferences` have the names in about:config. */
  static async launch(preferences = {}) {
    if (!program) throw new Error("Firefox is missing: `cargo xtask setup` installs it with apt (firefox-esr), or PORTOLAN_FIREFOX says where one is");
    const self = new Firefox();
    self.folder = mkdtempSync(join(tmpdir(), "portolan-firefox-"));
    self.downloads = join(self.folder, "downloads");
    mkdirSync(self.downloads);
    const all = { "browser.download.dir": self.downloads, "browser.download.folderList": 2, ...preferences };
    const lines = Object.entries(all).map(([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});\n`);
    writeFileSync(join(self.folder, "user.js"), lines.join(""));
    const words = ["--headless", "--no-remote", "--profile", self.folder, "--remote-debugging-port=0"];
    self.process = spawn(program, words, { stdio: ["ignore", "ignore", "pipe"] });
    self.ended = new Promise((end) => self.process.once("exit", end));
    const lineOf = (line) => /^WebDriver BiDi listening on (ws:\S+)/.exec(line)?.[1];
    const address = await new Promise((found, fail) => {
      createInterface(self.process.stderr).on("line", (line) => lineOf(line) && found(lineOf(line)));
      self.ended.then((status) => fail(new Error(`${program} ended with status ${status}`)));
    });
    self.socket = new WebSocket(`${address}/session`);
    self.waiting = new Map();
    self.count = 0;
    self.errors = [];
    await new Promise((open, fail) => self.socket.once("open", open).once("error", fail));
    self.socket.on("message", (data) => self.#hear(JSON.parse(data)));
    await self.ask("session.new", { capabilities: {} });
    await self.ask("session.subscribe", { events: ["log.entryAdded"] });
    return self;
  }

  #hear({ id, type, result, method, params, error, message }) {
    if (method === "log.entryAdded" && params.level === "error") this.errors.push(params.text);
    const { done, fail } = this.waiting.get(id) ?? {};
    this.waiting.delete(id);
    if (type === "success") done?.(result);
    if (type === "error") fail?.(new Error(`${error}: ${message}`));
  }

  /** A command of WebDriver BiDi. */
  ask(method, params) {
    const id = ++this.count;
    this.socket.send(JSON.stringify({ id, method, params }));
    return new Promise((done, fail) => this.waiting.set(id, { done, fail }));
  }

  /** A tab; those of one `user` share the browser's storage, which is invisible to others. */
  async tab(user) {
    const { context } = await this.ask("browsingContext.create", { type: "tab", ...(user && { userContext: user }) });
    return new Tab(this, context);
  }

  /** A separate storage for sites. */
  async user() {
    return (await this.ask("browser.createUserContext", {})).userContext;
  }

  /** The next file that is completely downloaded while `act` runs, by name and bytes. */
  async download(act) {
    const there = () => readdirSync(this.downloads).filter((name) => !name.endsWith(".part"));
    const before = new Set(there());
    await act();
    for (;;) {
      const name = there().find((name) => !before.has(name));
      // Firefox reserves the name with an empty file.
      const bytes = name && readFileSync(join(this.downloads, name));
      if (bytes?.length > 0 && !existsSync(join(this.downloads, `${name}.part`))) {
        rmSync(join(this.downloads, name));
        return { name, bytes };
      }
      await pause(50);
    }
  }

  async close() {
    this.socket.close();
    this.process.kill();
    await this.ended;
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

export class Tab {
  constructor(firefox, context) {
    Object.assign(this, { firefox, context });
  }

  goto(url) {
    return this.firefox.ask("browsingContext.navigate", { context: this.context, url, wait: "complete" });
  }

  reload() {
    return this.firefox.ask("browsingContext.reload", { context: this.context, wait: "complete" });
  }

  close() {
    return this.firefox.ask("browsingContext.close", { context: this.context });
  }

  /** Calls a function in the page; arguments and result are JSON. */
  async run(call, ...given) {
    const functionDeclaration = `async () => JSON.stringify(await (${call})(...${JSON.stringify(given)}))`;
    const params = { functionDeclaration, target: { context: this.context }, awaitPromise: true, userActivation: true };
    const { result, exceptionDetails } = await this.firefox.ask("script.callFunction", params);
    if (exceptionDetails) throw new Error(exceptionDetails.text);
    return result.value === undefined ? undefined : JSON.parse(result.value);
  }

  /** Waits until a function in the page returns something truthy; resolves to it. */
  async until(call, ...given) {
    for (let tries = 0; ; tries++) {
      // While another page is being loaded there is none to query.
      const found = await this.run(call, ...given).catch((error) => void (this.last = error));
      if (found) return found;
      if (tries > 1200) throw new Error(`not after a minute: ${call} ${JSON.stringify(given)} ${this.last ?? ""}`);
      await pause(50);
    }
  }

  /** Waits for an element with this text; resolves to all its text. */
  said(selector, text = "") {
    const has = (selector, text) =>
      [...document.querySelectorAll(selector)].map((element) => element.textContent).find((all) => all.includes(text) && all !== "");
    return this.until(has, selector, text);
  }

  click(selector) {
    return this.run((selector) => document.querySelector(selector).click(), selector);
  }

  /** Selects files on disk, like a person in the browser's dialog. */
  async choose(selector, ...files) {
    const locator = { type: "css", value: selector };
    const { nodes } = await this.firefox.ask("browsingContext.locateNodes", { context: this.context, locator });
    return this.firefox.ask("input.setFiles", { context: this.context, element: { sharedId: nodes[0].sharedId }, files });
  }

  async screenshot(file) {
    const { data } = await this.firefox.ask("browsingContext.captureScreenshot", { context: this.context });
    writeFileSync(file, Buffer.from(data, "base64"));
  }
}
