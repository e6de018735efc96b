// The page that ports, in Firefox, as a person sees it.

export async function openPort(tab, address, fragment = "") {
  await tab.goto(`${address}port/${fragment}`);
  await isOpen(tab);
}

/** Waits until the page takes what is typed. */
export const isOpen = (tab) => tab.until(() => document.querySelector("#target option") !== null);

/** Types, with what is there replaced, as far as the page can tell. */
export const write = (tab, text) =>
  tab.run((text) => {
    const source = document.querySelector("#source");
    source.focus();
    source.select();
    document.execCommand("insertText", false, text);
  }, text);

export const source = (tab) => tab.run(() => document.querySelector("#source").value);

/** Waits until such a text is open. */
export const isSource = (tab, text) => tab.until((text) => document.querySelector("#source")?.value === text, text);

/** Waits for a port of what is in the source now; resolves to its summary. */
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

/** Waits until what is kept is what is open. */
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
