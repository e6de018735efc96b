// What `cargo xtask same-bytes` runs: a row for everything that ports, with the ports that are not the first row's, byte for byte.
// usage: node same_bytes_table.mjs FILES SUMS.json NAME=COMMAND …

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { launch } from "./port_page.mjs";
import { allWays, byCommand, corpus, differences, fixtures, inBrowser, inNode } from "./same_bytes.mjs";
import { serve } from "./site.mjs";

const [files, place, ...named] = process.argv.slice(2);
const commands = named.map((word) => word.split("="));
const ways = await allWays(commands[0][1]);
const half = Math.ceil(Number(files) / 2);
const projects = [...fixtures(), ...corpus("bounded.txt", half), ...corpus("packages.txt", Number(files) - half)];
const count = projects.reduce((sum, { files }) => sum + files.length, 0);

/** The programs, in the order of the rows. */
const ported = commands.map(([name, command]) => [`command, ${name}`, () => byCommand(command, projects, ways)]);
ported.push([`module, Node ${process.versions.node}`, () => inNode(projects, ways)]);

const browser = await launch();
ported.push([
  `module, Chromium ${browser.version()}`,
  async () => {
    const site = await serve();
    const page = await browser.newPage({ serviceWorkers: "block" });
    await page.goto(site.address);
    const sums = await page.evaluate(inBrowser(site.address, projects, ways));
    await site.end();
    return sums;
  },
]);

console.log(`${count} files in ${projects.length} projects, ${ways.length} ways: report, patch and texts of ${projects.length * ways.length} ports\n`);
console.log("| what ports | ports that differ | seconds |\n|---|--:|--:|");
let wanted;
let wrong = 0;
for (const [name, port] of ported) {
  const start = performance.now();
  const sums = await port();
  wanted ??= sums;
  const found = differences(wanted, sums);
  wrong += found.length;
  console.log(`| ${name} | ${new Set(found.map((line) => line.replace(/: \w+$/, ""))).size} | ${((performance.now() - start) / 1000).toFixed(0)} |`);
  found.forEach((line) => console.error(line));
}
await browser.close();
writeFileSync(place, `${JSON.stringify({ ways, projects: projects.map(({ name, files }) => ({ name, files, sums: wanted[name] })) })}\n`);

console.log("\n| what computes the network | threads | SHA-256 of the outputs |\n|---|--:|---|");
const folder = mkdtempSync(join(tmpdir(), "portolan-"));
const outputs = new Set();
for (const [name, command] of commands) {
  for (const threads of [1, 2, 3, 8]) {
    const out = join(folder, "out.safetensors");
    execFileSync(command, ["forward", "--config", "small", "--weights", "sample", "--threads", threads, "--out", out], { stdio: "pipe" });
    const sum = createHash("sha256").update(readFileSync(out)).digest("hex");
    outputs.add(sum);
    console.log(`| command, ${name} | ${threads} | ${sum.slice(0, 16)} |`);
  }
}
rmSync(folder, { recursive: true });
if (wrong + outputs.size > 1) {
  console.error("not the same bytes everywhere");
  process.exitCode = 1;
}
