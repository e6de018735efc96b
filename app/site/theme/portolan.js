// The only script that every page loads. Without it a page is whole: the system's choice of light or dark holds.

// The one way from a string to markup or to a script's address, where the browser asks for one. Whoever writes markup
// escapes what is not theirs; this is the second lock: nothing that runs, loads or leads away is let through.
if (window.trustedTypes) {
  const active = /<(?:script|iframe|frame|object|embed|link|meta|base|form)\b|<[^<>]*\son[a-z]+\s*=/i;
  trustedTypes.createPolicy("default", {
    createHTML(html) {
      if (active.test(html)) throw new TypeError("This markup is not the site's own.");
      return html;
    },
    createScriptURL(address) {
      const url = new URL(address, location.href);
      // The site as one file has no server; its policy takes workers out of the page and nothing else.
      const carried = window.portolanOneFile && url.protocol === "blob:";
      if (!carried && url.origin !== location.origin) throw new TypeError("Scripts come from the site alone.");
      return address;
    },
  });
}

{
  // What needs a script shows itself only where scripts run; said before anything is painted.
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

  // Programs, and keeping the site for later, must not slow down its being read now: they wait until the page as it came
  // is painted. One in the background is not painted, and goes on all the same.
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

// The reader's choices, before anything is painted: light or dark, and the colours of differences (`controls.js`).
for (const [key, values] of [["theme", ["light", "dark"]], ["palette", ["blue"]]]) {
  try {
    const chosen = localStorage.getItem(key);
    if (values.includes(chosen)) document.documentElement.dataset[key] = chosen;
  } catch {
    // Storage may be forbidden; then the choice lasts as long as the page.
  }
}
