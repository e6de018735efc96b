//! Automatic mixed precision, which the target has no use for.

use super::{Input, Wish, is_reached, wish};
use crate::change::{Change, dedent};
use crate::facts::{FileView, line_indent};
use crate::tree::{Id, ROOT, fields, kinds};

/// Mixed precision in a step: branches that go, and statements that come out of their `with`.
#[derive(Default)]
pub(super) struct MixedPrecision {
    pub(super) dead: Vec<Id>,
    pub(super) simplified: Vec<Id>,
    pub(super) unwrapped: Vec<(Id, Id)>,
}

pub(super) fn mixed_precision(view: &FileView<'_>, step: Id, input: &Input<'_, '_>) -> MixedPrecision {
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    let mut out = MixedPrecision::default();
    let scales = |id: Id| {
        let text = index.text_of(id);
        text.contains("autocast(") || text.contains(".scale(") || text.contains("scaler.step(")
    };
    for &test in index.of_kind_in(k.if_statement, step) {
        let otherwise = index
            .children(test)
            .filter(|c| [k.elif_clause, k.else_clause].contains(&index.kind(*c)))
            .collect::<Vec<_>>();
        let ([other], Some(body)) = (otherwise.as_slice(), index.field(test, f.consequence)) else { continue };
        let Some(else_body) = index.field(*other, f.body).filter(|_| index.kind(*other) == k.else_clause) else {
            continue;
        };
        let inside = out.dead.iter().any(|d| index.is_within(test, *d));
        if !inside && is_reached(input, view, body) && scales(body) && !scales(else_body) {
            out.dead.push(body);
            out.simplified.push(test);
            out.unwrapped.push((test, else_body));
        }
    }
    // In a script for this target alone, validation has no use for it either.
    let scope = if input.project.modes.is_none() { ROOT } else { step };
    for &with in index.of_kind_in(k.with_statement, scope) {
        let context = index.children(with).find(|c| index.kind(*c) == k.with_clause);
        let only = context.is_some_and(|c| index.parts(c).count() == 1 && index.text_of(c).contains("autocast"));
        let inside = out.unwrapped.iter().any(|(w, _)| index.is_within(with, *w));
        if let (true, false, true, Some(body)) =
            (only, inside, is_reached(input, view, with), index.field(with, f.body))
        {
            out.unwrapped.push((with, body));
        }
    }
    out
}

impl MixedPrecision {
    pub(super) fn wishes(&self, view: &FileView<'_>) -> Vec<Wish> {
        let index = &view.index;
        self.unwrapped
            .iter()
            .map(|(whole, body)| {
                let start = index.item(*body).start;
                let text = dedent(&index.text_of(*body).replace("\r\n", "\n"), line_indent(index.text, start));
                wish(view, *whole, Change::Replace { first: *whole, last: *whole, text })
            })
            .collect()
    }
}
