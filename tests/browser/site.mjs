// The built site on a free port, under a folder of its own: nothing may depend on being at the root of a server.

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

/** The content type of a file on a static host. */
export const typeOf = (path) => types[extname(path)] ?? "application/octet-stream";

/** Addresses of all pages below the site's root, `guides/hpu/` and the like. */
export const pages = readdirSync(dist, { recursive: true })
  .map((file) => String(file).replaceAll("\\", "/"))
  .filter((file) => /(^|\/)index\.html$/.test(file))
  .map((file) => file.slice(0, -"index.html".length))
  .sort();

const isolation = { "cross-origin-opener-policy": "same-origin", "cross-origin-embedder-policy": "require-corp" };

/**
 * Serves a folder, by default dist/ below /sub/; resolves to the address and a function that stops the server. By default it
 * behaves like a plain static host, without the headers that isolate a page. `fault` may return a fault for a path:
 * `refuse` (503), `drop` (the connection ends without a response), `cut` (it ends in the middle of one) or a text that
 * replaces the file's own.
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
  // An idle connection is left to the browser to close: if the server closed it at the same moment as a request is
  // sent, that request would fail.
  server.keepAliveTimeout = 0;
  const listen = (port) =>
    new Promise((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, "127.0.0.1", resolve);
    });
  await listen(0);
  const { port } = server.address();
  /** The server is stopped, and no connection is left. */
  const stop = () =>
    new Promise((resolve) => {
      server.close(resolve);
      server.closeAllConnections();
    });
  return { address: `http://127.0.0.1:${port}${base}`, stop, start: () => listen(port), end: stop };
}

/**
 * Without a network: the browser is set offline, and the server is stopped, so that nothing can reach it past the browser. The
 * site must be the caller's own: concurrent and later tests must not depend on a server that is stopped and restarted.
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
