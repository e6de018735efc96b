// Makes tabs of alternative sections: the targets of a port, the versions of an SDK. The selection is in the address,
// is stored, and applies to every group of the site with the same choice, in other windows too. Without this script all
// sections are visible, one below the other.
(() => {
  const stored = (key) => {
    try {
      return localStorage.getItem(key);
    } catch {
      return null; // Storage may be forbidden; then only the address has it.
    }
  };
  const groups = [...document.querySelectorAll("[data-tabs]:not([data-ready])")].map((group, number) => {
    const { tabs: key, label } = group.dataset;
    const panels = [...group.querySelectorAll(":scope > [data-for]")];
    // A section may apply to several versions, each of which has a tab.
    const values = panels.flatMap((panel) => panel.dataset.for.split(" "));
    if (!label) values.sort(new Intl.Collator("en", { numeric: true }).compare);
    const of = (value) => panels.find((panel) => panel.dataset.for.split(" ").includes(value));
    const list = document.createElement("div");
    list.setAttribute("role", "tablist");
    list.setAttribute("aria-label", label ?? "SDK version");
    list.className = "tablist";
    const tabs = values.map((value) => {
      const panel = of(value);
      panel.id ||= `panel-${key}-${number}-${panels.indexOf(panel)}`;
      const tab = document.createElement("button");
      tab.type = "button";
      tab.value = value;
      tab.id = `${panel.id}-${value}`;
      tab.textContent = panel.dataset.name ?? value;
      tab.setAttribute("role", "tab");
      tab.setAttribute("aria-controls", panel.id);
      panel.setAttribute("role", "tabpanel");
      panel.removeAttribute("aria-label");
      tab.addEventListener("click", () => keep(key, value, tab));
      return tab;
    });
    list.append(...tabs);
    list.addEventListener("keydown", (event) => {
      const at = tabs.indexOf(document.activeElement);
      const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
      if (at < 0 || to === undefined) return;
      event.preventDefault();
      const next = tabs[(to + tabs.length) % tabs.length];
      keep(key, next.value, next);
      next.focus();
    });
    const first = (panels.find((panel) => "first" in panel.dataset) ?? panels[0]).dataset.for.split(" ").at(-1);
    const show = (wanted) => {
      const value = of(wanted) ? wanted : first;
      for (const panel of panels) panel.hidden = panel !== of(value);
      for (const tab of tabs) {
        const on = tab.value === value;
        tab.setAttribute("aria-selected", String(on));
        tab.tabIndex = on ? 0 : -1;
        if (on) of(value).setAttribute("aria-labelledby", tab.id);
      }
    };
    show(new URL(location.href).searchParams.get(key) ?? stored(key));
    group.prepend(list);
    group.dataset.ready = "";
    return { key, show };
  });
  const show = (key, value) => groups.filter((group) => group.key === key).forEach((group) => group.show(value));
  function keep(key, value, tab) {
    // Groups above change their height; the visible one keeps its position.
    const before = tab.getBoundingClientRect().top;
    show(key, value);
    scrollBy({ top: tab.getBoundingClientRect().top - before, behavior: "instant" });
    const address = new URL(location.href);
    address.searchParams.set(key, value);
    try {
      // A file on disk can't change its own address.
      history.replaceState(history.state, "", address);
    } catch {}
    try {
      localStorage.setItem(key, value);
    } catch {
      // As above.
    }
  }
  addEventListener("storage", ({ key, newValue }) => newValue && show(key, newValue));
})();
