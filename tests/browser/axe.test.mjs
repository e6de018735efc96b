// Checks every kind of page against axe's rules, including best practices: on a large screen, a tablet, and as narrow as WCAG
// requires. In dark colours, only the rules about colours are checked again; the print page is checked once, for its size.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { PortPage, launch } from "./port_page.mjs";
import { dist, root, serve } from "./site.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const trainer = readFileSync(join(root, "tests/fixtures/scripts/spectra_trainer.py"), "utf8");
/** The guide that the page about recipes teaches. */
const ownGuide = /\{#own-site\}\n[^]*?````markdown\n([^]*?)````/.exec(readFileSync(join(root, "guides/writing-a-recipe.md"), "utf8"))[1];
const all = { type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] };
/** Those of them that look at colours. */
const colours = { type: "rule", values: ["color-contrast", "link-in-text-block"] };
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
  await page.locator("#sdk:enabled").waitFor({ state: "attached" });
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
  "port, error message": [
    "port/",
    async (page) => {
      const opened = await port(page);
      await opened.fill(trainer);
      await opened.ported();
      await opened.tab("error");
      await page.locator("#error-log").fill("AssertionError: Torch not compiled with CUDA enabled");
      await page.locator("#error-found h3").first().waitFor();
    },
  ],
  "port, the user's own guide": [
    "port/",
    async (page) => {
      const opened = await port(page);
      await opened.fill('import fastevents\nevents = fastevents.load_gpu("a.h5")\n');
      await opened.chooseFiles([{ name: "events.md", text: ownGuide }]);
      await page.locator("#own-guides span").waitFor();
      await opened.chooseFiles([{ name: "events.md", text: ownGuide.replace("diff rule", "diff rule usafe") }]);
      await page.locator(".port-notice.bad").waitFor();
    },
  ],
  launch: ["launch/", (page) => page.locator("#field-target").waitFor()],
  check: ["check/", (page) => page.getByRole("button", { name: "Run", exact: true }).waitFor()],
};

/** The violations of some rules, as text. */
async function violations(page, runOnly) {
  const found = await page.evaluate(async (runOnly) => {
    const { violations } = await window.axe.run(document, { runOnly, resultTypes: ["violations"] });
    return violations;
  }, runOnly);
  return found.map(({ id, help, nodes }) => {
    const shown = nodes.slice(0, 3).map((node) => `${node.target.join(" ")}: ${node.html.slice(0, 120)} (${node.failureSummary?.split("\n").at(-1).trim()})`);
    return `${id}, ${help}, ${nodes.length} times\n  ${shown.join("\n  ")}`;
  });
}

/** Every animation has ended, also those that a new size begins. */
const atRest = (page) =>
  page.evaluate(async () => {
    await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
    await Promise.allSettled(document.getAnimations().map((animation) => animation.finished));
  });

for (const [name, [path, prepare]] of Object.entries(views)) {
  // Every guide on one page, 80,000 elements: a minute for each check, of what `guide` has too.
  const isLong = name === "print";
  test(`axe finds nothing: ${name}`, { timeout: 240_000 }, async () => {
    const found = [];
    const context = await browser.newContext({ colorScheme: "light", viewport: { width: 1920, height: 800 }, serviceWorkers: "block" });
    const page = await context.newPage();
    await page.goto(path.startsWith("/") ? rooted.address + path.slice(1) : site.address + path);
    await prepare(page);
    await page.evaluate(axe);
    for (const width of isLong ? [1920] : [1920, 768, 320]) {
      await page.setViewportSize({ width, height: 800 });
      // What a page consists of depends on its width, and only its colours on the scheme.
      for (const scheme of isLong ? ["light"] : ["light", "dark"]) {
        await page.emulateMedia({ colorScheme: scheme });
        await atRest(page);
        found.push(...(await violations(page, scheme === "light" ? all : colours)).map((text) => `${scheme} ${width}: ${text}`));
      }
    }
    await context.close();
    assert.equal(found.join("\n"), "");
  });
}
