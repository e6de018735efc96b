//! What changes while the program trains: the compiled step would go on with the value that it had at first.

use super::slice::{member_of_self, reads};
use super::step::Step;
use super::units::{bindings, binds_in};
use crate::facts::roles::Role;
use crate::tree::{Id, fields, kinds};

/// A value that statements read and that changes from one call of the step to another, unless it comes with the batch.
pub(super) fn changing(step: &Step<'_, '_>, statements: &[Id]) -> Option<Id> {
    let k = kinds();
    let view = step.view;
    let is_fixed = |id: Id| {
        let by_function = view.index.kind(step.body) == k.function_definition && view.binds(step.body, text(step, id));
        by_function
            || matches!(step.input.project.role(view, id), Some(Role::Model))
            || binds_in(view, step.body, text(step, id)) && !counts(step, text(step, id))
    };
    let mut values = statements.iter().flat_map(|s| reads(view, *s)).filter_map(|id| value(step, id));
    values.find(|id| !is_fixed(*id) && changes(step, *id, text(step, *id), 4))
}

/// Whether the loop of the step alters a name at each turn, and nothing in it gives the name a value anew: a counter.
fn counts(step: &Step<'_, '_>, name: &str) -> bool {
    let index = &step.view.index;
    let mut inside = bindings(step.view, name).into_iter().filter(|b| index.is_within(*b, step.body)).peekable();
    inside.peek().is_some() && inside.all(|b| index.kind(b) == kinds().augmented_assignment)
}

fn text<'t>(step: &Step<'_, 't>, id: Id) -> &'t str {
    step.view.index.text_of(id)
}

/// A name, or the member of `self` that it stands for.
fn value(step: &Step<'_, '_>, id: Id) -> Option<Id> {
    if text(step, id) == "self" { member_of_self(step.view, id) } else { Some(id) }
}

/// Whether a name has several values at a place in the course of one training, as far back as `steps` assignments and calls.
fn changes(step: &Step<'_, '_>, at: Id, name: &str, steps: u8) -> bool {
    let (k, f) = (kinds(), fields());
    let (view, index) = (step.view, &step.view.index);
    let Some(steps) = steps.checked_sub(1) else { return false };
    let is_member = name.starts_with("self.");
    let follows = |within: Id| {
        let mut values = reads(view, within).into_iter().filter_map(|id| value(step, id));
        values.any(|id| changes(step, id, text(step, id), steps))
    };
    let made = bindings(view, step.optimizer);
    let makes = |within: Id| made.iter().any(|m| index.is_within(*m, within));
    // Where the optimizer is made in a loop, each turn is a training of its own.
    let is_turn = |id: Id| [k.for_statement, k.while_statement].contains(&index.kind(id)) && !makes(id);
    let owner = index.ancestors(at).find(|a| index.kind(*a) == k.function_definition && view.binds(*a, name));
    let bound = bindings(view, name).into_iter().any(|binding| {
        let function = view.function_of(binding);
        if is_member {
            let late = function.is_none_or(|d| view.name_of(d) != "__init__");
            return late
                && (std::iter::once(binding).chain(index.ancestors(binding)).any(is_turn)
                    || index.kind(binding) == k.augmented_assignment
                    || index.field(binding, f.right).is_some_and(follows));
        }
        function == owner
            && (index.ancestors(at).any(|a| is_turn(a) && index.is_within(binding, a))
                || index.kind(binding) != k.for_statement && index.field(binding, f.right).is_some_and(follows))
    });
    let Some(function) = view.function_of(at).filter(|d| !bound && !is_member && !makes(*d)) else { return bound };
    let calls: Vec<Id> = view.callers(function).collect();
    if owner.is_none() {
        return calls.iter().any(|call| changes(step, *call, name, steps));
    }
    let mut parameters = index.field(function, f.parameters).into_iter().flat_map(|p| index.parts(p));
    let skipped = usize::from(view.class_of(function).is_some());
    let Some(place) =
        parameters.position(|p| index.of_kind_in(k.identifier, p).first().is_some_and(|i| text(step, *i) == name))
    else {
        return false;
    };
    if calls.is_empty() {
        return name == "epoch" || name.ends_with("_epoch");
    }
    calls.iter().filter_map(|call| index.field(*call, f.arguments)).any(|arguments| {
        let named = |a: &Id| index.field(*a, f.name).is_some_and(|n| text(step, n) == name);
        let given = index.parts(arguments).find(named).and_then(|a| index.field(a, f.value));
        let mut by_place = index.parts(arguments).filter(|a| index.kind(*a) != k.keyword_argument);
        given.or_else(|| by_place.nth(place.checked_sub(skipped)?)).is_some_and(follows)
    })
}
