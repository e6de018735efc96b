//! The editable element of the source, with its lines in blocks.
//!
//! At every key press a browser lays out and paints all lines of a `<textarea>`, but of an editable element only the
//! edited block. Undo, selection, input methods and accessibility are the browser's own in both.

use crate::port::state::lines::{Lines, Splice, as_field_text, take_typed};
use crate::shared::browser;
use js_sys::{JsString, Reflect};
use leptos::html::Div;
use leptos::prelude::*;
use wasm_bindgen::prelude::*;
use web_sys::{Node, Selection};

/// The number of lines in a new block.
const BLOCK_LINES: usize = 100;

/// The editable element.
#[derive(Clone, Copy)]
pub(super) struct Field {
    pub(super) element: NodeRef<Div>,
    /// The children as they were after the last edit, to find the next one.
    blocks: StoredValue<Vec<Block>, LocalStorage>,
    /// The last [`Field::replace`].
    replaced: StoredValue<Option<Replaced>, LocalStorage>,
}

/// A child of the element: a block, unless the browser has removed all blocks.
struct Block {
    node: Node,
    content: JsString,
    /// The number of its child nodes: a `<br>` is not part of the content.
    parts: u32,
    lines: usize,
}

/// What was replaced and what replaced it: the element's children, because the browser's undo of what was typed before and
/// afterwards refers to these very nodes, and their texts.
struct Replaced {
    before: (Vec<Node>, String),
    after: (Vec<Node>, String),
    is_undone: bool,
}

impl Block {
    fn of(node: &Node) -> Block {
        let lines = joined(std::slice::from_ref(node)).matches('\n').count() + 1;
        Block { node: node.clone(), content: content(node), parts: node.child_nodes().length(), lines }
    }

    fn is(&self, node: &Node) -> bool {
        self.node == *node && self.parts == node.child_nodes().length() && self.content == content(node)
    }
}

impl Field {
    pub(super) fn new() -> Field {
        let (blocks, replaced) = (StoredValue::new_local(Vec::new()), StoredValue::new_local(None));
        Field { element: NodeRef::new(), blocks, replaced }
    }

    /// Shows another text, which can't be undone. Returns whether it differs from the previous one.
    pub(super) fn show(self, text: &str) -> bool {
        let text = as_field_text(text);
        let differs = self.text() != text;
        if differs || self.blocks.with_value(Vec::is_empty) {
            let children = new_blocks(&text);
            self.blocks.set_value(children.iter().map(Block::of).collect());
            self.set_children(&children);
            self.replaced.set_value(None);
        }
        differs
    }

    /// Replaces the text, as a paste over all of it does. The browser can't undo this, but [`Field::undo`] can.
    pub(super) fn replace(self, text: &str) {
        let text = as_field_text(text);
        let after = new_blocks(&text);
        let before = (self.children(), self.text());
        self.replaced.set_value(Some(Replaced { before, after: (after.clone(), text), is_undone: false }));
        self.set_children(&after);
        self.put_caret_at_end();
    }

    /// Undoes the last [`Field::replace`], or redoes it (`again`), if that is next. Returns whether it was.
    pub(super) fn undo(self, again: bool) -> bool {
        let children = self.replaced.try_update_value(|replaced| {
            let Replaced { before, after, is_undone } =
                replaced.as_mut().filter(|replaced| replaced.is_undone == again)?;
            let (from, to) = if again { (before, after) } else { (after, before) };
            (self.text() == from.1).then(|| {
                *is_undone = !again;
                to.0.clone()
            })
        });
        let children = children.flatten();
        if let Some(children) = &children {
            self.set_children(children);
            self.put_caret_at_end();
        }
        children.is_some()
    }

    /// Finds what was edited since the last call, given the text that is `stored`. Only blocks that have changed are read.
    pub(super) fn edit(self, stored: &Lines) -> Option<Splice> {
        let now = self.children();
        let edited = self.blocks.try_update_value(|blocks| {
            let (was, is) = (blocks.len(), now.len());
            let front = blocks.iter().zip(&now).take_while(|(block, node)| block.is(node)).count();
            let rest = blocks[front..].iter().rev().zip(now[front..].iter().rev());
            let back = rest.take_while(|(block, node)| block.is(node)).count();
            let edited = edited(blocks, &now, (front, back), stored);
            blocks.splice(front..was - back, now[front..is - back].iter().map(Block::of)).for_each(drop);
            edited
        });
        let (range, typed) = edited?;
        take_typed(stored.text(), range, &typed)
    }

    /// Puts the caret at a line, counted from 0, and a column in UTF-16 units.
    pub(super) fn put_caret(self, line: usize, column: usize) {
        match self.place_of(line, column).zip(selection()) {
            Some(((node, offset), selection)) => drop(selection.collapse_with_offset(Some(&node), offset)),
            None => self.put_caret_at_end(),
        }
    }

    /// Selects from one place to another, each a line and a column; the caret is at the other one.
    pub(super) fn select(self, from: (usize, usize), to: (usize, usize)) {
        let places = self.place_of(from.0, from.1).zip(self.place_of(to.0, to.1));
        match places.zip(selection()) {
            Some((((node, offset), (last, end)), selection)) => {
                drop(selection.set_base_and_extent(&node, offset, &last, end));
            }
            None => self.put_caret_at_end(),
        }
    }

    fn place_of(self, line: usize, column: usize) -> Option<(Node, u32)> {
        self.blocks.with_value(|blocks| {
            let mut line = line;
            let is_here = |block: &&Block| {
                let is_here = line < block.lines;
                line -= if is_here { 0 } else { block.lines };
                is_here
            };
            let block = blocks.iter().find(is_here)?;
            place(&block.node, line, column)
        })
    }

    /// Whether there is a text, and all of it is selected.
    pub(super) fn is_all_selected(self) -> bool {
        let lengths = || {
            let element = self.element.get_untracked()?;
            let selected = selection().filter(|selection| !selection.is_collapsed())?.get_range_at(0).ok()?;
            let all = browser::document().create_range().ok()?;
            all.select_node_contents(&element).ok()?;
            let is_inside = element.contains(selected.common_ancestor_container().ok().as_ref());
            is_inside.then(|| (String::from(selected.to_string()).len(), String::from(all.to_string()).len()))
        };
        lengths().is_some_and(|(selected, all)| all > 0 && selected == all)
    }

    /// Whether there is no text.
    pub(super) fn is_empty(self) -> bool {
        self.text().is_empty()
    }

    fn text(self) -> String {
        joined(&self.children())
    }

    fn children(self) -> Vec<Node> {
        let first = self.element.get_untracked().and_then(|element| element.first_child());
        std::iter::successors(first, Node::next_sibling).collect()
    }

    fn set_children(self, children: &[Node]) {
        if let Some(element) = self.element.get_untracked() {
            element.replace_children_with_node(&children.iter().collect());
        }
    }

    fn put_caret_at_end(self) {
        if let Some((element, selection)) = self.element.get_untracked().zip(selection()) {
            let _ = selection.select_all_children(&element);
            let _ = selection.collapse_to_end();
        }
    }
}

/// The bytes of the `stored` text in which the edit is, and the element's text there, if all but the `front` first and
/// the `back` last blocks have changed.
fn edited(
    blocks: &[Block],
    now: &[Node],
    (mut front, mut back): (usize, usize),
    stored: &Lines,
) -> (std::ops::Range<usize>, String) {
    let text = stored.text();
    let lines = |blocks: &[Block]| blocks.iter().map(|block| block.lines).sum::<usize>();
    if lines(blocks) != stored.len() + usize::from(text.is_empty() || text.ends_with('\n')) {
        // A lone `\r` ends a line of the element, but not of the file; nor does every node outside blocks.
        (front, back) = (0, 0);
    } else if back == 0 && front == now.len() {
        // The line ending in front of the last blocks was removed with them.
        front = front.saturating_sub(1);
    }
    let first = lines(&blocks[..front]);
    let behind = first + lines(&blocks[front..blocks.len() - back]);
    let end = if back == 0 { text.len() } else { stored.start(behind) };
    let mut typed = joined(&now[front..now.len() - back]);
    if back > 0 && front < now.len() - back {
        typed.push('\n');
    }
    (stored.start(first)..end, typed)
}

/// New blocks with a text. None ends in an empty line, unless that is all it contains: the browser would not delete it
/// together with everything else.
fn new_blocks(text: &str) -> Vec<Node> {
    let lines: Vec<&str> = text.split('\n').collect();
    let (mut blocks, mut rest) = (Vec::new(), &lines[..]);
    while !rest.is_empty() {
        let full = &rest[..rest.len().min(BLOCK_LINES)];
        let last = full.iter().rposition(|line| !line.is_empty()).unwrap_or(0);
        let (lines, behind) = rest.split_at(last + 1);
        let block = element("div");
        match lines {
            [""] => drop(block.append_child(&element("br"))),
            lines => block.set_text_content(Some(&lines.join("\n"))),
        }
        blocks.push(block);
        rest = behind;
    }
    blocks
}

fn element(name: &str) -> Node {
    browser::document().create_element(name).expect("the name of an element").into()
}

/// The text of children of the element. Nodes outside blocks, which remain if everything was deleted, continue each
/// other's lines.
fn joined(children: &[Node]) -> String {
    let is_block = |node: &Node| node.node_name() == "DIV";
    let runs = children.chunk_by(|a, b| !is_block(a) && !is_block(b));
    let text = |run: &[Node]| {
        let mut text: String = run.iter().flat_map(leaves).map(|leaf| leaf_text(&leaf)).collect();
        // At the end of a block it only makes the empty line in front of it visible.
        if text.ends_with('\n') {
            text.pop();
        }
        text
    };
    runs.map(text).collect::<Vec<_>>().join("\n")
}

/// Where a line of a block, counted from 0, has a column in UTF-16 units: a node and an offset in it. The end of the line
/// if that is nearer.
fn place(block: &Node, mut line: usize, mut column: usize) -> Option<(Node, u32)> {
    let mut place = None;
    for leaf in leaves(block) {
        let mut offset = 0;
        for part in leaf_text(&leaf).split_inclusive('\n') {
            let row = part.trim_end_matches('\n').encode_utf16().count();
            let ends = part.ends_with('\n');
            if line == 0 {
                place = Some((leaf.clone(), (offset + column.min(row)) as u32));
                if ends || column < row {
                    return place;
                }
                column -= row;
            }
            line -= usize::from(ends);
            offset += row + 1;
        }
    }
    place
}

/// The nodes without children in a node, in order; the node itself if it has none.
fn leaves(node: &Node) -> Vec<Node> {
    match node.first_child() {
        None => vec![node.clone()],
        first => std::iter::successors(first, Node::next_sibling).flat_map(|child| leaves(&child)).collect(),
    }
}

fn leaf_text(leaf: &Node) -> String {
    if leaf.node_name() == "BR" { "\n".to_owned() } else { leaf.node_value().unwrap_or_default() }
}

/// The text of a node, in the browser: comparing it there is faster than copying it.
fn content(node: &Node) -> JsString {
    Reflect::get(node, &"textContent".into()).expect("a node has a text content").unchecked_into()
}

fn selection() -> Option<Selection> {
    browser::window().get_selection().ok().flatten()
}
