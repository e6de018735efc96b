// Links and saved work of older versions, opened in a browser: `tests/frozen/README.md` describes their origin.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { PortPage, launch, untilSource } from "./port_page.mjs";
import { root, serve } from "./site.mjs";

const folder = join(root, "tests/frozen/work");
const frozen = readdirSync(folder).map((name) => [name, JSON.parse(readFileSync(join(folder, name), "utf8"))]);
let browser, site;

before(async () => {
  [browser, site] = await Promise.all([launch(), serve()]);
});

after(async () => {
  await browser?.close();
  site?.end();
});

/** The project of every file, with its selections and disabled changes. */
async function isAsShared(port, { files, selected, choice, recipes }) {
  await port.ported();
  assert.equal(await port.source(), files[selected].text);
  const value = (id) => port.page.locator(`#${id}`).inputValue();
  assert.deepEqual([await value("target"), await value("style"), await value("sdk")], [choice.target, choice.style, choice.sdk]);
  await port.tab("recipes");
  const off = port.page.locator(".recipes input:not(:checked)");
  assert.equal(await off.count(), recipes.length);
}

/** The links of a page, with their contents. */
const linksOf = (page) => {
  const folder = join(root, "tests/frozen", page);
  return readdirSync(folder).flatMap((name) => JSON.parse(readFileSync(join(folder, name), "utf8")));
};

test("links of the page for launch scripts open", { timeout: 90_000 }, async () => {
  const page = await browser.newPage({ serviceWorkers: "block" });
  for (const { link, fields } of linksOf("launch")) {
    // A different fragment of the same page would not reload it.
    await page.goto("about:blank");
    await page.goto(`${site.address}launch/${link}`);
    await page.locator("#field-target").waitFor();
    for (const [name, value] of Object.entries(fields)) {
      const field = page.locator(`#field-${name.replace(/^ipus-per/, "devices-per")}`);
      const found = await field.evaluate((field) => (field.type === "checkbox" ? (field.checked ? "on" : "") : field.value));
      assert.equal(found, value, `${link}: ${name}`);
    }
    if (!("site-file" in fields)) await page.waitForFunction(() => document.querySelector("#script").textContent.startsWith("#!"));
  }
  await page.close();
});

test("links of the page that checks a port open", { timeout: 90_000 }, async () => {
  const page = await browser.newPage({ serviceWorkers: "block" });
  for (const { link, choice } of linksOf("check")) {
    await page.goto("about:blank");
    await page.goto(`${site.address}check/${link}`);
    await page.locator("#run").waitFor();
    for (const name of ["depth", "n_initial_filters", "connections", "height", "event"]) {
      const found = await page.locator(`#f-${name}`).evaluate((field) => field.value);
      assert.equal(found, choice[name], `${link}: ${name}`);
    }
  }
  await page.close();
});

for (const [name, { link, share, open, beside }] of frozen) {
  test(`the link of ${name} opens`, { timeout: 90_000 }, async () => {
    const port = await PortPage.open(browser, site.address, { fragment: link });
    try {
      await isAsShared(port, share);
      assert.deepEqual(port.errors, []);
    } finally {
      await port.close();
    }
  });

  if (!open) continue;
  test(`the work that ${name} kept is open, and the project before it comes back`, { timeout: 90_000 }, async () => {
    const context = await browser.newContext({ serviceWorkers: "block" });
    const page = await context.newPage();
    await page.goto(`${site.address}glossary/`);
    await page.evaluate(
      (kept) =>
        new Promise((done, fail) => {
          const request = Object.assign(indexedDB.open("portolan", 1), { onerror: fail });
          request.onupgradeneeded = () => request.result.createObjectStore("work");
          request.onsuccess = () => {
            const transaction = request.result.transaction("work", "readwrite");
            for (const [name, bytes] of kept) transaction.objectStore("work").put(Uint8Array.from(bytes), name);
            transaction.oncomplete = () => done(request.result.close());
          };
        }),
      [["open", [...Buffer.from(open, "hex")]], ["beside", [...Buffer.from(beside, "hex")]]],
    );
    const port = new PortPage(page, context);
    await page.goto(`${site.address}port/`);
    try {
      await isAsShared(port, share);
      await page.getByRole("button", { name: "Previous project" }).click();
      await untilSource(page, (text) => text.startsWith("import torch\nx = "));
      await port.ported();
    } finally {
      await context.close();
    }
  });
}
