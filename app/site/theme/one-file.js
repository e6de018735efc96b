// The site as one file, opened from disk: without a server, nothing can be fetched. The files that the site fetches are
// packed in this page; here they are unpacked, and the programs are started when they are needed.
window.portolanOneFile = (() => {
  const unpacked = async (name) => {
    const block = document.querySelector(`[data-carried="${name}"]`);
    const packed = Uint8Array.from(atob(block.textContent), (letter) => letter.charCodeAt(0));
    return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip")));
  };

  /** The place in this file that stands for an address of the site. */
  function place(address) {
    const [path, anchor = ""] = address.replace(/^(\.{1,2}\/)+/, "").split("#");
    const page = path.split("?")[0] || "home/";
    if (page === "port/") return anchor ? `#${anchor}` : "#port";
    if (page === "launch/") return `#launch?${anchor}`;
    if (!document.getElementById(page)) return "#elsewhere/";
    return anchor ? `#${page === "home/" ? "" : page}${anchor}` : `#${page}`;
  }

  /** An anchor without its escapes; what is none of the file's own may hold anything. */
  function decoded(anchor) {
    try {
      return decodeURIComponent(anchor);
    } catch {
      return "";
    }
  }

  /** The view whose program opens what the address holds, if it is one. */
  const opens = () => (/^#(?:\w+=|matrix$)/.test(location.hash) ? "port/" : location.hash.startsWith("#launch?") ? "launch/" : "");
  // Not by :target, which is not set yet on a page that has just been opened.
  const named = () => document.getElementById(opens() || location.hash.slice(1)) ?? document.getElementById(decoded(location.hash.slice(1)));
  const leaf = () => named()?.closest(".leaf") ?? document.getElementById("home/");

  // From a file, browsers only start classic workers, and the engine's text works as both kinds.
  const OldWorker = window.Worker;
  window.Worker = class extends OldWorker {
    constructor(address) {
      super(address);
    }
  };

  const module = async (name) => ({ module_or_path: await (await unpacked(name)).arrayBuffer() });

  // A program and its module, with a function that starts it, as text for a worker: a worker from a file can't fetch one.
  async function carriedProgram(program, start) {
    const text = await (await unpacked(`${program}.js`)).text();
    const packed = document.querySelector(`[data-carried="${program}_bg.wasm"]`).textContent;
    // In a function, since two programs have names in common.
    return `
      const ${start} = () => {
        ${text}
        const bytes = Uint8Array.from(atob("${packed}"), (letter) => letter.charCodeAt(0));
        const module = new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
        return globalThis.${start}({ module_or_path: module });
      };`;
  }

  /** A worker's text: its program, and others that it starts itself. */
  async function worker(program, start, ...others) {
    const begin = `${start}().catch((error) => setTimeout(() => { throw error; }));`;
    return new Blob([await carriedProgram(program, start), ...others, begin], { type: "text/javascript" });
  }

  // The files that programs expect next to them.
  const carry = (files) => (window.portolanCarried = { ...window.portolanCarried, ...files });

  async function startPort() {
    const sample = "samples/spectra_trainer.py";
    // The kit is in its link.
    const kit = "portolan-rehearsal.zip";
    const data = atob(document.querySelector(`a[download="${kit}"]`)?.href.split(",")[1] ?? "");
    const examples = [...document.querySelectorAll('[data-carried^="examples/"]')].map(({ dataset }) => dataset.carried);
    carry({
      "start_engine.js": await worker(
        "engine",
        "portolanEngine",
        await carriedProgram("guide_file", "portolanGuideFile"),
        "globalThis.portolanLoadGuideReader = portolanGuideFile;",
      ),
      ...Object.fromEntries(await Promise.all(examples.map(async (name) => [name, await (await unpacked(name)).blob()]))),
      [sample]: await (await unpacked(sample)).blob(),
      [kit]: new Blob([Uint8Array.from(data, (letter) => letter.charCodeAt(0))]),
    });
    return window.portolanPage(await module("page_bg.wasm"));
  }

  async function startLaunch() {
    carry({
      "start_site_file.js": await worker("site_file", "portolanSiteFile"),
      "start_own_script.js": await worker("own_script", "portolanOwnScript"),
    });
    return window.portolanLaunch(await module("launch_bg.wasm"));
  }

  // The programs of the views, and their locations.
  const programs = {
    "port/": { start: startPort, into: "port" },
    "launch/": { start: startLaunch, into: "launch-page" },
  };
  function start(view) {
    const { start, into } = programs[view];
    programs[view].started ??= start().catch((error) => {
      document.getElementById(into).textContent = `The program can't be started: ${error.message}`;
    });
  }

  function show() {
    // The launch page is linked like any other; its program needs the form of the address that it writes itself.
    if (location.hash === "#launch/") history.replaceState(null, "", "#launch?");
    const view = opens();
    if (view) document.documentElement.dataset.opens = view;
    else delete document.documentElement.dataset.opens;
    const here = leaf();
    document.title = here.dataset.title;
    document.body.classList.toggle("wide", "wide" in here.dataset);
    for (const link of document.querySelectorAll(".site-nav a")) {
      const to = link.getAttribute("href");
      const current = to === "#port" ? here.id === "port/" : here.id.startsWith(to.slice(1));
      if (current) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    if (here.id in programs) start(here.id);
  }

  // Events elsewhere in the file must not reach the Port page, which listens to the whole window. These listeners come
  // first, because that page is started later.
  for (const name of ["click", "change", "input", "keydown", "paste", "mousedown", "dragover", "dragleave", "drop"]) {
    addEventListener(name, (event) => leaf().id !== "port/" && event.stopImmediatePropagation());
  }
  addEventListener("hashchange", (event) => {
    show();
    if (opens() !== "port/") event.stopImmediatePropagation();
  });
  // Links written by a program are the site's.
  for (const name of ["click", "auxclick"]) {
    addEventListener(name, (event) => {
      const link = event.target.closest?.("a[href]");
      const to = link?.getAttribute("href") ?? "";
      if (/^\.{1,2}\//.test(to)) link.setAttribute("href", place(to));
      if (to !== "#main") return;
      // The skip link must not leave the leaf.
      event.preventDefault();
      document.getElementById("main").focus();
    }, true);
  }
  addEventListener("DOMContentLoaded", show);
  return { place, text: async (name) => (await unpacked(name)).text() };
})();
