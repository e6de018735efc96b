// Ports of the same files by everything that ports: the command, and the engine's module under Node and in browsers.
// All must produce the same bytes: report (edits, messages, certificate), patch, texts.

import { execFile } from "node:child_process";
import { createHash, webcrypto } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { portAll } from "./engine_wire.mjs";
import { dist, root } from "./site.mjs";

const run = promisify(execFile);
const most = { maxBuffer: 1 << 28 };

/** Every target with the styles whose results can differ. */
export async function allWays(command, styles = ["auto", "in-place", "branch"]) {
  const { stdout } = await run(command, ["recipes", "list", "--format", "json"], most);
  const targets = [...new Set(JSON.parse(stdout).recipes.map(({ target }) => target))].sort();
  return targets.flatMap((target) => styles.map((style) => ({ name: `${target}, ${style}`, target, style })));
}

const python = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".py"))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(folder.length + 1).replaceAll("\\", "/"))
    .sort();

/** The files as the page would read them; non-text files are not passed to an engine. */
function texts(folder, paths, shown = (path) => path) {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  return paths.flatMap((path) => {
    try {
      const text = decoder.decode(readFileSync(join(folder, path)));
      return text.includes("\0") ? [] : [{ path: shown(path), text }];
    } catch {
      return [];
    }
  });
}

/** Names that sort differently as paths than folder by folder, and texts that are easily changed in transit. */
const odd = {
  name: "odd names",
  files: [
    { path: "net-2/loss.py", text: "import torch\r\nloss = torch.zeros(1).cuda()\r\n" },
    { path: "net.py", text: "\ufeffimport torch\nnet = torch.nn.Linear(1, 1).cuda()" },
    { path: "net/layer.py", text: "import torch\n\tlayer = 1\n" },
    { path: "net/über uns.py", text: "import torch\nname = '\u{1f9ed} é'\nx = torch.ones(1, device='cuda')  # \u2028 \x0c\n" },
  ],
};

/** The fixtures as projects: those of several files, and all scripts together. */
export function fixtures() {
  const folder = join(root, "tests/fixtures");
  const isOriginal = (path) => !/\.(?:hpu|xpu|ipu|popdist|rdu)\b/.test(path);
  const paths = python(folder).filter((path) => isOriginal(path) && /^(?:bad|projects|scripts|targets)\//.test(path));
  const names = [...new Set(paths.map((path) => path.split("/").slice(0, path.startsWith("projects/") ? 2 : 1).join("/")))];
  const projects = names.map((name) => {
    const own = paths.filter((path) => path.startsWith(`${name}/`));
    return { name, files: texts(folder, own, (path) => path.slice(name.length + 1)) };
  });
  return [odd, ...projects];
}

/** Where `cargo xtask corpus` unpacks published packages. */
const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "portolan/corpus");

/** At most this many files from the packages of a list, evenly distributed; none if they were not downloaded. A project has `size` of them. */
export function corpus(list, count, size = 25) {
  const lines = readFileSync(join(root, "tests/corpus", list), "utf8").split("\n");
  const packages = lines.map((line) => /^([\w.-]+)==(\S+)/.exec(line)).filter(Boolean).map(([, name, version]) => `${name}-${version}`);
  const all = packages.filter((name) => existsSync(join(cache, name, ".package")))
    .flatMap((name) => python(join(cache, name)).map((path) => `${name}/${path}`));
  const step = Math.max(1, all.length / count);
  const chosen = Array.from({ length: Math.min(count, all.length) }, (_, at) => all[Math.floor(at * step)]);
  // Hidden folders are not part of a project, for the page and for the command.
  const isHidden = (path) => /(?:^|\/)\./.test(path);
  const projects = [];
  for (let at = 0; at < chosen.length; at += size) {
    const paths = chosen.slice(at, at + size).filter((path) => !isHidden(path));
    projects.push({ name: `${basename(list, ".txt")} ${at / size + 1}`, files: texts(cache, paths) });
  }
  return projects;
}

/** A port by the command, as texts. */
async function portByCommand(command, { files }, { target, style }) {
  const folder = mkdtempSync(join(tmpdir(), "portolan-"));
  try {
    const project = join(folder, "project");
    for (const { path, text } of files) {
      mkdirSync(dirname(join(project, path)), { recursive: true });
      writeFileSync(join(project, path), text);
    }
    const patch = join(folder, "a.patch");
    const words = ["port", "--target", target, "--style", style, "--format", "json", "--write", "--patch", patch, "."];
    // It exits with 1 if a file is refused, which is a valid result too.
    const { stdout } = await run(command, words, { ...most, cwd: project }).catch((error) => {
      if (error.code !== 1) throw error;
      return error;
    });
    const ported = JSON.parse(stdout).files.map(({ path }) => readFileSync(join(project, path), "utf8"));
    // A port that changes nothing leaves no patch.
    return { report: [stdout], patch: [existsSync(patch) ? readFileSync(patch, "utf8") : ""], texts: ported };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const sum = (parts) => createHash("sha256").update(parts.join("\0")).digest("hex");

/** The result of [`portAll`], by the command; `jobs` processes at a time. */
export async function byCommand(command, projects, ways, jobs = 2) {
  const sums = Object.fromEntries(projects.map(({ name }) => [name, {}]));
  const left = projects.flatMap((project) => ways.map((way) => [project, way]));
  const work = async () => {
    for (let next; (next = left.shift()); ) {
      const [project, way] = next;
      const port = await portByCommand(command, project, way);
      sums[project.name][way.name] = Object.fromEntries(Object.entries(port).map(([part, texts]) => [part, sum(texts)]));
    }
  };
  await Promise.all(Array.from({ length: jobs }, work));
  return sums;
}

/** The engine's module in this process. */
async function engineInNode() {
  // Node 18, in Debian 12, does not define it globally.
  globalThis.crypto ??= webcrypto;
  const folder = mkdtempSync(join(tmpdir(), "portolan-"));
  const [script, module] = ["engine.js", "engine_bg.wasm"].map((name) => join(dist, name));
  const copy = join(folder, "engine.mjs");
  writeFileSync(copy, readFileSync(script));
  const worker = { postMessage: (message) => globalThis.onmessage({ data: structuredClone(message) }) };
  const ready = new Promise((done) => (worker.onmessage = done));
  globalThis.postMessage = (data, transfer) => void worker.onmessage({ data: structuredClone(data, { transfer }) });
  const { default: init } = await import(pathToFileURL(copy));
  rmSync(folder, { recursive: true });
  await init({ module_or_path: readFileSync(module) });
  await ready;
  return worker;
}

/** The result of [`portAll`], by the engine's module under Node. */
export const inNode = async (projects, ways) => portAll(await engineInNode(), projects, ways);

/**
 * The same in a browser: an expression to be evaluated in any page of the site at `address`, a promise of the result of
 * [`portAll`]. It starts a worker like the Port page.
 */
export function inBrowser(address, projects, ways) {
  const start = async (address, portAll, projects, ways) => {
    const worker = new Worker(new URL("start_engine.js", address), { type: "module" });
    await new Promise((done, fail) => Object.assign(worker, { onmessage: done, onerror: ({ message }) => fail(new Error(message)) }));
    try {
      return await portAll(worker, projects, ways);
    } finally {
      worker.terminate();
    }
  };
  return `(${start})(${JSON.stringify(address)}, ${portAll}, ${JSON.stringify(projects)}, ${JSON.stringify(ways)})`;
}

/** Ports that differ, as sentences. */
export function differences(wanted, found) {
  return Object.entries(wanted).flatMap(([project, ways]) =>
    Object.entries(ways).flatMap(([way, parts]) =>
      Object.entries(parts).filter(([part, sum]) => found[project]?.[way]?.[part] !== sum).map(([part]) => `${project}, ${way}: ${part}`),
    ),
  );
}
