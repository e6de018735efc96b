// The built site on a free port, under a folder of its own: nothing may depend on lying at the root of a server.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../../", import.meta.url));
export const dist = process.env.PORTOLAN_DIST ?? join(root, "dist");

const types = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".css": "text/css",
  ".wasm": "application/wasm",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
  ".json": "application/json",
  ".webmanifest": "application/manifest+json",
  ".png": "image/png",
  ".py": "text/plain; charset=utf-8",
};

/** What a static host says that a file is. */
export const typeOf = (path) => types[extname(path)] ?? "application/octet-stream";

/** Addresses of all pages below the site's root, `guides/hpu/` and the like. */
export const pages = readdirSync(dist, { recursive: true })
  .map((file) => String(file).replaceAll("\\", "/"))
  .filter((file) => /(^|\/)index\.html$/.test(file))
  .map((file) => file.slice(0, -"index.html".length))
  .sort();

const isolation = { "cross-origin-opener-policy": "same-origin", "cross-origin-embedder-policy": "require-corp" };

/**
 * Serves a folder, dist/ unless told, below /sub/ unless told; resolves to the address and a function that ends it. As a
 * plain static host does, without a header that isolates a page, unless told. `fault` may say of a path what goes wrong with
 * a request: `refuse` (503), `drop` (the connection ends without an answer), `cut` (it ends in the middle of one) or a text,
 * which stands in the place of the file's own.
 */
export async function serve(folder = dist, base = "/sub/", { isolated = false, fault = () => undefined } = {}) {
  const server = createServer(async (request, response) => {
    let path = decodeURIComponent(new URL(request.url, "http://x").pathname);
    if (!path.startsWith(base)) {
      response.writeHead(404).end();
      return;
    }
    path = normalize(path.slice(base.length - 1));
    if (path.endsWith("/")) path += "index.html";
    const wrong = fault(path.slice(1));
    if (wrong === "refuse") return void response.writeHead(503).end();
    if (wrong === "drop") return void request.socket.destroy();
    try {
      const own = await readFile(join(folder, path));
      const bytes = wrong && wrong !== "cut" ? Buffer.from(wrong) : own;
      const headers = { "content-type": typeOf(path) };
      response.writeHead(200, { ...headers, ...(isolated && isolation), "content-length": bytes.length });
      if (wrong === "cut") response.write(bytes.subarray(0, bytes.length / 2), () => request.socket.destroy());
      else response.end(bytes);
    } catch {
      response.writeHead(404).end();
    }
  });
  // A connection that nothing was asked on for a while is left to the browser to end: ended by the server in the same moment
  // that a request is sent, it would fail that request.
  server.keepAliveTimeout = 0;
  const listen = (port) =>
    new Promise((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, "127.0.0.1", resolve);
    });
  await listen(0);
  const { port } = server.address();
  /** Nothing listens any more, and no connection is left. */
  const stop = () =>
    new Promise((resolve) => {
      server.close(resolve);
      server.closeAllConnections();
    });
  return { address: `http://127.0.0.1:${port}${base}`, stop, start: () => listen(port), end: stop };
}

/**
 * Without a network: the browser is told so, and the server is gone, so that nothing can reach it past the browser. The
 * site is one of the caller's own: a test beside it or after it must not miss a server that comes and goes.
 */
export async function withoutNetwork(context, site, body) {
  await Promise.all([context.setOffline(true), site.stop()]);
  await assert.rejects(fetch(site.address), "the server is still there");
  try {
    await body();
  } finally {
    await site.start();
    assert.equal((await fetch(site.address)).status, 200, "the server is back before the browser is told");
    await context.setOffline(false);
  }
}
