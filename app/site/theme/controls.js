// Controls that every page has and that are not needed before the page is painted.

// The buttons for the reader's settings: light or dark, and the colours of diffs. The first of each is the CSS default;
// a stored choice was already applied by the script in the page's head.
{
  const root = document.documentElement;
  const show = () => {
    for (const { key, values, said } of [
      { key: "theme", values: ["auto", "light", "dark"], said: (value) => `Theme: ${value}` },
      { key: "palette", values: ["green", "blue"], said: (value) => `Differences: ${value === "blue" ? "blue and yellow" : "green and orange"}` },
    ]) {
      const button = document.getElementById(key);
      if (!button) continue;
      const name = () => (button.textContent = said(root.dataset[key] ?? values[0]));
      button.addEventListener("click", () => {
        const chosen = values[(values.indexOf(root.dataset[key] ?? values[0]) + 1) % values.length];
        if (chosen === values[0]) delete root.dataset[key];
        else root.dataset[key] = chosen;
        try {
          localStorage.setItem(key, chosen);
        } catch {
          // Storage may be forbidden; then the choice is only valid on this page.
        }
        name();
      });
      name();
      button.hidden = false;
    }
  };
  if (document.readyState === "loading") addEventListener("DOMContentLoaded", show);
  else show();
}

// A heading's own link can be copied with one click, in addition to being followed.
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

// The contents of a guide show which section is being read. On a narrow page, where they are folded above the text,
// following a link to a section folds them again.
const followContents = () => {
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
    // The last heading in the upper third or above it. They are in order.
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
};
if (document.readyState === "loading") addEventListener("DOMContentLoaded", followContents);
else followContents();
