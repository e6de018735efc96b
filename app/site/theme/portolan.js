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
  const atRest = window.requestIdleCallback ?? ((then) => setTimeout(then, 200));
  if (navigator.serviceWorker && location.protocol.startsWith("http") && here.dataset.offline) {
    const keep = () => atRest(() => import(new URL(here.dataset.offline, document.baseURI)));
    addEventListener("load", () => window.portolanPainted.then(keep));
  }
}

// Keeps the reader's choices: light or dark, and the colours of differences. The first of each is what CSS does by itself.
for (const { key, values, said } of [
  { key: "theme", values: ["auto", "light", "dark"], said: (value) => `Theme: ${value}` },
  { key: "palette", values: ["green", "blue"], said: (value) => `Differences: ${value === "blue" ? "blue and yellow" : "green and orange"}` },
]) {
  const root = document.documentElement;
  let chosen = values[0];
  try {
    chosen = localStorage.getItem(key) ?? chosen;
  } catch {
    // Storage may be forbidden; then the choice lasts as long as the page.
  }
  const show = () => {
    if (values.indexOf(chosen) > 0) root.dataset[key] = chosen;
    else delete root.dataset[key];
    const button = document.getElementById(key);
    if (!button) return;
    button.hidden = false;
    button.textContent = said(root.dataset[key] ?? values[0]);
  };
  show();
  addEventListener("DOMContentLoaded", () => {
    show();
    document.getElementById(key)?.addEventListener("click", () => {
      chosen = values[(values.indexOf(root.dataset[key] ?? values[0]) + 1) % values.length];
      try {
        localStorage.setItem(key, chosen);
      } catch {
        // As above.
      }
      show();
    });
  });
}

// The contents of a guide say which section is read. On a narrow page, where they are folded above the text, going to a
// section folds them again.
addEventListener("DOMContentLoaded", () => {
  const wide = matchMedia("(min-width: 66rem)");
  const guides = [...document.querySelectorAll(".guide:has(.contents)")].map((guide) => ({
    guide,
    nav: guide.querySelector(".contents"),
    links: new Map([...guide.querySelectorAll(".contents a")].map((link) => [decodeURIComponent(link.hash.slice(1)), link])),
    headings: [...guide.querySelectorAll(".heading :is(h2, h3)")],
  }));
  if (!guides.length) return;
  const look = () => {
    // A page of many guides shows one of them.
    const seen = guides.find(({ guide }) => guide.offsetParent);
    if (!seen) return;
    const { nav, links, headings } = seen;
    // The last heading that is in the upper third or above it. They stand in order.
    let [from, to] = [0, headings.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (headings[middle].getBoundingClientRect().top < innerHeight / 3) from = middle + 1;
      else to = middle;
    }
    const link = from > 0 ? links.get(headings[from - 1].id) : undefined;
    if (link === seen.current) return;
    seen.current?.removeAttribute("aria-current");
    seen.current = link;
    link?.setAttribute("aria-current", "true");
    nav.querySelector("summary span").textContent = link?.textContent ?? "";
    const list = wide.matches ? nav : nav.querySelector("ol");
    const place = link && link.getBoundingClientRect().top - list.getBoundingClientRect().top;
    if (link && (place < 0 || place > list.clientHeight - 40)) list.scrollTop += place - list.clientHeight / 2;
  };
  let due = false;
  const soon = () => {
    if (due) return;
    due = true;
    requestAnimationFrame(() => {
      due = false;
      look();
    });
  };
  for (const name of ["scroll", "resize", "hashchange"]) addEventListener(name, soon, { passive: true });
  for (const { nav } of guides) {
    nav.addEventListener("click", (event) => {
      if (event.target.closest("a") && !wide.matches) nav.querySelector("details").open = false;
    });
  }
  soon();
});

// A heading's own link can be copied with one click, besides being followed.
addEventListener("click", (event) => {
  const anchor = event.target.closest?.("a.anchor");
  if (!anchor || !navigator.clipboard || event.ctrlKey || event.metaKey || event.shiftKey) return;
  navigator.clipboard.writeText(anchor.href).then(
    () => {
      anchor.textContent = "✓";
      setTimeout(() => (anchor.textContent = "#"), 1200);
    },
    () => {}, // The link is in the address all the same.
  );
});
