// How a browser is started, for everything that opens the built site in one.

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The browser, selected by `PORTOLAN_CHROMIUM`. */
export const executablePath = process.env.PORTOLAN_CHROMIUM ?? "/usr/bin/chromium";

export const flags = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

// The installed fonts determine how wide a page is: the browser only sees those of `fonts.conf`.
const environment = { ...process.env, FONTCONFIG_FILE: fileURLToPath(new URL("fonts.conf", import.meta.url)) };
const chosen = { executablePath, env: environment };
/** Not required by those who only need the flags. */
const chromium = async () => (await import("playwright-core")).chromium;

/** A browser. */
export async function launch(more = []) {
  return (await chromium()).launch({ ...chosen, args: [...flags, ...more] });
}

/** A browser with a profile of its own, in a folder, with these `preferences`; resolves to its only context. */
export async function launchWith(folder, preferences) {
  mkdirSync(join(folder, "Default"), { recursive: true });
  writeFileSync(join(folder, "Default/Preferences"), JSON.stringify(preferences));
  return (await chromium()).launchPersistentContext(folder, { ...chosen, args: flags });
}

/** Waits until the focus is on the element with this id: a page moves it in a task after the one that shows the rest. */
export async function focusReaches(page, id) {
  const focused = () => page.evaluate(() => document.activeElement.id);
  await page.waitForFunction((id) => document.activeElement.id === id, id, { timeout: 10_000 }).catch(async () => {
    assert.equal(await focused(), id, "where the focus is");
  });
}
