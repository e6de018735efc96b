// The Port page in Firefox, as used by a person.

export async function openPort(tab, address, fragment = "") {
  await tab.goto(`${address}port/${fragment}`);
  await isOpen(tab);
}

/** Waits until the page accepts typed text. */
export const isOpen = (tab) => tab.until(() => document.querySelector("#target option") !== null);

/** Types, replacing the existing text, as far as the page can tell. */
export const write = (tab, text) =>
  tab.run((text) => {
    const source = document.querySelector("#source");
    source.focus();
    source.select();
    document.execCommand("insertText", false, text);
  }, text);

export const source = (tab) => tab.run(() => document.querySelector("#source").value);

/** Waits until this text is open. */
export const isSource = (tab, text) => tab.until((text) => document.querySelector("#source")?.value === text, text);

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
