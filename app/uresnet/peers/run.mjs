// `node run.mjs TASKS.json`: runs each task in a Chromium of its own and prints one line of JSON for it.
//
// A task is {"kind": "ours", "program": FILE.wasm, "words": [...], "threads": N} or
// {"kind": "peer", "folder": FOLDER, "shape": [...], "threads": N, "runs": N}. A line has what the task gave, with the
// renderer's peak memory where the system tells it.

import { createServer } from "node:http";
import { createReadStream } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const here = fileURLToPath(new URL(".", import.meta.url));
const types = { ".html": "text/html", ".mjs": "text/javascript", ".wasm": "application/wasm" };
const tasks = JSON.parse(await readFile(process.argv[2], "utf8"));

// Files of this folder, and of any other by its whole path below /file/: the server is for this machine alone.
const server = createServer((request, response) => {
  const path = normalize(decodeURIComponent(new URL(request.url, "http://x").pathname));
  const file = path.startsWith("/file/") ? path.slice("/file".length) : join(here, path);
  const stream = createReadStream(file);
  stream.on("error", () => response.writeHead(404).end());
  stream.on("open", () => {
    response.writeHead(200, {
      "content-type": types[extname(file)] ?? "application/octet-stream",
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-embedder-policy": "require-corp",
    });
    stream.pipe(response);
  });
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const address = `http://127.0.0.1:${server.address().port}`;

for (const task of tasks) {
  const browser = await chromium.launchServer({
    executablePath: process.env.PORTOLAN_CHROMIUM,
    args: ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"],
  });
  let line;
  try {
    const page = await (await chromium.connect(browser.wsEndpoint())).newPage();
    await page.goto(`${address}/page.html`);
    await page.waitForFunction("window.ready");
    line = await page.evaluate(
      ({ kind, program, words, threads, folder, shape, runs }) =>
        kind === "ours"
          ? window.ours(`/file${program}`, words, threads)
          : window.peer(`/file${folder}`, shape, threads, runs),
      task,
    );
    line.resident = await renderers(browser.process().pid);
  } catch (error) {
    line = { failure: `${error}`.split("\n")[0], threads: task.threads };
  }
  console.log(JSON.stringify({ ...line, name: task.name }));
  await browser.close();
}
server.close();

/** The largest peak of resident memory among a browser's renderers; null where there is no /proc. */
async function renderers(root) {
  let most = null;
  const parents = new Map();
  const sizes = new Map();
  for (const entry of await readdir("/proc").catch(() => [])) {
    const status = await readFile(`/proc/${entry}/status`, "utf8").catch(() => "");
    const parent = /^PPid:\s*(\d+)/m.exec(status);
    if (!/^\d+$/.test(entry) || !parent) continue;
    parents.set(Number(entry), Number(parent[1]));
    const command = await readFile(`/proc/${entry}/cmdline`, "utf8").catch(() => "");
    const peak = /^VmHWM:\s*(\d+)/m.exec(status);
    if (command.includes("--type=renderer") && peak) sizes.set(Number(entry), Number(peak[1]) * 1024);
  }
  for (const [id, size] of sizes) {
    let up = id;
    while (up && up !== root) up = parents.get(up);
    if (up === root) most = Math.max(most ?? 0, size);
  }
  return most;
}
