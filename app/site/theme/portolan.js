// The only script that every page loads. Without it a page is complete: the system's choice of light or dark applies.

// The only policy by which a string becomes markup or a script's address, in browsers that require one. Markup is
// already escaped where it is written; this is the second safeguard: nothing that runs, loads or links elsewhere
// passes.
if (window.trustedTypes) {
  // A handler follows a space, a slash or the end of a value; a `>` inside a value does not end the tag.
  const active = /<(?:script|iframe|frame|object|embed|link|meta|base|form)\b|<[^<>]*[\s/"']on[a-z]+\s*=|<[a-z](?:"[^"]*"|'[^']*'|[^"'>])*(?:[\s/]|"[^"]*"|'[^']*')on[a-z]+\s*=/i;
  trustedTypes.createPolicy("default", {
    createHTML(html) {
      if (active.test(html)) throw new TypeError("This markup is not the site's own.");
      return html;
    },
    createScriptURL(address) {
      const url = new URL(address, location.href);
      // The single-file site has no server; its policy allows workers from the page and nothing else.
      const carried = window.portolanOneFile && url.protocol === "blob:";
      if (!carried && url.origin !== location.origin) throw new TypeError("Scripts come from the site alone.");
      return address;
    },
  });
}

{
  // Elements that need a script are only visible if scripts run; set before anything is painted.
  document.documentElement.dataset.scripts = "";
  const here = document.currentScript;
  const search = async () => {
    const open = window.portolanOneFile?.search ?? (await import(new URL(here.dataset.search, document.baseURI))).open;
    return open();
  };
  const slashWanted = () => {
    try {
      return localStorage.getItem("search-slash") !== "off";
    } catch {
      return true;
    }
  };
  const typing = (target) => target.closest?.("input, textarea, select, [contenteditable]");
  addEventListener("keydown", (event) => {
    const control = (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
    const slash = event.key === "/" && !event.ctrlKey && !event.metaKey && !event.altKey && !typing(event.target);
    if ((control && event.key.toLowerCase() === "k") || (slash && slashWanted())) {
      event.preventDefault();
      search();
    }
  });
  addEventListener("DOMContentLoaded", () => document.getElementById("search-open")?.addEventListener("click", search));

  // Programs and the offline cache must not slow down reading the page: they wait until the page is painted. A page in
  // the background is not painted, and continues anyway.
  window.portolanPainted = new Promise((go) => {
    const look = (list) => list.getEntriesByName("first-contentful-paint").length && go();
    new PerformanceObserver(look).observe({ type: "paint", buffered: true });
    addEventListener("load", () => setTimeout(go, 1000));
  });
  if (here.dataset.painted) {
    const load = () => import(new URL(here.dataset.painted, document.baseURI));
    addEventListener("load", () => window.portolanPainted.then(load));
  }
}

// The reader's settings, before anything is painted: light or dark, and the colours of diffs (`controls.js`).
for (const [key, values] of [["theme", ["light", "dark"]], ["palette", ["blue"]]]) {
  try {
    const chosen = localStorage.getItem(key);
    if (values.includes(chosen)) document.documentElement.dataset[key] = chosen;
  } catch {
    // Storage may be forbidden; then the choice is only valid on this page.
  }
}
