// The built site from its publisher's view: pages change while a test runs.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dist, serve } from "./site.mjs";

/**
 * Runs `body` with a server of a copy of the site and with functions that change it: `write` changes the text of a page, `list`
 * updates the page's checksum in the service worker's list, and `publish` does both, which makes a newer version.
 */
export async function withVersions(body, options = {}) {
  const folder = mkdtempSync(join(tmpdir(), "portolan-"));
  cpSync(dist, folder, { recursive: true });
  const write = (path, before, after) => {
    const file = join(folder, path);
    const html = readFileSync(file, "utf8");
    assert.ok(html.includes(before), path);
    writeFileSync(file, html.replace(before, after));
  };
  const list = (path) => {
    const worker = join(folder, "sw.js");
    const listed = readFileSync(worker, "utf8");
    const at = listed.indexOf(`["${path}","`) + path.length + 5;
    assert.ok(at > path.length + 4, path);
    const revision = createHash("sha256").update(readFileSync(join(folder, path))).digest("hex").slice(0, 16);
    writeFileSync(worker, `${listed.slice(0, at)}${revision}${listed.slice(at + 16)}`);
  };
  const publish = (path, before, after) => {
    write(path, before, after);
    list(path);
  };
  const site = await serve(folder, "/sub/", options);
  try {
    await body(site, { write, list, publish });
  } finally {
    await site.end();
    rmSync(folder, { recursive: true, force: true });
  }
}
