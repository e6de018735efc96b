// Elements created by scripts of the theme.

function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

function button(text, act) {
  const made = element("button", { type: "button", class: "button quiet small" }, text);
  made.addEventListener("click", act);
  return made;
}

/** Shows a notice over the page, below existing ones. */
function announce(attributes, ...children) {
  const news = element("div", { class: "update", ...attributes }, ...children);
  const shelf = document.querySelector(".updates") ?? document.body.appendChild(element("div", { class: "updates" }));
  shelf.append(news);
  return news;
}
