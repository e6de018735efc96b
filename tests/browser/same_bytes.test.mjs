// The command, and the engine's module under Node and in Chromium, port the same files with the same bytes. The command
// is the one built by the other tests, without optimisation, and the module is optimised for size, so the two differ in
// everything that a compiler may change. `cargo xtask same-bytes` does the same with more files and with an optimised
// command too.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { launch } from "./port_page.mjs";
import { allWays, byCommand, corpus, differences, fixtures, inBrowser, inNode } from "./same_bytes.mjs";
import { root, serve } from "./site.mjs";

const command = ["debug", "release"].map((kind) => join(root, "target", kind, "portolan")).find(existsSync);
const projects = [...fixtures(), ...corpus("bounded.txt", 50)];
const count = projects.reduce((sum, { files }) => sum + files.length, 0);
const limit = { timeout: 600_000 };
let ways, wanted;

before(async () => {
  assert.ok(command, "target/ has no portolan; build the command first");
  ways = await allWays(command, ["auto"]);
  wanted = await byCommand(command, projects, ways);
}, limit);

test("the command ports what there is to every target", () => {
  assert.ok(count >= 70 && ways.length >= 5, `${count} files, ${ways.length} targets`);
  const sums = Object.values(wanted).flatMap((ways) => Object.values(ways).map(({ texts }) => texts));
  assert.ok(new Set(sums).size > sums.length / 2, "ports to several targets differ");
});

test("the engine under Node gives the same bytes", limit, async () => {
  assert.deepEqual(differences(wanted, await inNode(projects, ways)), []);
});

test("the engine in Chromium gives the same bytes", limit, async () => {
  const [browser, site] = await Promise.all([launch(), serve()]);
  try {
    const page = await browser.newPage({ serviceWorkers: "block" });
    await page.goto(site.address);
    const found = await page.evaluate(inBrowser(site.address, projects, ways));
    assert.deepEqual(differences(wanted, found), []);
  } finally {
    await browser.close();
    await site.end();
  }
});

test("one byte more is a difference", limit, async () => {
  const [project] = projects;
  const [first, ...others] = project.files;
  const other = { ...project, files: [{ ...first, text: `${first.text}\n` }, ...others] };
  const found = differences({ [project.name]: wanted[project.name] }, await byCommand(command, [other], ways));
  assert.ok(ways.every(({ name }) => found.includes(`${project.name}, ${name}: texts`)), found.join("\n"));
});
