//! `if` and `try`, with their clauses.

use super::view;
use crate::tree::{Id, Index, fields, kinds};

view!(
    /// `if condition: …` with its `elif` and `else`.
    If, if_statement, if_statement, if_statements
);

view!(
    /// `try: …` with its `except`, `else` and `finally`.
    Try, try_statement, try_statement, try_statements
);

/// A clause of an `if`: `elif condition:`, or `else:`, which has no condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clause {
    /// The clause.
    pub id: Id,
    /// The condition of an `elif`.
    pub condition: Option<Id>,
    /// Its block.
    pub body: Option<Id>,
}

impl If<'_, '_> {
    /// Its condition.
    pub fn condition(self) -> Option<Id> {
        self.field(fields().condition)
    }

    /// The block that runs if the condition is true.
    pub fn body(self) -> Option<Id> {
        self.field(fields().consequence)
    }

    /// Its `elif` and `else`, in order.
    pub fn clauses(self) -> impl Iterator<Item = Clause> {
        let (k, f, index) = (kinds(), fields(), self.index);
        index.children(self.id).filter_map(move |id| {
            if index.kind(id) == k.elif_clause {
                Some(Clause { id, condition: index.field(id, f.condition), body: index.field(id, f.consequence) })
            } else if index.kind(id) == k.else_clause {
                Some(Clause { id, condition: None, body: index.field(id, f.body) })
            } else {
                None
            }
        })
    }

    /// Its `else`.
    pub fn otherwise(self) -> Option<Clause> {
        self.clauses().find(|clause| clause.condition.is_none())
    }

    /// Whether it has neither `elif` nor `else`.
    pub fn stands_alone(self) -> bool {
        self.clauses().next().is_none()
    }
}

impl Try<'_, '_> {
    /// The block of the `try`.
    pub fn body(self) -> Option<Id> {
        self.field(fields().body)
    }
}

impl Index<'_> {
    /// The block of an `if`, an `elif` or an `else`.
    pub fn clause_body(&self, clause: Id) -> Option<Id> {
        self.consequence(clause).or_else(|| self.body(clause))
    }

    /// Whether a node is an `if` without `elif` and `else`.
    pub fn is_plain_if(&self, statement: Id) -> bool {
        self.if_statement(statement).is_some_and(If::stands_alone)
    }
}
