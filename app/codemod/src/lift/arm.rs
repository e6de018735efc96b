//! An arm for the target in a conditional expression, after the vendor's.

use super::guard::operand;
use super::joined::first_of;
use crate::fix::Fix;
use crate::guards::Guards;
use python::edit::{Change, Splice, spliced, splices};
use python::tree::{Id, kinds};
use training::{FileView, ProjectFacts};

/// Whether fixes give the target what `else` gives it already: `(None if target else [rank]) if test else None`.
pub(super) fn is_in_else(
    view: &FileView<'_>,
    project: &ProjectFacts<'_, '_>,
    guards: &dyn Guards,
    choice: Id,
    fixes: &[Fix],
) -> bool {
    let index = &view.index;
    let parts: Vec<Id> = index.parts(choice).filter(|_| index.kind(choice) == kinds().conditional_expression).collect();
    let ([yes, _, no], [fix]) = (parts.as_slice(), fixes) else { return false };
    let edits = fix.changes.iter().flat_map(|change| splices(view, change)).collect();
    let ported = spliced(index.text, index.range(*yes), edits);
    let given = |guard: String| format!("{} if {guard} else {}", index.text_of(*no), index.text_of(*yes));
    guards.guard_at(view, project, *yes).is_some_and(|guard| ported.trim_matches(['(', ')']) == given(guard))
}

/// `a if test else b` becomes `a if test else ported_a if test_for_target else b`.
pub(super) fn arm(view: &FileView<'_>, guards: &dyn Guards, (choice, asked): (Id, &str), fixes: &[Fix]) -> Option<Fix> {
    let index = &view.index;
    let parts: Vec<Id> = index.parts(choice).collect();
    let [yes, test, no] = parts.as_slice() else { return None };
    let (within, end) = (index.range(*yes), index.range(*test).end);
    let edits: Vec<Splice> = fixes.iter().flat_map(|fix| fix.changes.iter().flat_map(|c| splices(view, c))).collect();
    if edits.iter().any(|edit| edit.range.start < within.start || edit.range.end > within.end) {
        return None;
    }
    let ported = operand(&guards.retargeted(&spliced(index.text, within, edits)));
    // If `else` does the same, the target already uses it.
    if ported == index.text_of(*no) {
        return None;
    }
    let mut fix = first_of(fixes);
    fix.changes = vec![Change::Raw { range: end..end, text: format!(" else {ported} if {asked}") }];
    fix.imports = fixes.iter().flat_map(|fix| fix.imports.iter()).cloned().collect();
    Some(fix)
}
