//! A test that is always true, or a loop with one iteration, after a port: its statements without it.

use super::{Input, Wish};
use python::edit::{Change, dedent};
use python::lines::{line_end, line_indent};
use python::tree::{Id, kinds};
use training::FileView;
use training::counting::chunks;
use training::step::is_left_early;

/// How a condition that is always true, and the number of iterations of a loop with one, are written for this module to find: in
/// a form that programs do not use themselves.
pub(super) fn always(input: &Input<'_, '_>) -> &'static str {
    if input.original.contains("if True:") { "True is not False" } else { "True" }
}

pub(super) fn one_turn(input: &Input<'_, '_>) -> &'static str {
    if ["range(1)", ".chunk(1)"].iter().any(|own| input.original.contains(own)) { "+1" } else { "1" }
}

/// Moves statements out of the tests and loops that the port has made superfluous.
pub(super) fn normalise(input: &Input<'_, '_>, view: &FileView<'_>) -> Vec<Wish> {
    let k = kinds();
    let index = &view.index;
    let (always, one) = (always(input), one_turn(input));
    let tests = index.of_kind(k.if_statement).iter().copied().filter(|at| {
        let holds = index.condition(*at).is_some_and(|c| index.text_of(c) == always);
        holds && index.otherwise(*at).is_none()
    });
    let loops = index.of_kind(k.for_statement).iter().copied().filter(|at| {
        let (Some(left), Some(right)) = (index.target(*at), index.source(*at)) else { return false };
        let turn = index.text_of(right).strip_prefix("range(").and_then(|n| n.strip_suffix(')')) == Some(one)
            && view.identifiers(index.text_of(left)).iter().filter(|id| index.is_within(**id, *at)).count() == 1;
        let part = chunks(view, *at).is_some_and(|c| c.numbers.iter().all(|n| index.text_of(*n) == one));
        (turn || part) && !is_left_early(view, *at)
    });
    let mut found: Vec<Id> = tests.chain(loops).collect();
    sorting::plain(&mut found);
    index.outermost(&mut found, |at| *at);
    found.into_iter().filter_map(|at| Some(Wish::new(view, at, vec![body_alone(view, at)?]))).collect()
}

/// Replaces a compound statement by its body, including comments above it.
fn body_alone(view: &FileView<'_>, at: Id) -> Option<Change> {
    let index = &view.index;
    let text = index.text;
    let block = index.consequence(at).or_else(|| index.body(at))?;
    let head = index.condition(at).or_else(|| index.source(at))?;
    let first = index.item(block).start;
    let below = text[index.item(head).end..first].contains('\n');
    let from = if below {
        let lines = line_end(text, index.item(head).end);
        lines + text[lines..].find(|c: char| !c.is_whitespace())?
    } else {
        first
    };
    let named = chunks(view, at).zip(index.target(at)).map_or_else(String::new, |(parts, left)| {
        let whole: Vec<&str> = parts.tensors.iter().map(|t| index.text_of(*t)).collect();
        let (left, whole) = (index.text_of(left), whole.join(", "));
        if left == whole { String::new() } else { format!("{left} = {whole}\n") }
    });
    let body = dedent(&text[from..index.item(at).end], line_indent(text, first));
    Some(Change::Replace { first: at, last: at, text: named + &body })
}
