// The search, loaded when it is first used. It searches search.json with MiniSearch in the page; queries are not sent
// anywhere.
import MiniSearch from "./minisearch-7.2.0.js";

const root = new URL(".", import.meta.url);
const groups = ["Error messages", "API names", "Recipes", "Guides", "Pages"];
const most = { "Error messages": 3, "API names": 6, Recipes: 8, Guides: 6, Pages: 4 };
const slashKey = "search-slash";

/** `torch.cuda.amp` is found by any part and by any end of it: torch, cuda, amp, cuda.amp, torch.cuda.amp. */
function indexed(text) {
  const terms = [];
  for (const [name] of text.matchAll(/[\p{L}\p{N}_]+(?:\.[\p{L}\p{N}_]+)*/gu)) {
    terms.push(name);
    const parts = name.split(".");
    for (let from = 1; from < parts.length; from++) terms.push(parts.slice(from).join("."));
    for (const part of parts) {
      if (parts.length > 1) terms.push(part);
      if (part.includes("_")) terms.push(...part.split("_").filter(Boolean));
      const words = part.match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+/g) ?? [];
      if (words.length > 1) terms.push(...words);
    }
  }
  return terms;
}

/** Words that are in every text and say nothing about its subject. */
const common = new Set(
  "a all an and any are as at be been but by can could did do does for from had has have if in into is it its may no not of on or so than that the their them then there these they this to was were what when which while will with would you your".split(" "),
);

/** Words with dots are not split. Common words only count if there are no others. */
function asked(text) {
  const words = text.match(/[\p{L}\p{N}_]+(?:\.[\p{L}\p{N}_]+)*/gu) ?? [];
  const others = words.filter((word) => !common.has(word.toLowerCase()));
  return others.length ? others : words;
}

/** If the whole site is one file, the list is in it, and its addresses are its own. */
const one = window.portolanOneFile;
const addressOf = (to) => one?.place(to) ?? new URL(to, root);

async function listed() {
  if (one) return JSON.parse(await one.text("search.json"));
  const response = await fetch(new URL("search.json", root));
  if (!response.ok) throw new Error(`search.json: ${response.status}`);
  return response.json();
}

async function load() {
  const entries = await listed();
  const index = new MiniSearch({
    fields: ["title", "text"],
    tokenize: indexed,
    searchOptions: {
      tokenize: asked,
      boost: { title: 3 },
      prefix: (term) => term.length > 1,
      fuzzy: (term) => (term.length > 3 ? 0.2 : false),
      maxFuzzy: 2,
      combineWith: "AND",
    },
  });
  index.addAll(entries.map((entry, id) => ({ id, title: entry.title, text: entry.text })));
  return { index, entries };
}

/** More words than this are not a query but a pasted message. */
const manyWords = 4;
/** The most results for a pasted message. */
const pastedMost = 6;

/** The distinctive words of a pasted message: no numbers, single letters or file names. */
const telling = (query) => new Set(asked(query).map((word) => word.toLowerCase()).filter((word) => !/^(?:\d+|.|.*\.py)$/.test(word)));

/** Whether an entry is about a message: it has most of its words, or a name in it. */
function isAbout({ queryTerms }, words) {
  const met = [...new Set(queryTerms)].filter((term) => words.has(term));
  return 2 * met.length > words.size || met.some((term) => term.includes("."));
}

/** A message as it is compared with a sample: quotes, capitals and the width of gaps differ. */
const plain = (text) => text.toLowerCase().replace(/["`‘’“”]/g, "'").replace(/\s+/g, " ");

/** Whether a sample of a message is in a text; `…` in it stands for anything. */
function isSaid(sample, text) {
  let at = 0;
  for (const part of plain(sample).split(/ ?… ?/)) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return true;
}

/** Entries that answer an error message, those with the longest sample in it first. */
function answers(entries, query) {
  const text = plain(query);
  const hits = [];
  for (const [id, { says = [] }] of entries.entries()) {
    const found = says.filter((sample) => isSaid(sample, text));
    if (found.length) hits.push({ id, length: Math.max(...found.map((sample) => sample.length)), terms: telling(query) });
  }
  return hits.sort((a, b) => b.length - a.length).slice(0, 3);
}

/** Python's message about a module that is not installed: these messages differ only in the name. */
const missing = /No module named ['"‘“]?([\p{L}\p{N}_]+)/u;

/** Entries about a module. */
function importers({ index, entries }, module) {
  const line = new RegExp(`^\\s*(?:import|from) ${module}\\b`, "mu");
  const hits = index.search(module, { prefix: false, fuzzy: false }).filter((hit) => entries[hit.id].group !== "API names");
  // First the entries that explain the message, then those whose code imports the module, then the others.
  const rank = ({ id }) => (missing.exec(entries[id].text)?.[1] === module ? 0 : line.test(entries[id].text) ? 1 : 2);
  return [0, 1, 2].flatMap((of) => hits.filter((hit) => rank(hit) === of)).slice(0, pastedMost);
}

/**
 * Results by group, each group's best first; those that answer a pasted error message are a group of their own.
 */
function find(all, query) {
  const answering = answers(all.entries, query);
  const known = new Set(answering.map((hit) => hit.id));
  const others = matching(all, query).filter((hit) => !known.has(hit.id));
  return grouped(all.entries, answering, answering.length ? others.slice(0, pastedMost - answering.length) : others);
}

/**
 * Entries that match a query, the best first. If no entry has all words, those with most of them, where rare words have more
 * weight. In a pasted message, words must match exactly, and only the closest entries are shown.
 */
function matching({ index, entries }, query) {
  const module = missing.exec(query)?.[1];
  if (module) return importers({ index, entries }, module);
  let found = index.search(query);
  // A query for a full name also finds entries about its last part.
  const last = /^\s*[\p{L}\p{N}_]+(?:\.[\p{L}\p{N}_]+)*\.([\p{L}\p{N}_]+)(?:\(\))?\s*$/u.exec(query)?.[1];
  if (last) {
    const known = new Set(found.map((hit) => hit.id));
    found.push(...index.search(last).filter((hit) => !known.has(hit.id)));
  }
  if (found.length === 0) {
    const words = telling(query);
    const pasted = words.size > manyWords;
    found = index.search(query, { combineWith: "OR", ...(pasted && { prefix: false, fuzzy: false }) });
    if (pasted) {
      found = found.filter((hit) => isAbout(hit, words));
      found = found.filter((hit) => hit.score > 0.6 * found[0].score).slice(0, pastedMost);
    }
  }
  return found;
}

function grouped(entries, answering, others) {
  return groups
    .map((name, place) => {
      const hits = place === 0 ? answering : others.filter((hit) => entries[hit.id].group === name);
      return { name, count: hits.length, hits: hits.slice(0, most[name]).map((hit) => ({ ...entries[hit.id], terms: hit.terms })) };
    })
    .filter((group) => group.count > 0);
}

/** Matches any of the terms in a text; longer terms first, so that `amp.autocast` is marked as a whole. */
function pattern(terms) {
  const escaped = [...terms].sort((a, b) => b.length - a.length).map((term) => term.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(escaped.join("|"), "giu");
}

/** Whether a position between two letters is inside a word; `GradScaler` is two words. */
const joins = (before, after, next) =>
  /\p{L}/u.test(before) && /\p{L}/u.test(after) && !(/\p{Lu}/u.test(after) && (/\p{Ll}/u.test(before) || /\p{Ll}/u.test(next)));

/** The terms in a text, as whole words. */
function hitsIn(text, terms) {
  const at = (place) => text.charAt(place);
  return [...text.matchAll(pattern(terms))].filter(({ 0: hit, index }) => {
    const end = index + hit.length;
    return !joins(at(index - 1), at(index), at(index + 1)) && !joins(at(end - 1), at(end), at(end + 1));
  });
}

/** The line of the text with most of the terms, shortened so that it can be read at a glance. */
function passage(text, terms) {
  const lines = text.split("\n");
  const hits = (line) => new Set(hitsIn(line, terms).map(([hit]) => hit.toLowerCase())).size;
  const best = lines.reduce((best, line) => (hits(line) > hits(best) ? line : best), lines[0] ?? "");
  const first = hitsIn(best, terms)[0]?.index ?? 0;
  if (best.length <= 150) return best;
  const from = first > 60 ? best.indexOf(" ", first - 50) + 1 : 0;
  const cut = best.slice(from, from + 150);
  const isEnd = from + 150 >= best.length;
  return `${from > 0 ? "… " : ""}${isEnd ? cut : `${cut.replace(/\s\S*$/, "")} …`}`;
}

function marked(text, terms) {
  const place = document.createElement("span");
  let at = 0;
  for (const hit of hitsIn(text, terms)) {
    place.append(...breakable(text.slice(at, hit.index)), element("mark", {}, ...breakable(hit[0])));
    at = hit.index + hit[0].length;
  }
  place.append(...breakable(text.slice(at)));
  return place;
}

/** A text whose long names can wrap between their parts: `torch` `.cuda` `.is_` `available`. */
const breakable = (text) => text.split(/(?<=.)(?=\.[\p{L}_])|(?<=_)(?=[\p{L}\p{N}])/u).flatMap((part, at) => (at ? [element("wbr", {}), part] : [part]));

function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

class Search {
  constructor() {
    this.field = element("input", {
      type: "search",
      role: "combobox",
      "aria-label": "Search guides, recipes and API names",
      "aria-expanded": "false",
      "aria-controls": "search-results",
      "aria-autocomplete": "list",
      autocomplete: "off",
      autocapitalize: "off",
      spellcheck: "false",
      placeholder: "amp.autocast, loss scaling, …",
    });
    this.list = element("div", { id: "search-results", role: "listbox", "aria-label": "Results" });
    this.status = element("p", { role: "status", class: "search-status" });
    const link = (to, text) => element("a", { href: addressOf(to) }, text);
    this.advice = element("p", { class: "search-advice", hidden: "" });
    this.advice.append(
      link("port/", "Port the script"),
      " to read about each of its lines, or look a name up in the ",
      link("apis/", "API lookup"),
      ". Messages of the accelerator’s own software are explained in its documentation, listed under ",
      link("sources/", "sources"),
      ".",
    );
    this.slash = element("input", { type: "checkbox", id: "search-slash" });
    this.slash.checked = slashWanted();
    this.slash.addEventListener("change", () => {
      try {
        localStorage.setItem(slashKey, this.slash.checked ? "on" : "off");
      } catch {
        // Storage may be forbidden; then the shortcut stays the same.
      }
    });
    const close = element("button", { type: "button", class: "button quiet small" }, "Close");
    close.addEventListener("click", () => this.dialog.close());
    this.dialog = element(
      "dialog",
      { class: "search", "aria-label": "Search" },
      element("div", { class: "search-head" }, this.field, close),
      this.status,
      this.advice,
      this.list,
      element("p", { class: "search-foot" }, element("label", {}, this.slash, " The / key opens this search"), element("span", {}, "Ctrl+K always does")),
    );
    this.field.addEventListener("input", () => this.show());
    this.field.addEventListener("keydown", (event) => this.key(event));
    this.dialog.addEventListener("click", (event) => {
      if (event.target === this.dialog || event.target.closest("a")) this.dialog.close();
    });
    document.body.append(this.dialog);
  }

  async open() {
    if (!this.dialog.open) this.dialog.showModal();
    this.field.focus();
    this.field.select();
    if (this.found) return;
    this.status.textContent = "Loading the index …";
    try {
      this.found = await load();
      this.show();
    } catch (error) {
      this.status.textContent = `The index can't be loaded: ${error.message}`;
    }
  }

  show() {
    if (!this.found) return;
    const query = this.field.value.trim();
    const results = query ? find(this.found, query) : [];
    this.list.replaceChildren();
    let number = 0;
    for (const group of results) {
      const name = element("h2", { id: `search-group-${groups.indexOf(group.name)}`, role: "presentation" }, group.name);
      const box = element("div", { role: "group", "aria-labelledby": name.id }, name);
      for (const hit of group.hits) {
        const option = element("a", { role: "option", id: `search-hit-${number++}`, href: addressOf(hit.to), tabindex: "-1", "aria-selected": "false" });
        option.append(element("b", {}, marked(hit.title, hit.terms)), element("small", {}, hit.place));
        if (hit.text) option.append(element("p", {}, marked(passage(hit.text, hit.terms), hit.terms)));
        box.append(option);
      }
      this.list.append(box);
    }
    const all = results.reduce((sum, group) => sum + group.count, 0);
    const words = all === 1 ? "1 result" : `${all} results`;
    this.status.textContent = query ? (all ? `${words}${all > number ? `, the best ${number} shown` : ""}` : `Nothing found for “${query}”`) : "";
    this.advice.hidden = !query || all > 0;
    this.field.setAttribute("aria-expanded", String(number > 0));
    this.choose(number > 0 ? 0 : -1);
  }

  choose(index) {
    const options = [...this.list.querySelectorAll("[role=option]")];
    options.forEach((option, at) => option.setAttribute("aria-selected", String(at === index)));
    this.chosen = index;
    const option = options[index];
    if (option) {
      this.field.setAttribute("aria-activedescendant", option.id);
      option.scrollIntoView({ block: "nearest" });
    } else this.field.removeAttribute("aria-activedescendant");
  }

  key(event) {
    const options = this.list.querySelectorAll("[role=option]");
    const steps = { ArrowDown: 1, ArrowUp: -1 };
    if (event.key in steps && options.length) {
      event.preventDefault();
      this.choose((this.chosen + steps[event.key] + options.length) % options.length);
    } else if (event.key === "Enter" && options[this.chosen]) {
      event.preventDefault();
      options[this.chosen].click();
    }
  }
}

function slashWanted() {
  try {
    return localStorage.getItem(slashKey) !== "off";
  } catch {
    return true;
  }
}

let search;

/** The search's style, loaded only when the search is used. */
function styled() {
  const { searchStyle } = document.querySelector("script[data-search-style]")?.dataset ?? {};
  if (one || !searchStyle) return undefined;
  return new Promise((done) => {
    const sheet = element("link", { rel: "stylesheet", href: searchStyle });
    sheet.onload = sheet.onerror = done;
    document.head.append(sheet);
  });
}

/** Opens the search; the first call creates it. */
export async function open() {
  if (!search) {
    await styled();
    search ??= new Search();
  }
  return search.open();
}
