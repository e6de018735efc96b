//! What a patch matches, and the locations of its parts.

use crate::template::{Lines, Template};
use python::pattern::NodePattern;

/// What a patch matches.
// One per rule, created once: the size of the smaller variant does not matter.
#[allow(clippy::large_enum_variant)]
pub(crate) enum Shape {
    /// One expression, anywhere.
    Expression { pattern: NodePattern, layout: Template, replacement: Option<Template> },
    /// Consecutive statements of one block.
    Statements(Block),
}

/// Statements in order, with the insertions between them.
#[derive(Default)]
pub(crate) struct Block {
    pub(crate) items: Vec<Item>,
}

pub(crate) enum Item {
    Insert(Lines),
    Statement(Statement),
}

pub(crate) struct Statement {
    pub(crate) deleted: bool,
    pub(crate) form: Form,
}

pub(crate) enum Form {
    /// `$$$BODY` as statements.
    Many(String),
    /// A simple statement, or `$X` as one.
    Simple(NodePattern),
    Compound(Box<Compound>),
}

/// A statement with a block: matched by its header, part by part, then by its body.
pub(crate) struct Compound {
    pub(crate) kind: u16,
    /// Parts of the header with their field (0: none).
    pub(crate) header: Vec<(u16, NodePattern)>,
    /// `-`/`+` on the header alone: the new text up to the colon.
    pub(crate) new_header: Option<Template>,
    pub(crate) body: Block,
    pub(crate) clauses: Vec<Clause>,
}

/// `elif`, `else`, `except`, `finally`.
pub(crate) struct Clause {
    pub(crate) kind: u16,
    pub(crate) header: Vec<(u16, NodePattern)>,
    pub(crate) body: Block,
    /// Clauses to insert before this one.
    pub(crate) before: Option<Lines>,
}
