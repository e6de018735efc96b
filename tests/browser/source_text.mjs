// The text of the Port page's source, as a person sees it.

/** In the page: the text of the editable element; with `end`, only what is in front of the caret. */
export function sourceText(end = false) {
  let field = document.querySelector("#source");
  if (!field) return undefined;
  if (end) {
    const { focusNode, focusOffset } = getSelection();
    const range = document.createRange();
    range.setStart(field, 0);
    range.setEnd(focusNode, focusOffset);
    field = document.createElement("div");
    field.append(range.cloneContents());
  }
  const text = (node) => (node.nodeName === "BR" ? "\n" : node.firstChild ? [...node.childNodes].map(text).join("") : (node.nodeValue ?? ""));
  const blocks = [];
  let loose = false;
  for (const node of field.childNodes) {
    const isBlock = node.nodeName === "DIV";
    if (!isBlock && loose) blocks.push(blocks.pop() + text(node));
    else blocks.push(text(node));
    loose = !isBlock;
  }
  // The last line end of a block only makes the empty line in front of it visible.
  return blocks.map((block, at) => (end && at === blocks.length - 1 ? block : block.replace(/\n$/, ""))).join("\n");
}

/** In the page: writes a text, as one edit. */
export function writeSource(text) {
  const field = document.querySelector("#source");
  const block = document.createElement("div");
  block.textContent = text === "" || text.endsWith("\n") ? `${text}\n` : text;
  field.focus();
  field.replaceChildren(block);
  field.dispatchEvent(new InputEvent("input", { bubbles: true }));
}

/** In the page: puts the caret behind the first occurrence of a text within a line. */
export function putCaretBehind(text) {
  const field = document.querySelector("#source");
  const walker = document.createTreeWalker(field, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const at = walker.currentNode.data.indexOf(text);
    if (at < 0) continue;
    field.focus();
    getSelection().collapse(walker.currentNode, at + text.length);
    return true;
  }
  return false;
}
