// Caches the site for offline use, and reports it, once a page is idle.

const root = new URL(".", import.meta.url);

const mebibytes = (bytes) => `${(bytes / 2 ** 20).toFixed(1)} MiB`;

/** Sends the worker a request and waits for its answer. */
function ask(worker, message) {
  return new Promise((answer) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = (event) => answer(event.data);
    worker.postMessage(message, [port2]);
  });
}

/** A newer site is available. It is activated on request only, because there may be open work. */
function offer(worker) {
  if (document.getElementById("update")) return;
  const news = element("p", {}, "A newer version of this site is available. Loading it reloads this page");
  news.append(window.portolanKeep ? "; your open work comes back." : ".");
  const later = button("Later", () => bar.remove());
  const now = button("Load it", async () => {
    if ((await window.portolanKeep?.()) === false) {
      now.remove();
      news.textContent = "Your open work can’t be saved in this browser. Download it first; then close this page and open it again to load the newer version.";
      return;
    }
    navigator.serviceWorker.addEventListener("controllerchange", () => location.reload(), { once: true });
    worker.postMessage("take over");
  });
  const bar = announce({ id: "update", role: "status" }, news, now, later);
}

/** A line in the footer. It is read aloud when it changes. */
function say(text, ...controls) {
  const foot = document.querySelector(".site-foot .wrap");
  const line = foot?.querySelector("#offline") ?? element("p", { role: "status", id: "offline" });
  if (!line.isConnected) foot?.append(line);
  line.replaceChildren(text, ...controls.flatMap((control) => [" ", control]));
}

/** What is cached, and what can be. */
async function tell(worker) {
  say("Available offline.");
  const { missing } = await ask(worker, "what is missing");
  if (missing === 0) return;
  const fetchRest = button(`Download extras (print view, sample weights; ${mebibytes(missing)})`, async () => {
    fetchRest.disabled = true;
    const { failed } = await ask(worker, "keep the rest");
    say(failed ? `Some files could not be downloaded: ${failed}` : "Available offline, extras included.");
  });
  say("Available offline.", fetchRest);
}

/** The browser has found a newer version. */
function found({ target: registration }) {
  const coming = registration.installing;
  coming?.addEventListener("statechange", () => {
    if (coming.state === "installed" && navigator.serviceWorker.controller) offer(coming);
  });
}

/** The worker that has cached the site, unless a file could not be fetched. */
async function installed() {
  const registration = await navigator.serviceWorker.register(new URL("sw.js", root), { scope: root.pathname });
  if (registration.waiting && navigator.serviceWorker.controller) offer(registration.waiting);
  registration.addEventListener("updatefound", found);
  const coming = registration.installing ?? registration.waiting;
  if (registration.active || !coming) return registration.active;
  return new Promise((done) => {
    const look = () => {
      if (registration.active || coming.state === "redundant") done(registration.active);
    };
    coming.addEventListener("statechange", look);
    look();
  });
}

/** Milliseconds before another attempt to cache the site; after the last one, the reader can try again. */
const pauses = [5_000, 20_000, 60_000];

async function keep() {
  // Makes the site installable. The manifest is added here and not in the page, because a browser would fetch it and
  // its icon before the first paint.
  document.head.append(element("link", { rel: "manifest", href: new URL("manifest.webmanifest", root).href }));
  let again;
  const retry = button("Try again", () => again());
  let said;
  // The line stays the same from one attempt to the next, otherwise it would be read aloud each time.
  const fail = (why) => {
    if (said !== why) say(`Not available offline: ${why}.`, retry);
    said = why;
  };
  const noRoom = "this browser’s storage space for sites is full";
  let isFull;
  // The worker reports this, before or after the browser reports the failure.
  navigator.serviceWorker.addEventListener("message", ({ data }) => {
    isFull ||= data === "no room";
    if (isFull && said) fail(noRoom);
  });
  for (let tries = 0; ; tries++) {
    retry.disabled = true;
    isFull = false;
    let refused;
    const worker = await installed().catch(({ name }) => void (refused = ["SecurityError", "NotSupportedError"].includes(name)));
    if (worker) return tell(worker);
    if (refused) return say("Not available offline: this browser does not allow the site to be stored.");
    retry.disabled = false;
    fail(isFull ? noRoom : "some files could not be downloaded");
    await new Promise((go) => {
      again = go;
      addEventListener("online", go, { once: true });
      if (tries < pauses.length) setTimeout(go, pauses[tries]);
    });
  }
}

// A page of the live preview is not cached: the next visit would show its current version.
const preview = "preview" in document.documentElement.dataset;
if (navigator.serviceWorker && location.protocol.startsWith("http") && !preview) {
  // A page that draws nothing may never become idle.
  if (window.requestIdleCallback) requestIdleCallback(keep, { timeout: 3000 });
  else setTimeout(keep, 200);
}
