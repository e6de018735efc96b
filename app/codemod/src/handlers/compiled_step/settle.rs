//! What a port leaves of a test that always holds and of a loop with one turn: their statements, without them.

use super::micro_batches::leaves;
use super::{Input, Wish, wish};
use crate::change::{Change, dedent, line_end};
use crate::facts::counting::chunks;
use crate::facts::{FileView, line_indent};
use crate::order::sort;
use crate::tree::{Id, fields, kinds};

/// Takes statements out of `if True:`, `for _ in range(1):` and `for a in x.chunk(1):` that the original does not have.
pub(super) fn settle(input: &Input<'_, '_>, view: &FileView<'_>) -> Vec<Wish> {
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    let new = |words: &str| !input.original.contains(words);
    let mut found: Vec<Id> = Vec::new();
    if new("if True:") {
        found.extend(index.of_kind(k.if_statement).iter().copied().filter(|at| {
            let holds = index.field(*at, f.condition).is_some_and(|c| index.text_of(c) == "True");
            holds && index.field(*at, f.alternative).is_none()
        }));
    }
    found.extend(index.of_kind(k.for_statement).iter().copied().filter(|at| {
        let (Some(left), Some(right)) = (index.field(*at, f.left), index.field(*at, f.right)) else { return false };
        let turn = index.text_of(right) == "range(1)"
            && view.identifiers(index.text_of(left)).iter().filter(|id| index.is_within(**id, *at)).count() == 1;
        let part = chunks(view, *at).is_some_and(|c| c.numbers.iter().all(|n| index.text_of(*n) == "1"));
        (turn || part) && new(index.text_of(right)) && !leaves(view, *at)
    }));
    sort(&mut found);
    let mut done = 0;
    found.retain(|at| {
        let free = index.item(*at).start >= done;
        done = done.max(index.item(*at).end);
        free
    });
    found.into_iter().filter_map(|at| Some(wish(view, at, body_alone(view, at)?))).collect()
}

/// A compound statement's body in its place, comments above it included.
fn body_alone(view: &FileView<'_>, at: Id) -> Option<Change> {
    let f = fields();
    let index = &view.index;
    let text = index.text;
    let block = index.field(at, f.consequence).or_else(|| index.field(at, f.body))?;
    let head = index.field(at, f.condition).or_else(|| index.field(at, f.right))?;
    let first = index.item(block).start;
    let below = text[index.item(head).end..first].contains('\n');
    let from = if below {
        let lines = line_end(text, index.item(head).end);
        lines + text[lines..].find(|c: char| !c.is_whitespace())?
    } else {
        first
    };
    let named = chunks(view, at).zip(index.field(at, f.left)).map_or_else(String::new, |(parts, left)| {
        let whole: Vec<&str> = parts.tensors.iter().map(|t| index.text_of(*t)).collect();
        let (left, whole) = (index.text_of(left), whole.join(", "));
        if left == whole { String::new() } else { format!("{left} = {whole}\n") }
    });
    let body = dedent(&text[from..index.item(at).end].replace("\r\n", "\n"), line_indent(text, first));
    Some(Change::Replace { first: at, last: at, text: named + &body })
}
