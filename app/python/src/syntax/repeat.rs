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
    /// What each item is assigned to.
    pub fn target(self) -> Option<Id> {
        self.field(fields().left)
    }

    /// What is iterated over.
    pub fn iterable(self) -> Option<Id> {
        self.field(fields().right)
    }

    /// Its block.
    pub fn body(self) -> Option<Id> {
        self.field(fields().body)
    }
}

impl While<'_, '_> {
    /// What it tests before each turn.
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
