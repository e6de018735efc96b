//! Loops.

use super::view;
use crate::tree::{Id, Index, fields, kinds};

view!(
    /// `for target in iterable: …`.
    For, for_statement, for_statement, for_statements
);

view!(
    /// `while condition: …`.
    While, while_statement, while_statement, while_statements
);

impl For<'_, '_> {
    /// The target of each item.
    pub fn target(self) -> Option<Id> {
        self.field(fields().left)
    }

    /// The iterable.
    pub fn iterable(self) -> Option<Id> {
        self.field(fields().right)
    }

    /// Its block.
    pub fn body(self) -> Option<Id> {
        self.field(fields().body)
    }
}

impl While<'_, '_> {
    /// The condition before each iteration.
    pub fn condition(self) -> Option<Id> {
        self.field(fields().condition)
    }

    /// Its block.
    pub fn body(self) -> Option<Id> {
        self.field(fields().body)
    }
}

impl Index<'_> {
    /// Whether a node is a `for` or a `while`.
    pub fn is_loop(&self, id: Id) -> bool {
        [kinds().for_statement, kinds().while_statement].contains(&self.kind(id))
    }
}
