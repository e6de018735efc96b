//! A guide's prose as HTML, in steps: Markdown events become a tree, passes change the tree, the tree is written.
//!
//! Other crates supply the passes: `site` resolves links ([`Document::resolve_links`]), replaces fences by highlighted
//! code and computed diffs ([`Document::replace_fences`]), and adds facts about a recipe below its heading
//! ([`Document::below_headings`]). Raw HTML never gets this far, because [`Guide::parse`] rejects it; so nothing from a
//! guide is written unescaped.

mod tree;
mod write;

use crate::error::{Faults, GuideError};
use crate::model::Guide;
pub use write::escape;

use tree::{Kind, Node};

/// A guide's body as a tree.
pub struct Document {
    path: String,
    nodes: Vec<Node>,
}

/// A link or an image of a guide.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Its target, as written in the guide.
    pub to: String,
    /// The text of the link, or the description of the image.
    pub text: String,
    /// Whether it is an image.
    pub is_image: bool,
    /// Line in the file, from 1.
    pub line: usize,
}

/// A fence of a guide.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fence {
    /// First word of the info string.
    pub language: String,
    /// The rest of the info string.
    pub words: String,
    /// Body.
    pub body: String,
    /// Line of the first body line, as in [`crate::Rule::line`] and [`crate::Example::line`].
    pub line: usize,
}

impl Document {
    /// The body of `guide`, which was parsed from `text`. Headings get the anchors of the guide's sections.
    pub fn new(guide: &Guide, text: &str) -> Document {
        Document { path: guide.path.clone(), nodes: tree::grow(guide, text) }
    }

    /// Replaces the target of every link and image by the result of `resolve`; the messages that it returns instead
    /// become errors of the guide.
    pub fn resolve_links(&mut self, mut resolve: impl FnMut(&Link) -> Result<String, String>) -> Vec<GuideError> {
        let mut faults = Faults::of(&self.path);
        tree::visit(&mut self.nodes, &mut |node| {
            let is_image = matches!(node.kind, Kind::Image { .. });
            let text = tree::plain(&node.children);
            if let Kind::Link { to } | Kind::Image { to } = &mut node.kind {
                match resolve(&Link { to: to.clone(), text, is_image, line: node.line }) {
                    Ok(resolved) => *to = resolved,
                    Err(message) => faults.add(node.line, message),
                }
            }
        });
        faults.into_sorted()
    }

    /// Replaces every fence by the HTML that `render` returns.
    pub fn replace_fences(&mut self, mut render: impl FnMut(&Fence) -> String) {
        tree::visit(&mut self.nodes, &mut |node| {
            if let Kind::Fence(fence) = &node.kind {
                node.kind = Kind::Html(render(fence));
            }
        });
    }

    /// Inserts the HTML that `render` returns for a section's anchor below its heading.
    pub fn below_headings(&mut self, mut render: impl FnMut(&str) -> String) {
        tree::visit(&mut self.nodes, &mut |node| {
            if let Kind::Heading { id, below, .. } = &mut node.kind {
                *below = render(id);
            }
        });
    }

    /// The text of each section without markup, in page order: the section's anchor (empty for the part above the first
    /// heading), and its blocks. Of fences only rules, definitions and samples of messages are included: examples repeat rules.
    pub fn passages(&self) -> Vec<(String, Vec<String>)> {
        let mut passages = vec![(String::new(), Vec::new())];
        for node in &self.nodes {
            match &node.kind {
                Kind::Heading { id, .. } => passages.push((id.clone(), Vec::new())),
                _ => {
                    if let Some((_, blocks)) = passages.last_mut() {
                        tree::blocks(node, blocks);
                    }
                }
            }
        }
        passages
    }

    /// Every link to another site, with its text and the anchor of its section.
    pub fn outward(&self) -> Vec<(String, Link)> {
        let mut found = Vec::new();
        let mut section = String::new();
        for node in &self.nodes {
            if let Kind::Heading { id, .. } = &node.kind {
                section.clone_from(id);
            }
            tree::links(node, &mut |to, text, line| {
                if to.starts_with("https://") || to.starts_with("http://") {
                    let link = Link { to: to.to_string(), text, is_image: false, line };
                    found.push((section.clone(), link));
                }
            });
        }
        found
    }

    /// The HTML.
    pub fn html(&self) -> String {
        write::html(&self.nodes)
    }
}

#[cfg(test)]
mod tests;
