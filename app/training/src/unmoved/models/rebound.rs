//! Which model a name refers to, if a program reuses it for another one.

use super::super::statement;
use crate::project::FileInProject;
use crate::roles::Role;
use crate::step::model_calls;
use python::syntax::Assign;
use python::tree::{Id, kinds};

/// Whether a name may refer to another model at a later place, or to one with new parts.
pub(super) fn is_other(file: FileInProject<'_, '_>, name: &str, from: Id, to: Id) -> bool {
    let (index, k) = (&file.view.index, kinds());
    let scope = file.function_of(to);
    if scope != file.function_of(from) {
        return is_own(file, name, from, to);
    }
    let makes = |id: Id| {
        let assignment = index.parent(id).and_then(|parent| index.assignment(parent));
        assignment.and_then(|a| a.value()).is_some_and(|value| index.kind(value) == k.call)
    };
    let changes = |id: Id| {
        let rest = index.text_of(id).strip_prefix(name);
        rest.is_some_and(|rest| rest.is_empty() || (rest.starts_with('.') && makes(id))) && index.is_stored(id)
    };
    let nodes = index.of_kind(k.identifier).iter().chain(index.of_kind(k.attribute)).copied();
    nodes.filter(|id| (from..to).contains(id)).any(|id| changes(id) && file.function_of(id) == scope)
}

/// Whether some function around a place, but not around an earlier one, has the name as a parameter or assigns it.
fn is_own(file: FileInProject<'_, '_>, name: &str, from: Id, to: Id) -> bool {
    let index = &file.view.index;
    let functions = index.ancestors(to).filter(|a| index.kind(*a) == kinds().function_definition);
    functions.into_iter().any(|function| !index.is_within(from, function) && file.binds(function, name))
}

/// Whether a value that is assigned to a name is moved with the name: an optimizer receives it, here or in a function
/// to which it is passed. The same applies to a value that may not be a model, if the name is one elsewhere.
pub(super) fn is_given(file: FileInProject<'_, '_>, made: Assign<'_, '_>, name: &str, given: &[(Id, String)]) -> bool {
    let index = &file.view.index;
    let mut same = given.iter().filter(|(_, known)| known == name).map(|(call, _)| *call).peekable();
    if same.peek().is_none() {
        return false;
    }
    let scope = file.function_of(made.id());
    let is_read = |value: Id| index.mentions(value, |word| word == name);
    let is_called = || {
        let is_here = |call: Id| file.function_of(call) == scope;
        model_calls(file).any(|call| is_here(call) && index.callee(call).is_some_and(|c| index.is_text(c, name)))
    };
    let is_model = |value: Id| file.role(value) == Some(Role::Model) || is_called();
    name.contains('.')
        || made.value().is_none_or(|value| is_read(value) || !is_model(value))
        || same.any(|call| reaches(file, made, name, call) || is_handed(file, made, name, call))
}

/// Whether a name at an optimizer's call may have the value of an assignment.
fn reaches(file: FileInProject<'_, '_>, made: Assign<'_, '_>, name: &str, call: Id) -> bool {
    let index = &file.view.index;
    let scope = file.function_of(made.id());
    if scope != file.function_of(call) {
        return scope.is_none_or(|s| index.is_within(call, s)) && !is_own(file, name, made.id(), call);
    }
    // An assignment inside an `if` may not be executed at all.
    let is_certain = |id: Id| {
        let block = statement(file, id).and_then(|s| index.parent(s));
        block.is_some_and(|block| index.is_within(call, block))
    };
    let renews = |a: &Assign<'_, '_>| {
        let is_fresh = a.value().is_some_and(|value| !index.mentions(value, |word| word == name));
        is_fresh && file.function_of(a.id()) == scope && is_certain(a.id())
    };
    made.id() < call && !index.assignments_to(name).any(|a| made.id() < a.id() && a.id() < call && renews(&a))
}

/// Whether a function that creates an optimizer receives the value of an assignment.
fn is_handed(file: FileInProject<'_, '_>, made: Assign<'_, '_>, name: &str, call: Id) -> bool {
    let index = &file.view.index;
    let scope = file.function_of(made.id());
    file.function_of(call).is_some_and(|function| {
        let calls = file.calls(file.name_of(function)).iter();
        calls.copied().any(|c| {
            made.id() < c && file.function_of(c) == scope && index.arguments(c).ids().any(|id| index.is_text(id, name))
        })
    })
}
