// Filters a long list while typing. The filter is in the address, so that a filtered list can be shared.

const parts = (text) => text.split(/[^a-z0-9]+/).filter(Boolean);

/** Whether parts of a text begin with those of a word, allowing for typos: one from four letters on, two from eight on. */
function holdsNearly(text, word) {
  const slips = ({ length }) => (length < 4 ? 0 : length < 8 ? 1 : 2);
  const all = parts(word);
  return all.length > 0 && all.every((wanted) => parts(text).some((part) => slipsToBegin(part, wanted) <= slips(wanted)));
}

/** How many letters of `word` have to be changed, removed or inserted until `part` begins with it. */
function slipsToBegin(part, word) {
  let row = Array.from({ length: part.length + 1 }, (_, at) => at);
  for (let i = 1; i <= word.length; i++) {
    const above = row;
    row = [i];
    for (let j = 1; j <= part.length; j++) {
      const same = word[i - 1] === part[j - 1] ? 0 : 1;
      row[j] = Math.min(above[j - 1] + same, above[j] + 1, row[j - 1] + 1);
    }
  }
  return Math.min(...row);
}

addEventListener("DOMContentLoaded", () => {
  for (const form of document.querySelectorAll("form[data-filters]")) {
    const items = [...document.querySelectorAll(form.dataset.filters)];
    const groups = [...document.querySelectorAll("[data-group]")];
    const status = form.querySelector("[role=status]");
    const controls = [...form.elements].filter((control) => control.name);
    const [one, many] = form.dataset.noun.split("|");

    const fits = (item, { name, value }, holds) => {
      const wanted = value.trim().toLowerCase();
      if (!wanted) return true;
      const text = (item.dataset[name] ?? "").toLowerCase();
      return name === "words" ? wanted.split(/\s+/).every((word) => holds(text, word)) : text.split(" ").includes(wanted);
    };
    const show = (holds) => {
      for (const item of items) item.hidden = !controls.every((control) => fits(item, control, holds));
      return items.filter((item) => !item.hidden).length;
    };
    const narrow = () => {
      const exact = show((text, word) => text.includes(word));
      const shown = exact || show(holdsNearly);
      for (const group of groups) group.hidden = !group.querySelector("[data-words]:not([hidden])");
      const count = `${shown} of ${items.length} ${many}`;
      status.textContent = exact ? count : shown ? `No exact match; ${count} spelled similarly` : `No ${one} matches. Clear a field to see more.`;
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
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", () => {
      narrow();
      keep();
    });
    form.addEventListener("reset", () => setTimeout(() => {
      narrow();
      keep();
    }));
    // The list begins complete; an address or a browser that restores a page may have filled in the form.
    if (controls.some(({ value }) => value.trim())) narrow();
  }
});
