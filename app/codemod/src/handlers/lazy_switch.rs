//! `add-lazy-switch`: a field or an option beside the compute mode that says whether the run is lazy.

use super::{Input, Wish};
use crate::change::Change;
use crate::facts::FileView;
use crate::facts::modes::{ModeKind, Modes};
use crate::pattern::plain_string;
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
    let (statement, text) = match place {
        Place::Field { statement, assignment } => (statement, field_like(index.text_of(assignment), default)),
        Place::Option { statement, call } => (statement, option_like(view, call, input.lazy)),
    };
    vec![Wish {
        at: index.item(statement).start,
        changes: vec![Change::Insert { at: statement, after: true, text }],
        imports: Vec::new(),
    }]
}

/// Where the switch goes.
enum Place {
    /// A field of a class: `compute_mode: ComputeMode = …`.
    Field { statement: Id, assignment: Id },
    /// `parser.add_argument("--compute-mode", …)`.
    Option { statement: Id, call: Id },
}

fn place(view: &FileView<'_>, modes: &Modes) -> Option<Place> {
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
                return view.statement_of(assignment).map(|statement| Place::Field { statement, assignment });
            }
        }
    }
    for &call in view.calls("add_argument") {
        let Some(first) = index.field(call, f.arguments).and_then(|a| index.parts(a).next()) else { continue };
        let Some(option) = plain_string(index.text, index.item(first).node) else { continue };
        let option = option.trim_start_matches('-').replace('-', "_");
        if names.contains(&option.as_str()) {
            return view.statement_of(call).map(|statement| Place::Option { statement, call });
        }
    }
    None
}

fn has_switch(view: &FileView<'_>) -> bool {
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    index.of_kind(k.assignment).iter().any(|a| index.field(*a, f.left).is_some_and(|l| index.text_of(l) == NAME))
        || view.calls("add_argument").iter().any(|call| {
            index.field(*call, f.arguments).and_then(|a| index.parts(a).next()).is_some_and(|first| {
                let option = plain_string(index.text, index.item(first).node).unwrap_or("");
                option.trim_start_matches('-').replace('-', "_") == NAME
            })
        })
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

fn option_like(view: &FileView<'_>, call: Id, lazy: bool) -> String {
    let index = &view.index;
    let function = index.field(call, fields().function).map_or("parser.add_argument", |f| index.text_of(f));
    let q = view.layout.quote;
    let default = u8::from(lazy);
    format!(
        "{function}({q}--lazy-mode{q}, type=int, choices=[0, 1], default={default}, help={q}1: Gaudi runs lazily{q})"
    )
}
