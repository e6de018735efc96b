//! Markdown events as a tree of nodes with their lines.

use super::Fence;
use crate::model::Guide;
use crate::{front, parse};
use pulldown_cmark::{Alignment, CodeBlockKind, Event, Parser, Tag};

/// A node, its line in the file, and its contents.
pub(super) struct Node {
    pub(super) kind: Kind,
    pub(super) line: usize,
    pub(super) children: Vec<Node>,
}

pub(super) enum Kind {
    Paragraph {
        class: Option<&'static str>,
    },
    Heading {
        level: u8,
        id: String,
        below: String,
    },
    Quote,
    List {
        start: Option<u64>,
    },
    Item,
    Table {
        columns: Vec<Alignment>,
    },
    Head,
    Row,
    Cell,
    Emphasis,
    Strong,
    Link {
        to: String,
    },
    Image {
        to: String,
    },
    Fence(Fence),
    Text(String),
    Code(String),
    Break,
    Line,
    /// The output of a pass.
    Html(String),
}

/// Builds the tree of a page that has passed [`Guide::parse`].
pub(super) fn grow(guide: &Guide, text: &str) -> Vec<Node> {
    let text = parse::normal(text);
    let body = front::split(&text).map_or(0, |(_, body)| body);
    let above = text[..body].matches('\n').count();
    let body = &text[body..];
    let starts: Vec<usize> = std::iter::once(0).chain(body.match_indices('\n').map(|(at, _)| at + 1)).collect();

    let mut sections = guide.sections.iter();
    let mut open: Vec<Node> = Vec::new();
    let mut nodes: Vec<Node> = Vec::new();
    for (event, range) in Parser::new_ext(body, parse::syntax()).into_offset_iter() {
        let line = above + starts.partition_point(|start| *start <= range.start);
        let leaf = match event {
            Event::Start(tag) => {
                open.push(Node { kind: kind(tag, line, &mut sections), line, children: Vec::new() });
                continue;
            }
            Event::End(_) => {
                let Some(mut node) = open.pop() else { continue };
                finish(&mut node);
                open.last_mut().map_or(&mut nodes, |parent| &mut parent.children).push(node);
                continue;
            }
            Event::Text(text) => Kind::Text(text.to_string()),
            Event::Code(code) => Kind::Code(code.to_string()),
            Event::SoftBreak => Kind::Text("\n".to_string()),
            Event::HardBreak => Kind::Break,
            Event::Rule => Kind::Line,
            _ => continue,
        };
        let leaf = Node { kind: leaf, line, children: Vec::new() };
        open.last_mut().map_or(&mut nodes, |parent| &mut parent.children).push(leaf);
    }
    nodes
}

fn kind<'a>(tag: Tag<'_>, line: usize, sections: &mut impl Iterator<Item = &'a crate::Section>) -> Kind {
    match tag {
        Tag::Heading { level, .. } => {
            let id = sections.next().map(|section| section.id.clone()).unwrap_or_default();
            Kind::Heading { level: level as u8, id, below: String::new() }
        }
        Tag::BlockQuote(_) => Kind::Quote,
        Tag::List(start) => Kind::List { start },
        Tag::Item => Kind::Item,
        Tag::Table(columns) => Kind::Table { columns },
        Tag::TableHead => Kind::Head,
        Tag::TableRow => Kind::Row,
        Tag::TableCell => Kind::Cell,
        Tag::Emphasis => Kind::Emphasis,
        Tag::Strong => Kind::Strong,
        Tag::Link { dest_url, .. } => Kind::Link { to: dest_url.to_string() },
        Tag::Image { dest_url, .. } => Kind::Image { to: dest_url.to_string() },
        Tag::CodeBlock(block) => {
            let info = match block {
                CodeBlockKind::Fenced(info) => info.to_string(),
                CodeBlockKind::Indented => String::new(),
            };
            let (language, words) = info.trim().split_once(char::is_whitespace).unwrap_or((info.trim(), ""));
            Kind::Fence(Fence {
                language: language.to_string(),
                words: words.trim().to_string(),
                body: String::new(),
                line: line + 1,
            })
        }
        _ => Kind::Paragraph { class: None },
    }
}

/// Prefixes of the lines with a recipe's source and versions; each is shown on a line of its own.
const SOURCES: [&str; 2] = ["Source:", "Holds for:"];

/// Properties of a node that depend on its children.
fn finish(node: &mut Node) {
    let text = plain(&node.children);
    match &mut node.kind {
        Kind::Fence(fence) => {
            fence.body = text;
            node.children.clear();
        }
        Kind::Paragraph { class } if SOURCES.iter().any(|start| text.starts_with(start)) => {
            *class = Some("source");
            for index in 1..node.children.len() {
                let starts =
                    |node: &Node| matches!(&node.kind, Kind::Text(text) if SOURCES.iter().any(|s| text.starts_with(s)));
                if starts(&node.children[index])
                    && matches!(&node.children[index - 1].kind, Kind::Text(text) if text == "\n")
                {
                    node.children[index - 1].kind = Kind::Break;
                }
            }
        }
        _ => {}
    }
}

/// The text of nodes without markup.
pub(super) fn plain(nodes: &[Node]) -> String {
    let mut text = String::new();
    for node in nodes {
        match &node.kind {
            Kind::Text(more) | Kind::Code(more) => text += more,
            Kind::Break => text.push('\n'),
            _ => text += &plain(&node.children),
        }
    }
    text
}

/// The text of a node, one piece per paragraph, item, row or line of a rule.
pub(super) fn blocks(node: &Node, found: &mut Vec<String>) {
    match &node.kind {
        Kind::Fence(fence) if fence.words.starts_with("rule") => {
            found.extend(fence.body.lines().map(|line| line.get(2..).unwrap_or("").trim().to_string()));
        }
        Kind::Fence(fence) if fence.language == "message" => {
            found.push(fence.body.split_whitespace().collect::<Vec<_>>().join(" "));
        }
        Kind::Fence(fence) if fence.language == "says" && fence.words.is_empty() => {
            found.extend(fence.body.lines().map(|line| line.trim().to_string()));
        }
        Kind::Fence(fence) if ["names", "words"].contains(&fence.language.as_str()) => {
            found.extend(fence.body.lines().map(str::to_string))
        }
        Kind::Fence(_) => {}
        Kind::Quote | Kind::List { .. } | Kind::Table { .. } => {
            node.children.iter().for_each(|child| blocks(child, found));
        }
        Kind::Head | Kind::Row => {
            found.push(node.children.iter().map(|cell| plain(&cell.children)).collect::<Vec<_>>().join(" · "));
        }
        _ => found.push(plain(&node.children).replace('\n', " ")),
    }
}

/// Calls `see` with the target, the text and the line of every link below a node.
pub(super) fn links(node: &Node, see: &mut impl FnMut(&str, String, usize)) {
    if let Kind::Link { to } = &node.kind {
        see(to, plain(&node.children), node.line);
    }
    node.children.iter().for_each(|child| links(child, see));
}

/// Calls `pass` on every node, parents first.
pub(super) fn visit(nodes: &mut [Node], pass: &mut impl FnMut(&mut Node)) {
    for node in nodes {
        pass(node);
        visit(&mut node.children, pass);
    }
}
