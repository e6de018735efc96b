// Serves the site from a cache, so that it is complete without a network. Written by `portolan site build`, which
// inserts the list of files: path, content revision, size, and whether it is large enough to be cached only on request.

const files = new Map(/* FILES */[].map(([path, revision, size, heavy]) => [path, { revision, size, heavy }]));
const isolated = /* ISOLATED */[];
const cacheName = "portolan-site";
const sharedName = "portolan-shared";
const scope = new URL(registration.scope);

/** A file is cached under its name and revision: an unchanged one stays after an update, and two versions can coexist. */
const key = (path) => new URL(`${path}?revision=${files.get(path).revision}`, scope).href;

/** The file at an address, if the site has one there. */
function pathOf(url) {
  if (url.origin !== scope.origin || !url.pathname.startsWith(scope.pathname)) return undefined;
  let path;
  try {
    path = decodeURIComponent(url.pathname.slice(scope.pathname.length));
  } catch {
    // `%zz` is the name of nothing.
    return undefined;
  }
  if (path === "" || path.endsWith("/")) path += "index.html";
  if (!files.has(path) && files.has(`${path}/index.html`)) path += "/index.html";
  return files.has(path) ? path : undefined;
}

/** A site has hundreds of files, and a chance failure of one must not lose all of them: milliseconds before the next attempt. */
const pauses = [500, 1500, 4000];

/** Whether a response is this version's file, and not one that was published later. */
async function isOurs(path, response) {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", await response.arrayBuffer()));
  const revision = [...digest.subarray(0, 8)].map((byte) => byte.toString(16).padStart(2, "0"));
  return revision.join("") === files.get(path).revision;
}

/** Caches a file; returns whether it was not cached before. */
async function keep(cache, path) {
  if (await cache.match(key(path))) return false;
  for (const pause of [...pauses, undefined]) {
    try {
      const response = await fetch(new URL(path, scope), { cache: "no-cache" });
      // An interrupted connection makes this fail, too. Files of two versions would not work together.
      if (response.ok && !(await isOurs(path, response.clone()))) throw new Refused(`${path} is of another version of the site`);
      if (response.ok) {
        await cache.put(key(path), response);
        return true;
      }
      if (pause === undefined || response.status < 500) throw new Refused(`${path}: ${response.status}`);
    } catch (error) {
      if (pause === undefined || error instanceof Refused || isFull(error)) throw error;
    }
    await new Promise((go) => setTimeout(go, pause));
  }
}

/** A response of the server that would not change on another attempt. */
class Refused extends Error {}

/** The browser has no space left for this site. Firefox uses another name for this error. */
const isFull = (error) => /quota|no_device_space/i.test(error?.name);

/** All of the paths, a few at a time. */
async function keepAll(paths) {
  const cache = await caches.open(cacheName);
  const queue = [...paths];
  const added = [];
  const next = async () => {
    for (let path = queue.shift(); path !== undefined; path = queue.shift()) {
      if (await keep(cache, path)) added.push(path);
    }
  };
  // If one is aborted, so are those that were not started.
  const each = Array.from({ length: 6 }, () => next().finally(() => (queue.length = 0)));
  const failed = (await Promise.allSettled(each)).find(({ reason }) => reason);
  if (!failed) return;
  if (isFull(failed.reason)) {
    // A part of the site is useless, and uses the space that the reader's work needs.
    await Promise.all(added.map((path) => cache.delete(key(path))));
    for (const client of await clients.matchAll({ includeUncontrolled: true })) client.postMessage("no room");
  }
  throw failed.reason;
}

async function missing() {
  const cache = await caches.open(cacheName);
  const kept = new Set((await cache.keys()).map((request) => request.url));
  return [...files.keys()].filter((path) => !kept.has(key(path)));
}

addEventListener("install", (event) => {
  event.waitUntil(keepAll([...files].filter(([, file]) => !file.heavy).map(([path]) => path)));
});

addEventListener("activate", (event) => {
  const tidy = async () => {
    const cache = await caches.open(cacheName);
    const wanted = new Set([...files.keys()].map(key));
    const old = (await cache.keys()).filter((request) => !wanted.has(request.url));
    await Promise.all(old.map((request) => cache.delete(request)));
    await clients.claim();
  };
  event.waitUntil(tidy());
});

addEventListener("message", (event) => {
  const answer = (message) => event.ports[0]?.postMessage(message);
  const act = async () => {
    if (event.data === "take over") await skipWaiting();
    if (event.data === "what is missing") {
      answer({ missing: (await missing()).reduce((sum, path) => sum + files.get(path).size, 0) });
    }
    if (event.data === "keep the rest") {
      await keepAll(await missing()).then(
        () => answer({}),
        (error) => answer({ failed: error.message }),
      );
    }
  };
  event.waitUntil(act());
});

addEventListener("fetch", (event) => {
  const url = new URL(event.request.url);
  if (event.request.method === "POST" && url.href === new URL("port/share", scope).href) {
    return event.respondWith(isFromOutside(event.request) ? takeShared(event.request) : toPort(""));
  }
  if (event.request.method !== "GET") return;
  const path = pathOf(url);
  if (path !== undefined) event.respondWith(serve(path, event.request));
  else if (event.request.mode === "navigate" && url.href.startsWith(scope.href)) event.respondWith(notFound(event.request));
});

/** The cached copy of a file, if the browser still has it and allows access. */
const kept = async (path) => (await caches.open(cacheName)).match(key(path));

async function serve(path, request) {
  const known = await kept(path).catch(() => undefined);
  if (known) return withHeaders(path, known);
  const response = await fetch(request);
  if (response.status !== 200) return withHeaders(path, response);
  if (!(await isOurs(path, response.clone()))) {
    // Cached pages were built for this version of the file. If there are none, the whole site comes from the newer
    // version.
    const isApart = await kept("index.html").catch(() => undefined);
    return isApart ? new Response(null, { status: 409, statusText: "A newer version of this site was published" }) : withHeaders(path, response);
  }
  // A large file that was requested once is cached from then on, if there is space.
  const keeping = response.clone();
  await caches.open(cacheName).then((cache) => cache.put(key(path), keeping)).catch(() => undefined);
  return withHeaders(path, response);
}

/** Threads can share memory only on isolated pages, and isolation requires headers, which a static host does not send. */
function withHeaders(path, response) {
  const page = isolated.some((folder) => path.startsWith(folder)) && path.endsWith(".html");
  if (!page && !(isolated.length > 0 && /\.(js|wasm)$/.test(path))) return response;
  const headers = new Headers(response.headers);
  headers.set("Cross-Origin-Embedder-Policy", "require-corp");
  headers.set("Cross-Origin-Resource-Policy", "same-origin");
  if (page) headers.set("Cross-Origin-Opener-Policy", "same-origin");
  return new Response(response.body, { status: response.status, statusText: response.statusText, headers });
}

/** The response if this version of the site has no such file. A newer version may have it; otherwise the site's own page says so. */
async function notFound(request) {
  const response = await fetch(request).catch(() => undefined);
  if (response !== undefined && response.status !== 404) return response;
  const page = await kept("404.html").catch(() => undefined);
  // Without a network, it is unknown whether there is such a page.
  if (page && !response) {
    const text = (await page.text()).replace(/ data-offline="([^"]*)">[^<]*/g, ">$1");
    return new Response(text, { status: 404, headers: page.headers });
  }
  if (page) return new Response(page.body, { status: 404, headers: page.headers });
  return response ?? Response.error();
}

const toPort = (query) => Response.redirect(new URL(`port/${query}`, scope), 303);

/**
 * Whether a share may come from the system's share sheet. Any page can send a form to this address, and its browser then
 * names the page's origin; a page can hide its origin, but not claim to have none other than this site's. So this is only
 * the first safeguard: the Port page shows what has arrived, and asks before it opens it.
 */
function isFromOutside(request) {
  const origins = [request.headers.get("Origin"), request.referrer && new URL(request.referrer).origin];
  const isForeign = (origin) => origin && origin !== "null" && origin !== scope.origin;
  return !origins.some(isForeign) && !/cross-site|same-site/.test(request.headers.get("Sec-Fetch-Site"));
}

/** More than the Port page opens is not worth the reader's storage space, in bytes. */
const mostShared = 32 * 2 ** 20;

/** Files shared from another app are stored in a cache until the Port page has asked about them. */
async function takeShared(request) {
  const form = await request.formData();
  await caches.delete(sharedName);
  const shared = form.getAll("files").filter((file) => file instanceof File);
  const text = form.get("text");
  if (shared.length === 0 && typeof text === "string" && text) shared.push(new File([text], "shared.py"));
  if (shared.reduce((sum, file) => sum + file.size, 0) > mostShared) return toPort("?shared=too-large");
  const cache = await caches.open(sharedName);
  for (const [index, file] of shared.entries()) {
    const name = encodeURIComponent(file.name || `shared-${index}.py`);
    await cache.put(new URL(`port/shared/${index}/${name}`, scope), new Response(file));
  }
  return toPort("?shared");
}
