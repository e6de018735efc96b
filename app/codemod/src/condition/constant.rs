//! The literal value of a name.

use python::tree::{Id, kinds};
use training::FileView;

/// The string or number that is a name's value.
pub(super) fn constant(view: &FileView<'_>, name: Id) -> Option<Id> {
    let k = kinds();
    assigned(view, name).filter(|v| [k.string, k.integer].contains(&view.index.kind(*v)))
}

/// The value of a name, if its scope assigns it nothing else and always executes that assignment first.
pub(super) fn assigned(view: &FileView<'_>, name: Id) -> Option<Id> {
    let (k, index) = (kinds(), &view.index);
    let text = Some(name).filter(|id| index.kind(*id) == k.identifier).map(|id| index.text_of(id))?;
    let scope = view.function_of(name).filter(|f| view.binds(*f, text));
    let mut given = index.assignments_to(text).filter(|a| view.function_of(a.id()) == scope);
    let first = given.next().filter(|_| given.next().is_none())?;
    let block = view.statement_of(first.id()).and_then(|statement| index.parent(statement))?;
    first.value().filter(|_| index.is_within(name, block) && first.id() < name)
}

/// The possible values of an argument, or of a name that nothing else reads: a literal, or the branches of a choice.
pub(super) fn values(view: &FileView<'_>, value: Id) -> Vec<Id> {
    let (k, index) = (kinds(), &view.index);
    let sole = |given: &Id| {
        let scope = view.function_of(*given);
        let is_module = |id: Id| index.parent(id).is_some_and(|p| index.kind(p) == k.dotted_name);
        let mut uses =
            view.identifiers(index.text_of(value)).iter().filter(|id| !index.is_label(**id) && !is_module(**id));
        uses.all(|id| {
            *id == value || view.statement_of(*id) == view.statement_of(*given) && view.function_of(*id) == scope
        })
    };
    let given = assigned(view, value).filter(sole).unwrap_or(value);
    let is_literal = [k.string, k.integer].contains(&index.kind(given));
    match branches(view, given) {
        all if is_literal || all.len() > 1 => all,
        _ => vec![value],
    }
}

/// The branches of a choice, through parentheses and choices in it; another value itself.
fn branches(view: &FileView<'_>, value: Id) -> Vec<Id> {
    let (k, index) = (kinds(), &view.index);
    let kind = index.kind(value);
    let mut parts = index.parts(value);
    if kind == k.parenthesized_expression
        && let Some(inner) = parts.next()
    {
        let all = branches(view, inner);
        return if all.len() > 1 { all } else { vec![value] };
    }
    match parts.collect::<Vec<_>>()[..] {
        [one, _, other] if kind == k.conditional_expression => [branches(view, one), branches(view, other)].concat(),
        _ => vec![value],
    }
}
