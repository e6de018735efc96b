//! What a port leaves of a test that always holds and of a loop with one turn: their statements, without them.

use super::{Input, Wish, loop_of, wish};
use crate::change::{Change, dedent, line_end};
use crate::facts::{FileView, line_indent};
use crate::order::sort;
use crate::tree::{Id, fields, kinds};

/// Takes statements out of `if True:` and `for _ in range(1):` that the original does not have.
pub(super) fn settle(input: &Input<'_, '_>, view: &FileView<'_>) -> Vec<Wish> {
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    let mut found: Vec<Id> = Vec::new();
    if !input.original.contains("if True:") {
        found.extend(index.of_kind(k.if_statement).iter().copied().filter(|at| {
            let holds = index.field(*at, f.condition).is_some_and(|c| index.text_of(c) == "True");
            holds && index.field(*at, f.alternative).is_none()
        }));
    }
    if !input.original.contains("range(1):") {
        found.extend(index.of_kind(k.for_statement).iter().copied().filter(|at| {
            let once = index.field(*at, f.right).is_some_and(|r| index.text_of(r) == "range(1)");
            let name = index.field(*at, f.left).map_or("", |l| index.text_of(l));
            once && index.field(*at, f.alternative).is_none()
                && view.identifiers(name).iter().filter(|id| index.is_within(**id, *at)).count() == 1
                && ![k.break_statement, k.continue_statement]
                    .iter()
                    .flat_map(|kind| index.of_kind_in(*kind, *at))
                    .any(|id| loop_of(view, *id) == Some(*at))
        }));
    }
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
    let body = dedent(&text[from..index.item(at).end].replace("\r\n", "\n"), line_indent(text, first));
    Some(Change::Replace { first: at, last: at, text: body })
}
