//! `add-lazy-switch`: a field beside the compute mode that says whether the run is lazy.

use super::{Input, Wish};
use crate::change::Change;
use crate::facts::FileView;
use crate::facts::modes::{ModeKind, Modes};
use crate::tree::{Id, fields, kinds};

const NAME: &str = "lazy_mode";

pub(super) fn run(input: &Input<'_, '_>) -> Vec<Wish> {
    let (Some(view), Some(modes)) = (input.view, &input.project.modes) else { return Vec::new() };
    if has_switch(view) {
        return Vec::new();
    }
    let Some(place) = place(view, modes) else { return Vec::new() };
    let default = if input.lazy { "True" } else { "False" };
    let index = &view.index;
    let (statement, assignment) = place;
    let text = field_like(index.text_of(assignment), default);
    vec![Wish {
        at: index.item(statement).start,
        changes: vec![Change::Insert { at: statement, after: true, text }],
        imports: Vec::new(),
    }]
}

/// The field that holds the compute mode, `compute_mode: ComputeMode = …`: its statement and its assignment. An option of
/// a command line gets no switch beside it: it is read after torch, and so the bridge, is loaded.
fn place(view: &FileView<'_>, modes: &Modes) -> Option<(Id, Id)> {
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    let names = modes.field_names();
    if let ModeKind::Enum(class) = &modes.kind {
        for &assignment in index.of_kind(k.assignment) {
            let Some(annotation) = index.field(assignment, f.r#type) else { continue };
            let is_mode = index.text_of(annotation).rsplit('.').next() == Some(class);
            let named =
                names.is_empty() || index.field(assignment, f.left).is_some_and(|l| names.contains(&index.text_of(l)));
            let in_class = view.function_of(assignment).is_none() && view.class_of(assignment).is_some();
            if is_mode && named && in_class {
                return view.statement_of(assignment).map(|statement| (statement, assignment));
            }
        }
    }
    None
}

fn has_switch(view: &FileView<'_>) -> bool {
    let index = &view.index;
    index
        .of_kind(kinds().assignment)
        .iter()
        .any(|a| index.field(*a, fields().left).is_some_and(|l| index.text_of(l) == NAME))
}

/// Whether the project has the switch or has a place for it.
pub(crate) fn switch_known<'v, 't: 'v>(
    views: impl Iterator<Item = &'v FileView<'t>>,
    modes: Option<&Modes>,
    may_add: bool,
) -> bool {
    let mut views = views.peekable();
    views.any(|v| has_switch(v) || (may_add && modes.is_some_and(|m| place(v, m).is_some())))
}

/// `lazy_mode: bool = True`, in the columns of the field above.
fn field_like(field: &str, default: &str) -> String {
    let (Some(colon), Some(equals)) = (field.find(':'), field.find('=')) else {
        return format!("{NAME}: bool = {default}");
    };
    if equals < colon {
        return format!("{NAME}: bool = {default}");
    }
    let annotation = colon + 1 + field[colon + 1..].chars().take_while(|c| *c == ' ').count();
    let aligned = field[colon + 1..annotation].len() > 1;
    let first = if aligned { annotation.max(NAME.len() + 2) } else { NAME.len() + 2 };
    let second = if aligned { equals - annotation } else { 5 };
    format!("{:<first$}{:<second$}= {default}", format!("{NAME}:"), "bool")
}
