// The Port page in Firefox, as used by a person.

import { sourceText, writeSource } from "./source_text.mjs";

export async function openPort(tab, address, fragment = "") {
  await tab.goto(`${address}port/${fragment}`);
  await isOpen(tab);
}

/** Waits until the page accepts typed text. */
export const isOpen = (tab) => tab.until(() => document.querySelector("#sdk:enabled") !== null);

/** Types, replacing the existing text, as far as the page can tell. */
export const write = (tab, text) => tab.run(writeSource, text);

export const source = (tab) => tab.run(sourceText);

/** Waits until this text is open. */
export async function isSource(tab, text) {
  for (const end = Date.now() + 60_000; (await source(tab)) !== text; await new Promise((next) => setTimeout(next, 50))) {
    if (Date.now() > end) throw new Error(`the source is not ${JSON.stringify(text.slice(0, 80))}`);
  }
}

/** Waits for a port of the current source; resolves to its summary. */
export const ported = (tab) =>
  tab.until(() => document.querySelector("#result-pane")?.ariaBusy === "false" && document.querySelector("#summary").textContent);

export const choose = (tab, id, value) =>
  tab.run(
    (id, value) => {
      const list = document.querySelector(`#${id}`);
      list.value = value;
      list.dispatchEvent(new Event("change", { bubbles: true }));
    },
    id,
    value,
  );

/** Waits until the saved work is the open one. */
export async function isKept(tab) {
  await tab.until(async () => {
    const result = (request) =>
      new Promise((done, fail) => Object.assign(request, { onsuccess: () => done(request.result), onerror: () => fail(request.error) }));
    const open = window.portolanWork?.bytes();
    if (!open || !window.portolanKeep) return false;
    const database = await result(indexedDB.open("portolan", 1));
    try {
      const bytes = await result(database.transaction("work").objectStore("work").get("open"));
      return bytes?.length === open.length && bytes.every((byte, at) => byte === open[at]);
    } finally {
      database.close();
    }
  });
}
