// The tests' browser only sees the fonts of fonts.conf, whatever else is installed: otherwise a machine could hide a
// page that is too wide.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch } from "./port_page.mjs";
import { serve } from "./site.mjs";

let browser, site;

before(async () => {
  [browser, site] = await Promise.all([launch(), serve()]);
});

after(async () => {
  await browser?.close();
  site?.end();
});

test("no font is seen but Debian's own", async () => {
  const context = await browser.newContext({ permissions: ["local-fonts"], serviceWorkers: "block" });
  const page = await context.newPage();
  await page.goto(site.address);
  const fonts = await page.evaluate(async () => (await queryLocalFonts()).map((font) => font.postscriptName));
  assert.deepEqual(fonts.sort(), [
    "DejaVuSans",
    "DejaVuSans-Bold",
    "DejaVuSansMono",
    "DejaVuSansMono-Bold",
    "DejaVuSerif",
    "DejaVuSerif-Bold",
  ]);
  await context.close();
});

test("each kind of font is the one that is stated for it", async () => {
  const page = await browser.newPage({ serviceWorkers: "block" });
  await page.goto(site.address);
  const session = await page.context().newCDPSession(page);
  await session.send("DOM.enable");
  await session.send("CSS.enable");
  const { root } = await session.send("DOM.getDocument");
  const { nodeId } = await session.send("DOM.querySelector", { nodeId: root.nodeId, selector: "h1" });
  for (const [kind, font] of [["sans-serif", "DejaVu Sans"], ["serif", "DejaVu Serif"], ["monospace", "DejaVu Sans Mono"], ["Arial", "DejaVu Sans"]]) {
    await page.locator("h1").first().evaluate(async (heading, kind) => {
      heading.style.setProperty("font-family", kind, "important");
      // The reported fonts are those of the last frame.
      await new Promise((painted) => requestAnimationFrame(() => requestAnimationFrame(painted)));
    }, kind);
    const { fonts } = await session.send("CSS.getPlatformFontsForNode", { nodeId });
    assert.deepEqual(fonts.map(({ familyName }) => familyName), [font], kind);
  }
  await page.close();
});
