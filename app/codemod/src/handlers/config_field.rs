//! `add-config-field`: the target's fields (`field …` in a guide's front matter) beside the project's compute mode.

use super::{Input, Wish};
use crate::change::Change;
use crate::facts::FileView;
use crate::facts::modes::{ModeKind, Modes};
use crate::tree::{Id, fields, kinds};
use guide::ConfigField;

pub(super) fn run(input: &Input<'_, '_>) -> Vec<Wish> {
    let (Some(view), Some(modes)) = (input.view, &input.project.modes) else { return Vec::new() };
    let missing: Vec<&ConfigField> =
        input.settings.target.fields.iter().filter(|f| !has_field(view, &f.name)).collect();
    let Some((statement, assignment)) = place(view, modes).filter(|_| !missing.is_empty()) else { return Vec::new() };
    let model = view.index.text_of(assignment);
    let lines = missing.iter().map(|f| {
        let default = input.settings.filled(&f.default, &f.annotation);
        field_like(model, &f.name, &f.annotation, &crate::rewrite::requote(&default, view.layout.quote))
    });
    vec![Wish {
        at: view.index.item(statement).start,
        changes: vec![Change::Insert { at: statement, after: true, text: lines.collect::<Vec<_>>().join("\n") }],
        imports: Vec::new(),
    }]
}

/// The field that holds the compute mode, `compute_mode: ComputeMode = …`: its statement and its assignment. An option of
/// a command line gets no field beside it: it is read after torch, and what torch loads, is there.
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

fn has_field(view: &FileView<'_>, name: &str) -> bool {
    let index = &view.index;
    index
        .of_kind(kinds().assignment)
        .iter()
        .any(|a| index.field(*a, fields().left).is_some_and(|l| index.text_of(l) == name))
}

/// The target's fields that the project has, or gets because it has a place for them.
pub(crate) fn known_fields<'v, 't: 'v>(
    wanted: &[ConfigField],
    views: impl Iterator<Item = &'v FileView<'t>> + Clone,
    modes: Option<&Modes>,
    may_add: bool,
) -> Vec<String> {
    let placed = may_add && modes.is_some_and(|m| views.clone().any(|v| place(v, m).is_some()));
    let known = |field: &&ConfigField| placed || views.clone().any(|v| has_field(v, &field.name));
    wanted.iter().filter(known).map(|f| f.name.clone()).collect()
}

/// `lazy_mode: bool = True`, in the columns of the field above.
fn field_like(model: &str, name: &str, annotation: &str, default: &str) -> String {
    let (Some(colon), Some(equals)) = (model.find(':'), model.find('=')) else {
        return format!("{name}: {annotation} = {default}");
    };
    if equals < colon {
        return format!("{name}: {annotation} = {default}");
    }
    let typed = colon + 1 + model[colon + 1..].chars().take_while(|c| *c == ' ').count();
    let aligned = model[colon + 1..typed].len() > 1;
    let first = if aligned { typed.max(name.len() + 2) } else { name.len() + 2 };
    let second = if aligned { equals - typed } else { annotation.len() + 1 };
    format!("{:<first$}{annotation:<second$}= {default}", format!("{name}:"))
}
