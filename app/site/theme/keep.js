// On the page that ports: keeps the open work in this browser, brings it back, and takes files that other apps hand over.
(() => {
  // The page waits with what its address names until what is kept is open, so that it can be brought back.
  window.portolanKeeps = true;
  const open = () =>
    new Promise((done, fail) => {
      const request = indexedDB.open("portolan", 1);
      request.onupgradeneeded = () => request.result.createObjectStore("work");
      request.onsuccess = () => done(request.result);
      request.onerror = () => fail(request.error);
    });
  const store = async (mode, act) => {
    const database = await open();
    try {
      return await new Promise((done, fail) => {
        const transaction = database.transaction("work", mode);
        const request = act(transaction.objectStore("work"));
        // What was asked for is on the disk only then: a full disk shows itself at the end.
        transaction.oncomplete = () => done(request.result);
        transaction.onabort = () => fail(transaction.error ?? request.error);
      });
    } finally {
      database.close();
    }
  };

  let line;
  function say(text) {
    const foot = document.querySelector(".site-foot .wrap");
    if (!foot) return;
    if (!line) {
      line = document.createElement("p");
      line.id = "kept";
      line.setAttribute("role", "status");
      foot.insertBefore(line, foot.querySelector(".theme"));
    }
    line.textContent = text;
    return line;
  }

  let timer;
  let saved = 0;
  // The work as it was when the reader cleared it: it stays gone until it is changed, also when the page is left.
  let cleared;
  const isCleared = (bytes) => bytes.length === cleared?.length && bytes.every((byte, at) => byte === cleared[at]);
  // One after another: what is written before a clearing may not arrive after it.
  let turn = Promise.resolve();
  const next = (act) => (turn = turn.then(act).catch(() => false));
  const save = () => next(keep);
  /** Keeps the work as it is now, unless the reader cleared it; says whether nothing stood in the way. */
  async function keep() {
    clearTimeout(timer);
    const bytes = window.portolanWork?.bytes();
    if (!bytes || isCleared(bytes)) return true;
    cleared = undefined;
    const beside = window.portolanWork.beside();
    try {
      await store("readwrite", (work) => {
        const put = (bytes, name) => (bytes.length === 0 ? work.delete(name) : work.put(bytes, name));
        put(beside, "beside");
        return put(bytes, "open");
      });
    } catch {
      return false; // Storage may be forbidden or full; the work is on the page still.
    }
    const size = bytes.length + beside.length;
    if (size === saved) return true;
    saved = size;
    if (saved === 0) {
      say("");
      return true;
    }
    const clear = document.createElement("button");
    clear.type = "button";
    clear.className = "button quiet small";
    clear.textContent = "Clear it";
    clear.addEventListener("click", () => next(clearKept));
    say("Your open work is kept in this browser. ")?.append(clear);
    return true;
  }
  async function clearKept() {
    clearTimeout(timer);
    cleared = window.portolanWork?.bytes();
    try {
      await store("readwrite", (work) => work.clear());
    } catch {
      return say("This browser did not let the kept work be cleared: clear the site's data in its settings.");
    }
    saved = 0;
    window.portolanWork?.forget();
    say("Saved work deleted.");
  }
  const soon = () => {
    clearTimeout(timer);
    timer = setTimeout(save, 800);
  };

  /** Files of another app go the way of files that are chosen. */
  function take(files) {
    const field = document.getElementById("open-files");
    if (!field || files.length === 0) return;
    const chosen = new DataTransfer();
    for (const file of files) chosen.items.add(file);
    field.files = chosen.files;
    field.dispatchEvent(new Event("change", { bubbles: true }));
    soon();
  }

  async function shared() {
    const waiting = await caches.open("portolan-shared");
    const files = [];
    for (const request of await waiting.keys()) {
      const name = decodeURIComponent(new URL(request.url).pathname.split("/").pop());
      files.push(new File([await (await waiting.match(request)).blob()], name));
    }
    await caches.delete("portolan-shared");
    history.replaceState(null, "", location.pathname);
    take(files);
  }

  async function start() {
    const nothing = new Uint8Array();
    const kept = (name) => store("readonly", (work) => work.get(name)).catch(() => undefined);
    const [bytes = nothing, beside = nothing] = await Promise.all([kept("open"), kept("beside")]);
    window.portolanWork.begin(bytes, beside);
    if (bytes.length + beside.length > 0) soon();
    if (location.search === "?shared") await shared();
    window.launchQueue?.setConsumer(async ({ files = [] }) => take(await Promise.all(files.map((handle) => handle.getFile()))));
    for (const event of ["input", "change", "click", "drop"]) addEventListener(event, soon);
    // Before the page is loaded anew: what it asked for in its address would go before the work.
    window.portolanKeep = async () => {
      // What was cleared is open still, and the reader is told that it comes back.
      cleared = undefined;
      const kept = await save();
      if (kept && saved > 0) history.replaceState(null, "", location.pathname);
      return kept;
    };
    addEventListener("visibilitychange", () => document.visibilityState === "hidden" && save());
  }
  addEventListener("TrunkApplicationStarted", () => start(), { once: true });
})();
