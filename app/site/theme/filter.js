// Narrows a long list as one types. What is asked for stands in the address, so that a narrowed list can be shared.
addEventListener("DOMContentLoaded", () => {
  for (const form of document.querySelectorAll("form[data-filters]")) {
    const items = [...document.querySelectorAll(form.dataset.filters)];
    const groups = [...document.querySelectorAll("[data-group]")];
    const status = form.querySelector("[role=status]");
    const controls = [...form.elements].filter((control) => control.name);
    const [one, many] = form.dataset.noun.split("|");

    const fits = (item, { name, value }) => {
      const wanted = value.trim().toLowerCase();
      if (!wanted) return true;
      const text = (item.dataset[name] ?? "").toLowerCase();
      return name === "words" ? wanted.split(/\s+/).every((word) => text.includes(word)) : text.split(" ").includes(wanted);
    };
    const narrow = () => {
      let shown = 0;
      for (const item of items) {
        item.hidden = !controls.every((control) => fits(item, control));
        if (!item.hidden) shown += 1;
      }
      for (const group of groups) group.hidden = !group.querySelector("[data-words]:not([hidden])");
      status.textContent = shown === 0 ? `No ${one} fits. Clear a field to see more.` : `${shown} of ${items.length} ${many}`;
    };
    const keep = () => {
      const url = new URL(location.href);
      for (const { name, value } of controls) {
        if (value.trim()) url.searchParams.set(name, value.trim());
        else url.searchParams.delete(name);
      }
      history.replaceState(history.state, "", url);
    };

    const asked = new URLSearchParams(location.search);
    for (const control of controls) {
      if (asked.has(control.name)) control.value = asked.get(control.name);
    }
    form.hidden = false;
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", () => {
      narrow();
      keep();
    });
    form.addEventListener("reset", () => setTimeout(() => {
      narrow();
      keep();
    }));
    narrow();
  }
});
