// Makes tabs of sections that belong to targets. The choice stands in the address and holds for every such group of the
// site. Without this script all sections are there, one below the other.
(() => {
  const key = "target";
  const asked = new URL(location.href).searchParams.get(key);
  let chosen = asked;
  try {
    chosen ??= localStorage.getItem(key);
  } catch {
    // Storage may be forbidden; then the address alone says it.
  }
  const groups = [...document.querySelectorAll("[data-tabs]")].map((group) => {
    const panels = [...group.querySelectorAll(":scope > [data-target]")];
    const list = document.createElement("div");
    list.setAttribute("role", "tablist");
    list.setAttribute("aria-label", group.dataset.tabs);
    list.className = "tablist";
    const tabs = panels.map((panel) => {
      const tab = document.createElement("button");
      tab.type = "button";
      tab.id = `tab-${panel.id}`;
      tab.textContent = panel.dataset.name;
      tab.setAttribute("role", "tab");
      tab.setAttribute("aria-controls", panel.id);
      panel.setAttribute("role", "tabpanel");
      panel.setAttribute("aria-labelledby", tab.id);
      tab.addEventListener("click", () => choose(panel.dataset.target, true));
      return tab;
    });
    list.append(...tabs);
    list.addEventListener("keydown", (event) => {
      const at = tabs.indexOf(document.activeElement);
      const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
      if (at < 0 || to === undefined) return;
      event.preventDefault();
      const next = (to + tabs.length) % tabs.length;
      choose(panels[next].dataset.target, true);
      tabs[next].focus();
    });
    group.prepend(list);
    group.dataset.ready = "";
    return { panels, tabs };
  });
  function choose(target, remember) {
    for (const { panels, tabs } of groups) {
      const index = Math.max(0, panels.findIndex((panel) => panel.dataset.target === target));
      panels.forEach((panel, at) => (panel.hidden = at !== index));
      tabs.forEach((tab, at) => {
        tab.setAttribute("aria-selected", String(at === index));
        tab.tabIndex = at === index ? 0 : -1;
      });
    }
    if (!remember) return;
    const address = new URL(location.href);
    address.searchParams.set(key, target);
    history.replaceState(null, "", address);
    try {
      localStorage.setItem(key, target);
    } catch {
      // As above.
    }
  }
  choose(chosen, false);
})();
