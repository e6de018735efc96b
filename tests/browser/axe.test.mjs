// Checks every kind of page against axe's rules, including best practices: light and dark, on a large screen, a tablet,
// and as narrow as WCAG requires.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { PortPage, launch } from "./port_page.mjs";
import { dist, root, serve } from "./site.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const trainer = readFileSync(join(root, "tests/fixtures/scripts/spectra_trainer.py"), "utf8");
const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
let browser, site, rooted;

before(async () => {
  [browser, site, rooted] = await Promise.all([launch(), serve(), serve(dist, "/")]);
});

after(async () => {
  await browser?.close();
  site?.end();
  rooted?.end();
});

const port = async (page) => {
  await page.locator("#target option").first().waitFor({ state: "attached" });
  return new PortPage(page);
};

/** The checked pages: an address, and the actions there first. The page for missing addresses is built for the root. */
const views = {
  home: ["", async () => {}],
  guide: ["guides/popdist/", async () => {}],
  guides: ["guides/", async () => {}],
  recipes: ["recipes/", async () => {}],
  apis: ["apis/", async () => {}],
  glossary: ["glossary/", async () => {}],
  sources: ["sources/", async () => {}],
  changelog: ["changelog/", async () => {}],
  licences: ["licences/", async () => {}],
  "not found": ["/404.html", async () => {}],
  print: ["print/", async () => {}],
  search: [
    "glossary/",
    async (page) => {
      await page.keyboard.press("Control+K");
      await page.getByRole("combobox").fill("autocast");
      await page.locator(".search-status", { hasText: "result" }).waitFor();
    },
  ],
  "port, empty": ["port/", port],
  "port, result": [
    "port/",
    async (page) => {
      const opened = await port(page);
      await opened.fill(trainer);
      await opened.ported();
    },
  ],
  "port, recipes": [
    "port/",
    async (page) => {
      const opened = await port(page);
      await opened.fill(trainer);
      await opened.ported();
      await opened.tab("recipes");
    },
  ],
  launch: ["launch/", (page) => page.locator("#field-target").waitFor()],
  check: ["check/", (page) => page.getByRole("button", { name: "Run", exact: true }).waitFor()],
};

/** The violations, as text. */
async function violations(page) {
  const found = await page.evaluate(async (values) => {
    const { violations } = await window.axe.run(document, { runOnly: { type: "tag", values }, resultTypes: ["violations"] });
    return violations;
  }, tags);
  return found.map(({ id, help, nodes }) => {
    const shown = nodes.slice(0, 3).map((node) => `${node.target.join(" ")}: ${node.html.slice(0, 120)} (${node.failureSummary?.split("\n").at(-1).trim()})`);
    return `${id}, ${help}, ${nodes.length} times\n  ${shown.join("\n  ")}`;
  });
}

for (const [name, [path, prepare]] of Object.entries(views)) {
  // Every guide on one page: 47,000 elements, a minute or more for each check on a busy machine.
  test(`axe finds nothing: ${name}`, { timeout: name === "print" ? 900_000 : 240_000 }, async () => {
    const found = [];
    for (const width of [1920, 768, 320]) {
      const context = await browser.newContext({ colorScheme: "light", viewport: { width, height: 800 }, serviceWorkers: "block" });
      const page = await context.newPage();
      await page.goto(path.startsWith("/") ? rooted.address + path.slice(1) : site.address + path);
      await prepare(page);
      await page.evaluate(axe);
      for (const scheme of ["light", "dark"]) {
        await page.emulateMedia({ colorScheme: scheme });
        await page.evaluate(() => Promise.all(document.getAnimations().map((animation) => animation.finished)));
        found.push(...(await violations(page)).map((text) => `${scheme} ${width}: ${text}`));
      }
      await context.close();
    }
    assert.equal(found.join("\n"), "");
  });
}
