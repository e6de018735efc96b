//! From a match to a fix: the rule's right-hand side, filled in and merged with the user's text.

mod expression;
mod filler;
mod precedence;
mod statements;

pub(crate) use filler::{Context, KNOWN_MODULES, Refusal};

use crate::matching::{Match, Met};
use crate::patch::{Patch, Shape};
use filler::Filler;
use python::edit::Change;
use std::cell::RefCell;

/// The changes of a match and the imports they need.
pub(crate) fn rewrite(
    cx: &Context<'_, '_>,
    patch: &Patch,
    found: &Match<'_>,
) -> Result<(Vec<Change>, Vec<String>), Refusal> {
    let imports = RefCell::new(patch.imports.clone());
    let mut filler = Filler { patch, cx, found, imports: &imports, late: Vec::new() };
    let changes = match (&patch.shape, &found.met) {
        (Shape::Expression { layout, replacement: Some(replacement), .. }, Met::Expression) => {
            filler.find_late(replacement);
            filler.expression(layout, replacement)?
        }
        (Shape::Statements(block), Met::Statements(aligned)) => filler.statements(block, aligned)?,
        _ => Vec::new(),
    };
    Ok((changes, imports.into_inner()))
}
