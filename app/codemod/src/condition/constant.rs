//! The literal value of a name.

use python::tree::{Id, kinds};
use training::FileView;

/// The string or number that is a name's value, if its scope assigns it nothing else and always executes that
/// assignment first.
pub(super) fn constant(view: &FileView<'_>, name: Id) -> Option<Id> {
    let (k, index) = (kinds(), &view.index);
    let text = Some(name).filter(|id| index.kind(*id) == k.identifier).map(|id| index.text_of(id))?;
    let scope = view.function_of(name).filter(|f| view.binds(*f, text));
    let mut given = index.assignments().filter(|a| a.assigns(text) && view.function_of(a.id()) == scope);
    let first = given.next().filter(|_| given.next().is_none())?;
    let block = view.statement_of(first.id()).and_then(|statement| index.parent(statement))?;
    let value = first.value().filter(|v| [k.string, k.integer].contains(&index.kind(*v)))?;
    (index.is_within(name, block) && first.id() < name).then_some(value)
}

/// The possible values of an argument: the branches of a choice, and the literal value of a name that nothing else
/// reads.
pub(super) fn values(view: &FileView<'_>, value: Id) -> Vec<Id> {
    let (k, index) = (kinds(), &view.index);
    if index.kind(value) == k.conditional_expression {
        let parts: Vec<Id> = index.parts(value).collect();
        return parts.first().into_iter().chain(parts.get(2)).copied().collect();
    }
    let sole = |literal: &Id| {
        let scope = view.function_of(*literal);
        let mut uses = view.identifiers(index.text_of(value)).iter().filter(|id| !index.is_label(**id));
        uses.all(|id| {
            *id == value || view.statement_of(*id) == view.statement_of(*literal) && view.function_of(*id) == scope
        })
    };
    vec![constant(view, value).filter(sole).unwrap_or(value)]
}
