//! `with` and its contexts.

use super::view;
use crate::tree::{Id, fields, kinds};

view!(
    /// `with context as name: …`.
    With, with_statement, with_statement, with_statements
);

view!(
    /// `context as name` of a `with`.
    WithItem, with_item, with_item, with_items
);

impl<'i, 't> With<'i, 't> {
    /// Its contexts, in order.
    pub fn items(self) -> impl Iterator<Item = WithItem<'i, 't>> {
        let index = self.index;
        let clauses = index.children(self.id).filter(move |c| index.kind(*c) == kinds().with_clause);
        clauses.flat_map(move |clause| index.children(clause)).filter_map(move |item| index.with_item(item))
    }

    /// Its block.
    pub fn body(self) -> Option<Id> {
        self.field(fields().body)
    }
}

impl WithItem<'_, '_> {
    /// The context expression, without `as name`.
    pub fn context(self) -> Option<Id> {
        let value = self.field(fields().value)?;
        if self.index.kind(value) == kinds().as_pattern { self.index.children(value).next() } else { Some(value) }
    }
}
