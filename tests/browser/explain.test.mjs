// An error message on the Port page: from the log to the section and to the line of the port.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { PortPage, launch } from "./port_page.mjs";
import { serve } from "./site.mjs";

const script = "import torch\n\nnet = torch.nn.Linear(4, 2)\nnet = net.cuda()\n";
const log = `Traceback (most recent call last):
  File "/home/me/train.py", line 4, in <module>
    net = net.cuda()
AssertionError: Torch not compiled with CUDA enabled
`;

let browser, site;

before(async () => {
  [browser, site] = await Promise.all([launch(), serve()]);
});

after(async () => {
  await browser?.close();
  site?.end();
});

test("a traceback leads to the guide's section and to the line of the port", { timeout: 120_000 }, async () => {
  const page = await PortPage.open(browser, site.address);
  try {
    await page.chooseFiles([{ name: "train.py", text: script }]);
    await page.ported();
    await page.tab("error");
    const answers = page.page.locator("#error-found");
    const field = page.page.getByLabel("Paste a traceback");
    assert.match(await answers.textContent(), /^The answer names the cause/);
    assert.equal(await page.page.locator("#clear-log").isDisabled(), true);

    await page.page.evaluate((log) => navigator.clipboard.writeText(log), log);
    await field.focus();
    await page.page.keyboard.press("Control+V");
    await answers.getByRole("heading", { name: "PyTorch finds no CUDA" }).waitFor();
    assert.match(await answers.textContent(), /Line 4 AssertionError: Torch not compiled with CUDA enabled/);
    assert.equal(await answers.getByRole("link", { name: "In the guide" }).first().getAttribute("href"), "../guides/errors/#no-cuda");
    assert.match(await answers.textContent(), /the original’s line/);
    assert.match(await answers.textContent(), /Ported: Move models and tensors with to/);

    // The log stays while other tabs are shown, and the line is those of the port.
    await answers.getByRole("button", { name: "train.py:4" }).click();
    await page.page.locator("#tab-changes[aria-selected=true]").waitFor();
    await page.tab("error");
    assert.equal(await field.inputValue(), log);
    await answers.getByRole("heading", { name: "Your lines in the traceback" }).waitFor();

    await field.fill("KeyError: 'lr'");
    await answers.getByRole("heading", { name: "Not known here" }).waitFor();
    // Another target's message is answered, too, with its name.
    await field.fill("poptorch_cpp_error: Failed to acquire 4 IPU(s)");
    await answers.getByRole("heading", { name: "Get enough IPUs" }).waitFor();

    await page.page.locator("#clear-log").focus();
    await page.page.keyboard.press("Enter");
    await answers.getByText("The answer names the cause").waitFor();
    assert.equal(await field.inputValue(), "");
    assert.equal(await field.evaluate((field) => field === document.activeElement), true);
    assert.deepEqual(page.errors, []);
    assert.deepEqual(page.requests.filter((url) => !url.startsWith(site.address) && !url.startsWith("blob:")), []);
  } finally {
    await page.close();
  }
});

test("the search finds a section by a message that it answers", { timeout: 60_000 }, async () => {
  const page = await (await browser.newContext({ serviceWorkers: "block" })).newPage();
  await page.goto(`${site.address}glossary/`);
  await page.keyboard.press("Control+K");
  await page.getByRole("combobox").fill("[rank0]: RuntimeError: synStatus=26 [Generic failure] Device acquire failed.");
  const first = page.locator(".search [role=option]").first();
  await first.waitFor();
  assert.match(await first.textContent(), /Free the card or ask for one/);
  assert.equal(await page.locator(".search h2").first().textContent(), "Error messages");
  await page.context().close();
});
