//! Branches that a port has made equal: once the scaler is gone, `if amp:` does the same as its `else`.

use super::emptied::is_quiet;
use crate::rope::{Replacement, Rope};
use python::edit::{Change, splices, unindented};
use python::tree::{Id, kinds};
use training::FileView;

/// One branch in place of two equal ones, where the port has written in one of them and the test does nothing by itself; the first
/// such test of a file.
pub(super) fn merged(view: &FileView<'_>, rope: &Rope<'_>) -> Vec<Replacement> {
    let k = kinds();
    let index = &view.index;
    index
        .of_kind(k.if_statement)
        .iter()
        .find_map(|&test| {
            let branch = index.if_statement(test)?;
            let mut clauses = branch.clauses();
            let (only, None) = (clauses.next()?, clauses.next()) else { return None };
            let body = branch.body()?;
            let other = only.body.filter(|_| only.condition.is_none())?;
            let text = |block: Id| {
                let first = index.parts(block).next()?;
                let start = index.item(first).start;
                Some(unindented(index.text, start..index.item(block).end))
            };
            let by = rope.authors(&index.range(test)).into_iter().next()?;
            let commented = index.of_kind(k.comment).iter().any(|c| index.is_within(*c, test));
            let text = text(body).filter(|same| text(other).as_deref() == Some(same))?;
            if commented || !branch.condition().is_some_and(|c| is_quiet(view, c)) {
                return None;
            }
            let is_alone = index.parent(test).is_none_or(|block| index.parts(block).count() == 1);
            let text = if text == "pass" && !is_alone { String::new() } else { text };
            let change = Change::Replace { first: test, last: test, text };
            let written = splices(view, &change).into_iter();
            Some(written.map(|s| Replacement { range: s.range, text: s.text, by: by.clone() }).collect())
        })
        .unwrap_or_default()
}
