// On the Port page: saves the open work in this browser, restores it, and accepts files from other apps. The page opens
// the work in its address only after the saved work, so that the latter can be restored.

// Until the page's program continues with the stand-ins of `index.html`, this script does what they can't do alone.
const standIn = (selector) => document.querySelector(`.stand-in ${selector}`);
/** Shows that a script is going to be ported, although none is in the field. */
const expect = () => document.querySelector(".port-result.stand-in")?.classList.add("coming");
// A choice that is made and taken back is a choice, too.
addEventListener("change", ({ target }) => {
  if (target.closest?.(".port-bar.stand-in")) target.dataset.chosen = "yes";
});
// The field of a word that an input method has not finished must stay.
for (const [event, isOpen] of [["compositionstart", true], ["compositionend", false]]) {
  addEventListener(event, ({ target }) => target.closest?.(".stand-in") && target.toggleAttribute("data-composing", isOpen));
}
function attend() {
  const list = standIn(".target");
  if (!list) return;
  for (const control of [list, standIn(".style"), standIn("input")]) {
    if (control.selectedIndex > 0 || control.checked) control.dataset.chosen = "yes";
  }
  const asked = new URLSearchParams(location.hash.slice(1)).get("target");
  if (!list.dataset.chosen && [...list.options].some(({ value }) => value === asked)) {
    list.value = asked;
  }
  if (/^#(s|example|at)=/.test(location.hash)) expect();
  const typed = typedBefore();
  standIn("textarea").value ||= typed;
}
/** What was typed before the page was left or reloaded; it is returned once. */
function typedBefore() {
  try {
    const text = sessionStorage.portolanEarly ?? "";
    delete sessionStorage.portolanEarly;
    return text;
  } catch {
    return "";
  }
}
addEventListener("pagehide", () => {
  const text = standIn("textarea")?.value;
  try {
    if (text) sessionStorage.portolanEarly = text;
  } catch {
    // Storage may be forbidden, or the text too large for it.
  }
});
// The field still has the text.
addEventListener("pageshow", ({ persisted }) => persisted && typedBefore());
/** Says that the page's program does not come. */
function fail() {
  const place = standIn(".loading");
  if (!place || place.hasAttribute("role")) return;
  place.setAttribute("role", "alert");
  const advice = window.WebAssembly ? "Reload it once you are connected; what you have typed stays." : "Porting needs WebAssembly, which this browser does not have or allow.";
  const reload = () => button("Reload", () => location.reload());
  place.replaceChildren(element("h3", {}, "This page could not be loaded"), element("p", {}, advice), element("p", {}, reload()));
  expect();
  // On a phone it is below the field.
  if (place.getBoundingClientRect().top < innerHeight) return;
  const note = show("not-loaded", "status", "This page could not be loaded.", reload(), button("Hide", () => note.remove()));
}
// What fails once the program runs is shown by the program, unless it fails to take over.
const failed = () => setTimeout(fail, document.getElementById("port-page") ? 5000 : 0);
addEventListener("error", ({ target }) => (target === window || target.type === "module") && failed(), true);
addEventListener("unhandledrejection", failed);
if (document.readyState === "loading") addEventListener("DOMContentLoaded", attend);
else attend();

let opened;
/** The database, which stays open: a page that is being closed has no time to open it. */
const open = () =>
  (opened ??= new Promise((done, fail) => {
    const request = indexedDB.open("portolan", 1);
    request.onupgradeneeded = () => request.result.createObjectStore("work");
    request.onsuccess = () => {
      const database = request.result;
      // The site's data is being deleted.
      database.onclose = () => (opened = undefined);
      database.onversionchange = () => {
        database.close();
        opened = undefined;
      };
      done(database);
    };
    request.onerror = () => fail(request.error);
  }).catch((error) => {
    opened = undefined;
    throw error;
  }));
const store = async (mode, act) => {
  const database = await open();
  const written = new Promise((done, fail) => {
    const transaction = database.transaction("work", mode);
    const request = act(transaction.objectStore("work"));
    // The data is only on disk at this point: a full disk is detected at the end.
    transaction.oncomplete = () => done(request.result);
    // For a transaction that was committed Firefox only reports that it was aborted; its requests have the reason.
    let why;
    transaction.onerror = ({ target }) => (why ??= target.error);
    transaction.onabort = () => fail(why ?? transaction.error);
    // Otherwise it waits until the page has received the results of its requests, and a page that is being left does
    // not live that long. A read transaction has to wait: Chromium may end it before it has returned a large value.
    if (mode === "readwrite") transaction.commit?.();
  });
  return written.catch((error) => {
    // Firefox writes nothing more through a database connection after a lack of space, even if there is enough later.
    database.close();
    opened = undefined;
    throw error;
  });
};

// Each open tab saves its work in a slot of its own, otherwise the one that was changed last would overwrite the
// others.
let place = 0;
const named = (name, at = place) => (at === 0 ? name : `${name} ${at}`);
const lockOf = (at) => `portolan-work-${at}`;
/** Locks a slot until the tab is closed, waiting for it up to this many milliseconds; returns whether no other tab has it. */
const occupy = (at, patience) =>
  new Promise((tell) => {
    const held = () => {
      tell(true);
      // Released before the page is gone, for the page that replaces it.
      return new Promise((leave) => addEventListener("pagehide", leave, { once: true }));
    };
    const signal = AbortSignal.timeout(patience);
    // A browser that forbids storage forbids this too, and no tab has saved work.
    navigator.locks.request(lockOf(at), { signal }, held).catch(() => tell(!signal.aborted));
  });
/** The first free slot. A reloaded page waits until its previous instance has released its slot. */
async function findPlace() {
  if (!navigator.locks) return;
  let own;
  try {
    own = sessionStorage.portolanPlace;
  } catch {
    // Storage may be forbidden.
  }
  if (own !== undefined && (await occupy(Number(own), 2000))) return void (place = Number(own));
  for (place = 0; place < 50 && !(await occupy(place, 400)); ) place += 1;
  try {
    sessionStorage.portolanPlace = place;
  } catch {
    // The next load searches for a slot again.
  }
}
const same = (one, other) => one.length === other?.length && one.every((byte, at) => byte === other[at]);
/** Slots of closed tabs with different work. */
async function others(bytes) {
  if (!navigator.locks) return [];
  const keys = await store("readonly", (work) => work.getAllKeys());
  const { held } = await navigator.locks.query();
  const taken = new Set(held.map((lock) => lock.name));
  const found = [];
  for (const key of keys.filter((key) => /^open\b/.test(key))) {
    const at = Number(key.slice("open".length));
    if (!taken.has(lockOf(at)) && !same(await store("readonly", (work) => work.get(key)), bytes)) found.push(at);
  }
  return found;
}

let line;
function say(...parts) {
  const foot = document.querySelector(".site-foot .wrap");
  if (!foot) return;
  if (!line) {
    line = element("p", { id: "kept", role: "status" });
    foot.insertBefore(line, foot.querySelector(".theme"));
  }
  line.replaceChildren(...parts);
}

let timer;
let since;
let saved = 0;
// The work as it was when the reader cleared it: it is not saved again until it is changed, even when the page is left.
// A copy of another tab's is not saved either until it is changed.
let cleared;
const isCleared = (bytes) => same(bytes, cleared);
const rest = () => {
  clearTimeout(timer);
  since = undefined;
};
/** Saves the current work unless the reader cleared it; returns whether that succeeded. Requests are processed in order. */
async function save() {
  rest();
  const bytes = window.portolanWork?.bytes();
  if (!bytes || isCleared(bytes)) return true;
  cleared = undefined;
  const beside = window.portolanWork.beside();
  try {
    await store("readwrite", (work) => {
      const put = (bytes, name) => (bytes.length === 0 ? work.delete(named(name)) : work.put(bytes, named(name)));
      put(beside, "beside");
      return put(bytes, "open");
    });
  } catch (error) {
    // The work is still on the page.
    warn(bytes.length > 0, error?.name);
    return false;
  }
  warn(false);
  const size = bytes.length + beside.length;
  if (size === saved) return true;
  saved = size;
  if (saved === 0) {
    say("");
    return true;
  }
  const apart = place === 0 ? "Your open work is saved in this browser. " : "This tab’s own work is saved in this browser. ";
  say(apart, button("Delete the saved copy", clearKept));
  return true;
}
/** Shows a notice over the page. */
function show(id, role, text, ...controls) {
  return announce({ id, role }, element("p", {}, text), ...controls);
}
let bar;
const ask = (event) => event.preventDefault();
/** Warns that the work would be lost with the page, and lets the browser ask before it is closed; or ends this. */
function warn(isLost, why) {
  if (isLost === (bar !== undefined)) return;
  if (!isLost) {
    bar.remove();
    bar = undefined;
    return removeEventListener("beforeunload", ask);
  }
  addEventListener("beforeunload", ask);
  saved = 0;
  say("");
  const reason = why === "QuotaExceededError" ? "this browser’s storage space for sites is full" : "this browser does not allow this site to store anything";
  const text = `Your open work is not kept: ${reason}. Download it, or copy its link, before you close this page.`;
  bar = show("unkept", "alert", text, button("Try again", save), button("Hide", () => bar.remove()));
}
async function clearKept() {
  rest();
  cleared = window.portolanWork?.bytes();
  try {
    await store("readwrite", (work) => {
      work.delete(named("beside"));
      return work.delete(named("open"));
    });
  } catch {
    return say("This browser did not allow the saved work to be deleted: clear the site's data in its settings.");
  }
  saved = 0;
  window.portolanWork?.forget();
  say("Saved copy deleted. What is on this page is saved again once it changes.");
}
/** Saves when the page is idle, but does not wait long for that. */
const soon = () => {
  since ??= Date.now();
  clearTimeout(timer);
  timer = setTimeout(save, Math.max(0, Math.min(800, since + 5000 - Date.now())));
};

/** The field for files. The page is created in parts; this one may not exist yet. */
async function fieldForFiles() {
  let field;
  while (!(field = document.getElementById("open-files"))) await new Promise((go) => setTimeout(go, 20));
  return field;
}
/** Files from another app are handled like files that the user chooses. */
async function take(files) {
  const field = await fieldForFiles();
  const chosen = new DataTransfer();
  for (const file of files) chosen.items.add(file);
  field.files = chosen.files;
  field.dispatchEvent(new Event("change", { bubbles: true }));
  soon();
}

// Until the page's program accepts drops itself, the browser would show the files in place of the page.
const isDropOfFiles = (event) => !document.getElementById("port-page") && event.dataTransfer?.types.includes("Files");
addEventListener("dragover", (event) => isDropOfFiles(event) && event.preventDefault());
addEventListener("drop", (event) => {
  if (!isDropOfFiles(event)) return;
  event.preventDefault();
  const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry());
  if (!entries.some((entry) => entry?.isDirectory)) {
    expect();
    return void take(event.dataTransfer.files);
  }
  const note = show("early-folder", "status", "The page is still loading. Drop the folder again in a moment.", button("Hide", () => note.remove()));
  fieldForFiles().then(() => note.remove());
});

let arrived;
/** Shows files that another program has sent, and opens them if the reader agrees. */
function offerToOpen(files) {
  arrived?.remove();
  if (files.length === 0) return;
  const kibibytes = Math.ceil(files.reduce((sum, file) => sum + file.size, 0) / 1024);
  const names = files.slice(0, 3).map((file) => file.name.slice(0, 80));
  const more = files.length > 3 ? ` and ${files.length - 3} more` : "";
  const isOpen = window.portolanWork.bytes().length > 0;
  const effect = isOpen ? " Opening replaces the open project, which can then be restored." : "";
  const text = `Another app or page has sent ${names.join(", ")}${more} (${kibibytes} KiB).${effect}`;
  const answer = (act) => () => {
    arrived.remove();
    act?.();
  };
  arrived = show("arrived", "status", text, button("Open", answer(() => take(files))), button("Discard", answer()));
}

/** The last part of an address as a file's name. */
function nameIn(address) {
  try {
    return decodeURIComponent(new URL(address).pathname.split("/").pop());
  } catch {
    return "shared.py";
  }
}

/** What the service worker has stored for this page. */
async function shared() {
  const waiting = await caches.open("portolan-shared");
  const files = [];
  for (const request of await waiting.keys()) {
    files.push(new File([await (await waiting.match(request)).blob()], nameIn(request.url)));
  }
  await caches.delete("portolan-shared");
  const isTooLarge = new URLSearchParams(location.search).get("shared") === "too-large";
  history.replaceState(null, "", location.pathname);
  if (isTooLarge) arrived = show("arrived", "status", "What another app has sent is larger than 32 MiB.", button("Hide", () => arrived.remove()));
  else offerToOpen(files);
}

/** Files that the reader opens with this app from the system's file manager. */
async function launched({ files = [] }) {
  const read = await Promise.all(files.map((handle) => handle.getFile()));
  if (window.portolanWork.bytes().length > 0) offerToOpen(read);
  else if (read.length > 0) await take(read);
}

async function start() {
  const nothing = new Uint8Array();
  await findPlace();
  const kept = (name, at) => store("readonly", (work) => work.get(named(name, at))).catch(() => undefined);
  const both = async (at) => (await Promise.all([kept("open", at), kept("beside", at)])).map((bytes) => bytes ?? nothing);
  const own = await both(place);
  const isOwn = place === 0 || own.some((bytes) => bytes.length > 0);
  // A second tab begins with the work of the first.
  const [bytes, beside] = isOwn ? own : await both(0);
  const isRestored = window.portolanWork.begin(bytes, beside);
  if (!isOwn && isRestored) cleared = window.portolanWork.bytes();
  // Something may have been typed before this page listened.
  else soon();
  if (new URLSearchParams(location.search).has("shared")) await shared();
  window.launchQueue?.setConsumer(launched);
  for (const event of ["input", "change", "click", "drop"]) addEventListener(event, soon);
  // Before the page is reloaded: otherwise the work in its address would take precedence over the saved work.
  window.portolanKeep = async () => {
    // Cleared work is still open, and the reader is informed that it will be restored.
    cleared = undefined;
    const kept = await save();
    if (kept && saved > 0) history.replaceState(null, "", location.pathname);
    return kept;
  };
  // When it is restored from the back/forward cache, the page has released its slot.
  addEventListener("pageshow", ({ persisted }) => persisted && location.reload());
  addEventListener("visibilitychange", () => document.visibilityState === "hidden" && save());
  const left = await others(bytes).catch(() => []);
  if (left.length > 0) offer(left);
}

/** Closed tabs had other work. */
function offer(left) {
  const forget = () =>
    store("readwrite", (work) => {
      for (const at of left) work.delete(named("beside", at));
      return left.map((at) => work.delete(named("open", at))).pop();
    });
  const away = (act) => () => {
    news.remove();
    act?.();
  };
  const open = element("a", { class: "button quiet small", href: location.pathname, target: "_blank" }, "Open it in a new tab");
  open.addEventListener("click", away());
  const text = "Work from another tab, now closed, is also saved.";
  const news = show("other-work", "status", text, open, button("Delete it", away(forget)), button("Later", away()));
}
// The page's program calls it.
window.portolanKeeps = start;
