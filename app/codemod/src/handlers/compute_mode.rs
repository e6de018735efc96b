//! `add-compute-mode`: a member for the target in the enum of compute modes, a value among the choices of an option.

use super::{Input, Wish};
use python::edit::Change;
use training::FileView;
use training::modes::{ModeKind, Modes, enum_members, free_value};

pub(super) fn run(input: &Input<'_, '_>) -> Vec<Wish> {
    let (Some(view), Some(modes)) = (input.view, &input.project.modes) else { return Vec::new() };
    match &modes.kind {
        ModeKind::Enum(_) => member(view, modes, input.settings.target.number).into_iter().collect(),
        ModeKind::Switch(_) => Vec::new(),
        ModeKind::Strings => modes.choices(view).map(|last| choice(view, modes, last)).collect(),
    }
}

/// A member aligned with the last one, with a value of the same kind as the others.
fn member(view: &FileView<'_>, modes: &Modes, usual: Option<i64>) -> Option<Wish> {
    let index = &view.index;
    let members = enum_members(view, modes.enum_in(view)?);
    let (last, assignment) = members.last()?;
    if members.iter().any(|(name, _)| name.eq_ignore_ascii_case(&modes.target)) {
        return None;
    }
    let values: Vec<&str> =
        members.iter().filter_map(|(_, a)| index.sides(*a)).map(|(_, value)| index.text_of(value)).collect();
    let blanks = index.text_of(*assignment)[last.len()..].chars().take_while(|c| *c == ' ').count();
    let width = last.len() + blanks;
    let text = format!("{:<width$}= {}", modes.target, free_value(&values, &modes.target, usual));
    let statement = view.statement_of(*assignment)?;
    Some(Wish::new(view, *assignment, vec![Change::Insert { at: statement, after: true, text }]))
}

/// One more choice after the last.
fn choice(view: &FileView<'_>, modes: &Modes, last: python::Id) -> Wish {
    let end = view.index.item(last).end;
    let quote = view.index.text_of(last).chars().next().unwrap_or('"');
    let text = format!(", {quote}{}{quote}", modes.target);
    Wish::new(view, last, vec![Change::Raw { range: end..end, text }])
}
