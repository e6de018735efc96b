//! Tests that count batches, `(i + 1) % n == 0`, where they stand or under a name: `last = (i + 1) % n == 0`, `if last:`.

use super::FileView;
use crate::names::dotted;
use crate::tree::{Id, fields, kinds};

/// What is known of such a test.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counted<'t> {
    /// What the number of the batch is divided by; empty where that is no number and no name.
    pub(crate) count: &'t str,
    /// The expression that counts.
    pub(crate) expression: Id,
    /// The assignment that gives it a name, and whether the test says `not` to that name.
    pub(crate) named: Option<(Id, bool)>,
    /// Something else is asked for as well.
    pub(crate) and_more: bool,
}

/// Reads a condition as a test that counts.
pub(crate) fn counted<'t>(view: &FileView<'t>, condition: Id) -> Option<Counted<'t>> {
    let index = &view.index;
    let (mut expression, denied) = bare(view, condition);
    let mut named = None;
    if dotted(index, expression).is_some() {
        let assignment = assigned_in_loop(view, expression)?;
        named = Some((assignment, denied));
        expression = bare(view, index.field(assignment, fields().right)?).0;
    }
    let text = index.text_of(expression);
    let (_, tail) = text.split_once('%').filter(|(head, _)| !head.contains(['"', '\'']))?;
    let tail = tail.trim_start();
    let count = &tail[..tail.find(|c: char| "=!<>)".contains(c) || c.is_whitespace()).unwrap_or(tail.len())];
    let plain = count.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.');
    let and_more = text.split_whitespace().any(|word| word == "and");
    Some(Counted { count: if plain { count } else { "" }, expression, named, and_more })
}

/// An expression without parentheses and `not` around it, and whether it is denied.
fn bare(view: &FileView<'_>, expression: Id) -> (Id, bool) {
    let k = kinds();
    let index = &view.index;
    let (mut at, mut denied) = (expression, false);
    while [k.parenthesized_expression, k.not_operator].contains(&index.kind(at)) {
        denied ^= index.kind(at) == k.not_operator;
        match index.parts(at).next() {
            Some(inner) => at = inner,
            None => break,
        }
    }
    (at, denied)
}

/// The one assignment to a name in the loop around the place that reads it.
fn assigned_in_loop(view: &FileView<'_>, name: Id) -> Option<Id> {
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    let text = index.text_of(name);
    let around = index
        .ancestors(name)
        .take_while(|a| index.kind(*a) != k.function_definition)
        .find(|a| [k.for_statement, k.while_statement].contains(&index.kind(*a)))?;
    let assigns = [k.assignment, k.augmented_assignment];
    let mut found = assigns
        .iter()
        .flat_map(|kind| index.of_kind_in(*kind, around).iter().copied())
        .filter(|a| index.field(*a, f.left).is_some_and(|l| index.text_of(l) == text));
    found.next().filter(|a| found.next().is_none() && *a < name && index.kind(*a) == k.assignment)
}
