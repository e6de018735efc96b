//! `add-config-field`: the target's fields (`[field.NAME]` in a guide's front matter) next to the compute mode.

use super::{Input, Wish};
use python::edit::Change;
use python::strings::requote;
use python::tree::Id;
use training::{FileView, ProjectFacts};

pub(super) fn run(input: &Input<'_, '_>) -> Vec<Wish> {
    let (Some(view), Some(modes)) = (input.view, &input.project.modes) else { return Vec::new() };
    let Some(above) = modes.field(view) else { return Vec::new() };
    let missing = input.settings.target.fields.iter().filter(|f| !view.assigns(&f.name));
    let lines: Vec<String> = missing
        .map(|f| {
            let default = input.settings.filled(&f.default, &f.annotation);
            in_columns(view.index.text_of(above), &f.name, &f.annotation, &requote(&default, view.layout.quote))
        })
        .collect();
    let statement = view.statement_of(behind(view, input.project, above)).filter(|_| !lines.is_empty());
    let wish = |at| Wish::new(view, at, vec![Change::Insert { at, after: true, text: lines.join("\n") }]);
    statement.map(wish).into_iter().collect()
}

/// The field after which others can be added: this one, or the last of its class if a call uses positional arguments, so that their
/// positions do not change.
fn behind(view: &FileView<'_>, project: &ProjectFacts<'_, '_>, above: Id) -> Id {
    let class = view.class_of(above);
    let is_own = |id: Id| view.function_of(id).is_none() && view.class_of(id) == class;
    let fields: Vec<Id> =
        view.index.assignments().filter(|a| a.annotation().is_some() && is_own(a.id())).map(|a| a.id()).collect();
    let before = fields.iter().take_while(|field| **field != above).count();
    let is_moved = class.is_some_and(|class| project.gives_by_place(view.name_of(class), before + 1));
    fields.last().copied().filter(|_| is_moved).unwrap_or(above)
}

/// `lazy_mode: bool = True`, aligned with the field above.
fn in_columns(above: &str, name: &str, annotation: &str, default: &str) -> String {
    let columns = above.find(':').zip(above.find('=')).filter(|(colon, equals)| colon < equals);
    let Some((colon, equals)) = columns else { return format!("{name}: {annotation} = {default}") };
    let blanks = above[colon + 1..].chars().take_while(|c| *c == ' ').count();
    let typed = colon + 1 + blanks;
    let (first, second) = match blanks > 1 {
        true => (typed.max(name.len() + 2), equals - typed),
        false => (name.len() + 2, annotation.len() + 1),
    };
    format!("{:<first$}{annotation:<second$}= {default}", format!("{name}:"))
}
