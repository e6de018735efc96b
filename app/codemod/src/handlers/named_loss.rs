//! A loss that is computed and differentiated in one expression, `criterion(net(x), y).backward()`: it gets a name first, so
//! that the step reads as forward pass, loss, backward pass. That is only done if the step is ported then: a step that is
//! refused keeps its lines.

use super::{Input, Wish};
use crate::change::{Change, dedent, splices};
use crate::facts::{FileView, line_indent};
use crate::names::{called_name, dotted};
use crate::tree::{Id, Tree, fields, kinds};
use std::ops::Range;

/// Why a step can't be ported, and where in the file.
pub(super) struct Reason {
    pub(super) at: usize,
    pub(super) text: String,
}

/// Gives the loss of a step its name, if `refused` has nothing against the step as it reads then. None where the loss has a
/// name, and in a project with compute modes, whose other modes keep their code.
pub(super) fn name_loss(
    input: &Input<'_, '_>,
    view: &FileView<'_>,
    step: Id,
    refused: &dyn Fn(&Input<'_, '_>, &FileView<'_>) -> Option<Reason>,
) -> Option<Result<Wish, Reason>> {
    if input.project.modes.is_some() {
        return None;
    }
    let (statement, loss) = unnamed(view, step)?;
    let index = &view.index;
    let mut bracketed = loss;
    while let Some(outer) = index.parent(bracketed).filter(|p| index.kind(*p) == kinds().parenthesized_expression) {
        bracketed = outer;
    }
    let (whole, part) = (index.range(statement), index.range(bracketed));
    // Brackets that hold lines together stay.
    let given = if index.text_of(bracketed).contains('\n') { part.clone() } else { index.range(loss) };
    let name = free_name(view);
    let plain =
        |range: Range<usize>| dedent(&index.text[range].replace("\r\n", "\n"), line_indent(index.text, whole.start));
    let rest = [whole.start..part.start, part.end..whole.end].map(plain).join(&name);
    let text = format!("{name} = {}\n{rest}", plain(given));
    let change = Change::Replace { first: statement, last: statement, text };
    let mut named = index.text.to_owned();
    let mut length = 0;
    for splice in splices(view, &change) {
        length = splice.text.len();
        named.replace_range(splice.range, &splice.text);
    }
    let tree = Tree::parse(&named);
    let then = FileView::read(view.path, &tree);
    let input = Input { text: &named, view: Some(&then), ..*input };
    let reason = if tree.has_error() { return None } else { refused(&input, &then) };
    Some(match reason {
        None => Ok(Wish { at: whole.start, changes: vec![change], imports: Vec::new() }),
        Some(Reason { at, text }) => {
            // Behind the statement everything has moved.
            let at = if at >= whole.start + length { at - length + whole.len() } else { at.min(whole.start) };
            Err(Reason { at, text })
        }
    })
}

/// The statement of the step's one `backward()`, and the loss in it, where that is an expression.
fn unnamed(view: &FileView<'_>, step: Id) -> Option<(Id, Id)> {
    let index = &view.index;
    let mut calls = view.calls("backward").iter().copied().filter(|c| index.is_within(*c, step));
    let call = calls.next().filter(|_| calls.next().is_none())?;
    let loss = loss_of(view, call);
    let statement = index.parent(call).filter(|s| index.kind(*s) == kinds().expression_statement)?;
    (loss != call && dotted(index, loss).is_none()).then_some((statement, loss))
}

/// The expression that `backward()` is called on, without a scaler around it.
pub(super) fn loss_of(view: &FileView<'_>, backward: Id) -> Id {
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    let object = index.field(backward, f.function).and_then(|g| index.field(g, f.object)).unwrap_or(backward);
    let scaled = (index.kind(object) == k.call && called_name(index, object) == Some("scale"))
        .then(|| index.field(object, f.arguments).and_then(|a| index.parts(a).next()))
        .flatten()
        .unwrap_or(object);
    let mut inner = scaled;
    while index.kind(inner) == k.parenthesized_expression {
        inner = index.parts(inner).next().unwrap_or(inner);
    }
    inner
}

/// `loss`, or what else the file does not say.
fn free_name(view: &FileView<'_>) -> String {
    let numbered = (2..).map(|n| format!("step_loss{n}"));
    let names = ["loss", "step_loss"].map(str::to_owned).into_iter().chain(numbered);
    names.into_iter().find(|name| !view.has_word(name)).unwrap_or_default()
}
