// Keeps the site for when there is no network, and says so, once a page is at rest.

const root = new URL(".", import.meta.url);

function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

function button(text, act) {
  const made = element("button", { type: "button", class: "button quiet small" }, text);
  made.addEventListener("click", act);
  return made;
}

const mebibytes = (bytes) => `${(bytes / 2 ** 20).toFixed(1)} MiB`;

/** Asks the worker and waits for its answer. */
function ask(worker, message) {
  return new Promise((answer) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = (event) => answer(event.data);
    worker.postMessage(message, [port2]);
  });
}

/** A newer site is there. It waits until the reader wants it: work may be open. */
function offer(worker) {
  if (document.getElementById("update")) return;
  const news = element("p", {}, "There is a newer version of this site. Loading it reloads this page");
  news.append(window.portolanKeep ? "; your open work comes back." : ".");
  const later = button("Later", () => bar.remove());
  const now = button("Load it", async () => {
    if ((await window.portolanKeep?.()) === false) {
      now.remove();
      news.textContent = "This browser does not let your open work be kept. Take it away, then load the newer version by closing this page and opening it again.";
      return;
    }
    navigator.serviceWorker.addEventListener("controllerchange", () => location.reload(), { once: true });
    worker.postMessage("take over");
  });
  const bar = element("div", { id: "update", role: "status", class: "update" }, news, now, later);
  document.body.append(bar);
}

/** A line in the footer: what is kept, and what can be. */
async function tell(worker) {
  const foot = document.querySelector(".site-foot .wrap");
  if (!foot) return;
  const line = element("p", { role: "status", id: "offline" }, "Available offline.");
  foot.querySelector("#offline")?.remove();
  foot.insertBefore(line, foot.querySelector(".theme"));
  const { missing } = await ask(worker, "what is missing");
  if (missing > 0) {
    const fetchRest = button(`Download extras (print view, sample weights; ${mebibytes(missing)})`, async () => {
      fetchRest.disabled = true;
      const { failed } = await ask(worker, "keep the rest");
      line.textContent = failed ? `Some files could not be downloaded: ${failed}` : "Available offline, extras included.";
    });
    line.append(" ", fetchRest);
  }
}

async function keep() {
  // Makes the site installable. It is named here and not in the page, because a browser that finds it fetches it and its icon
  // before the first picture is painted.
  document.head.append(element("link", { rel: "manifest", href: new URL("manifest.webmanifest", root).href }));
  const registration = await navigator.serviceWorker.register(new URL("sw.js", root), { scope: root.pathname });
  if (registration.waiting && navigator.serviceWorker.controller) offer(registration.waiting);
  registration.addEventListener("updatefound", () => {
    const coming = registration.installing;
    coming?.addEventListener("statechange", () => {
      if (coming.state === "installed" && navigator.serviceWorker.controller) offer(coming);
    });
  });
  const ready = await navigator.serviceWorker.ready;
  if (ready.active) await tell(ready.active);
}

// A page of the live preview is not kept: the next visit would show it as it is now.
const preview = "preview" in document.documentElement.dataset;
if (navigator.serviceWorker && location.protocol.startsWith("http") && !preview) {
  // A page that draws nothing may never be told that it is idle.
  if (window.requestIdleCallback) requestIdleCallback(keep, { timeout: 3000 });
  else setTimeout(keep, 200);
}
