// Users' needs and settings: colours that everyone can distinguish, the system's own colours, no motion, narrow
// windows, and settings that apply without a flash.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { PortPage, launch } from "./port_page.mjs";
import { pages, root, serve } from "./site.mjs";

const trainer = readFileSync(join(root, "tests/fixtures/scripts/spectra_trainer.py"), "utf8");
let browser, site;

before(async () => {
  [browser, site] = await Promise.all([launch(), serve()]);
});

after(async () => {
  await browser?.close();
  site?.end();
});

async function opened(path, options = {}) {
  const context = await browser.newContext({ serviceWorkers: "block", ...options });
  const page = await context.newPage();
  await page.goto(site.address + path);
  return { page, close: () => context.close() };
}

// How linear RGB appears to those who lack one of three receptors: Machado, Oliveira and Fernandes 2009, severity 1.
const visions = {
  "all receptors": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  protanopia: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  deuteranopia: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  tritanopia: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
};

const linear = (colour) =>
  colour.match(/[\d.]+/g).slice(0, 3).map((part) => part / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
const luminance = ([r, g, b]) => 0.2126 * r + 0.7152 * g + 0.0722 * b;

function contrast(a, b) {
  const [dark, light] = [luminance(linear(a)), luminance(linear(b))].sort((one, other) => one - other);
  return (light + 0.05) / (dark + 0.05);
}

function lab(rgb) {
  const [r, g, b] = rgb.map((c) => Math.min(1, Math.max(0, c)));
  const f = (t) => (t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116);
  const [x, y, z] = [(0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.95047, luminance([r, g, b]), (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.08883].map(f);
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

/** CIE 1976 distance for such eyes; 2.3 is just noticeable. */
function distance(a, b, vision) {
  const seen = (colour) => lab(vision.map((row) => row.reduce((sum, part, at) => sum + part * linear(colour)[at], 0)));
  const [one, other] = [seen(a), seen(b)];
  return Math.hypot(...one.map((part, at) => part - other[at]));
}

for (const colorScheme of ["light", "dark"]) {
  for (const palette of ["green", "blue"]) {
    test(`added and removed are told apart by every kind of eye: ${palette}, ${colorScheme}`, async () => {
      const { page, close } = await opened("", { colorScheme });
      if (palette === "blue") await page.getByRole("button", { name: "Differences: green and orange" }).click();
      const colours = await page.evaluate(() => {
        const probe = document.body.appendChild(document.createElement("i"));
        const read = (name) => {
          probe.style.color = `var(--${name})`;
          return getComputedStyle(probe).color;
        };
        const names = ["added", "removed", "ink", ...["keyword", "string", "number", "comment", "function", "type", "decorator"].map((kind) => `code-${kind}`)];
        const words = ["added-word", "removed-word", "added-mark", "removed-mark"];
        return Object.fromEntries([...names, ...words].map((name) => [name, read(name)]));
      });
      for (const [name, vision] of Object.entries(visions)) {
        const apart = (a, b, least) => {
          const found = distance(colours[a], colours[b], vision);
          assert.ok(found >= least, `${name}: ${a} and ${b} are ${found.toFixed(1)} apart`);
        };
        apart("added", "removed", 6);
        apart("added-word", "removed-word", 15);
        apart("added-mark", "removed-mark", 25);
        apart("added", "added-word", 6);
        apart("removed", "removed-word", 6);
      }
      for (const ground of ["added", "removed", "added-word", "removed-word"]) {
        for (const ink of Object.keys(colours).filter((name) => name === "ink" || name.startsWith("code-"))) {
          assert.ok(contrast(colours[ground], colours[ink]) >= 4.5, `${ink} on ${ground}`);
        }
      }
      await close();
    });
  }
}

test("theme and palette are kept, and there before anything is painted", async () => {
  const { page, close } = await opened("guides/");
  await page.getByRole("button", { name: "Theme: auto" }).click();
  await page.getByRole("button", { name: "Theme: light" }).click();
  await page.getByRole("button", { name: "Differences: green and orange" }).click();
  await page.addInitScript(() => {
    // The document's state when its body is created, which is before anything is painted.
    new MutationObserver((_, observer) => {
      if (!document.body) return;
      window.atFirst = { ...document.documentElement.dataset };
      observer.disconnect();
    }).observe(document, { childList: true, subtree: true });
  });
  await page.goto(`${site.address}recipes/`);
  const first = await page.evaluate(() => window.atFirst);
  assert.equal(first.theme, "dark");
  assert.equal(first.palette, "blue");
  await page.getByRole("button", { name: "Theme: dark" }).click();
  await page.getByRole("button", { name: "Differences: blue and yellow" }).click();
  await page.reload();
  assert.deepEqual(await page.evaluate(() => [document.documentElement.dataset.theme, document.documentElement.dataset.palette]), [undefined, undefined]);
  await close();
});

test("a guide's contents stay in sight and say what is read; on a phone they are folded", { timeout: 60_000 }, async () => {
  for (const width of [1280, 360]) {
    const page = await browser.newPage({ viewport: { width, height: 740 }, serviceWorkers: "block" });
    await page.goto(`${site.address}guides/hpu/#cudnn`);
    const current = page.locator(".contents a[aria-current]");
    await page.waitForFunction(() => document.querySelector(".contents a[aria-current]")?.hash === "#cudnn");
    const nav = await page.locator(".contents").boundingBox();
    assert.ok(nav.y >= 0 && nav.y < 60, `${width} px: in sight, at ${nav.y}`);
    const covered = await page.evaluate(() => {
      const { left, top } = document.getElementById("cudnn").getBoundingClientRect();
      return document.elementFromPoint(left + 5, top + 5)?.closest(".contents") !== null;
    });
    assert.equal(covered, false, `${width} px: the section is not behind its contents`);
    if (width === 360) {
      assert.ok(nav.height < 60, `folded, ${nav.height} px high`);
      await page.locator(".contents summary").click();
      await page.locator(".contents a[href='#nvtx']").click();
      assert.equal(await page.locator(".contents details").getAttribute("open"), null);
    } else await page.locator(".contents a[href='#nvtx']").click();
    await page.waitForFunction(() => document.querySelector(".contents a[aria-current]")?.hash === "#nvtx");
    assert.equal(await current.count(), 1);
    await page.close();
  }
});

test("every page reflows at 320 px", { timeout: 120_000 }, async () => {
  const { page, close } = await opened("", { viewport: { width: 320, height: 640 } });
  for (const path of pages) {
    await page.goto(site.address + path, { waitUntil: "load" });
    if (path === "port/") {
      await page.locator("#sdk:enabled").waitFor({ state: "attached" });
      const port = new PortPage(page);
      await port.fill(trainer);
      await port.ported();
    }
    // Wider letter spacing simulates wider fonts: a page can't know which are installed.
    for (const spacing of ["normal", ".2em"]) {
      const width = await page.evaluate((spacing) => {
        document.documentElement.style.letterSpacing = spacing;
        return document.documentElement.scrollWidth;
      }, spacing);
      assert.ok(width <= 320, `${path} is ${width} px wide with letter spacing ${spacing}`);
    }
  }
  await close();
});

test("the system's own colours keep what colour alone would say", { timeout: 60_000 }, async () => {
  const { page, close } = await opened("", { forcedColors: "active" });
  const seen = (selector, name) => page.locator(selector).first().evaluate((element, name) => getComputedStyle(element)[name], name);
  assert.equal(await page.locator(".diff .add td").first().innerText(), "+");
  assert.notEqual(await seen(".diff mark", "outlineStyle"), "none");
  assert.notEqual(await seen(".button", "borderTopStyle"), "none");
  const borders = await page.getByRole("tab").evaluateAll((tabs) => tabs.map((tab) => [tab.getAttribute("aria-selected"), getComputedStyle(tab).borderBottomColor]));
  const chosen = borders.find(([selected]) => selected === "true")[1];
  assert.ok(borders.every(([selected, colour]) => selected === "true" || colour !== chosen), JSON.stringify(borders));
  await page.keyboard.press("Tab");
  assert.notEqual(await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle), "none");
  await close();
});

test("nothing moves where no motion is wanted", { timeout: 120_000 }, async () => {
  const { page, close } = await opened("", { reducedMotion: "reduce" });
  for (const path of pages) {
    await page.goto(site.address + path);
    const moving = await page.evaluate(() => {
      const seconds = (value) => value.split(",").some((part) => parseFloat(part) > 0);
      const styles = [...document.querySelectorAll("*")].map((element) => [element, getComputedStyle(element)]);
      const found = styles.filter(([, style]) => seconds(style.transitionDuration) || (style.animationName !== "none" && seconds(style.animationDuration)));
      return [...found.map(([element]) => element.outerHTML.slice(0, 80)), ...document.getAnimations().map(String)];
    });
    assert.deepEqual(moving, [], path);
  }
  await close();
});
