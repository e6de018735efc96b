//! What changes while the program trains: a step that is compiled once would go on with the value that it had at first.

use super::TrainingStep;
use super::bindings::{bindings, binds_in};
use super::dataflow::{member_of_self, reads};
use crate::project::FileInProject;
use crate::roles::Role;
use python::PythonFile;
use python::tree::{Id, kinds};

/// Values that statements read and that change from one call of the step to another, unless they come with the batch.
pub(crate) fn changing(step: &TrainingStep<'_, '_>, statements: &[Id]) -> Vec<Id> {
    let k = kinds();
    let file = step.file;
    let is_fixed = |id: Id| {
        let by_function = file.index.kind(step.body) == k.function_definition && file.binds(step.body, text(step, id));
        by_function
            || matches!(file.role(id), Some(Role::Model))
            || binds_in(&file, step.body, text(step, id)) && !counts(step, text(step, id))
    };
    let values = statements.iter().flat_map(|s| reads(&file, *s)).filter_map(|id| value(&file, id));
    values.filter(|id| !is_fixed(*id) && changes(file, step.optimizer, *id, text(step, *id), 4)).collect()
}

/// Whether the loop of the step alters a name at each turn, and nothing in it gives the name a value anew: a counter.
fn counts(step: &TrainingStep<'_, '_>, name: &str) -> bool {
    let index = &step.file.view.index;
    let mut inside = bindings(&step.file, name).into_iter().filter(|b| index.is_within(*b, step.body)).peekable();
    inside.peek().is_some() && inside.all(|b| index.kind(b) == kinds().augmented_assignment)
}

fn text<'t>(step: &TrainingStep<'_, 't>, id: Id) -> &'t str {
    step.file.view.index.text_of(id)
}

/// A name, or the member of `self` that it stands for.
fn value(file: &PythonFile<'_>, id: Id) -> Option<Id> {
    if file.index.is_text(id, "self") { member_of_self(file, id) } else { Some(id) }
}

/// Whether a name has several values at a place in the course of one training by an optimizer, as far back as `steps` assignments
/// and calls.
pub(crate) fn changes(file: FileInProject<'_, '_>, optimizer: &str, at: Id, name: &str, steps: u8) -> bool {
    let k = kinds();
    let index = &file.view.index;
    let Some(steps) = steps.checked_sub(1) else { return false };
    let is_member = name.starts_with("self.");
    let follows = |within: Id| {
        let mut values = reads(&file, within).into_iter().filter_map(|id| value(&file, id));
        values.any(|id| changes(file, optimizer, id, index.text_of(id), steps))
    };
    let made = bindings(&file, optimizer);
    let makes = |within: Id| made.iter().any(|m| index.is_within(*m, within));
    // Where the optimizer is made in a loop, each turn is a training of its own.
    let is_turn = |id: Id| file.index.is_loop(id) && !makes(id);
    let owner = index.ancestors(at).find(|a| index.kind(*a) == k.function_definition && file.binds(*a, name));
    let bound = bindings(&file, name).into_iter().any(|binding| {
        let function = file.function_of(binding);
        if is_member {
            let late = function.is_none_or(|d| file.name_of(d) != "__init__");
            return late
                && (std::iter::once(binding).chain(index.ancestors(binding)).any(is_turn)
                    || index.kind(binding) == k.augmented_assignment
                    || index.source(binding).is_some_and(follows));
        }
        function == owner
            && (index.ancestors(at).any(|a| is_turn(a) && index.is_within(binding, a))
                || index.kind(binding) != k.for_statement && index.source(binding).is_some_and(follows))
    });
    let Some(function) = file.function_of(at).filter(|d| !bound && !is_member && !makes(*d)) else { return bound };
    let calls: Vec<Id> = file.callers(function).collect();
    if owner.is_none() {
        return calls.iter().any(|call| changes(file, optimizer, *call, name, steps));
    }
    if !index.function(function).into_iter().flat_map(|d| d.parameters()).any(|p| p.name == name) {
        return false;
    }
    if calls.is_empty() {
        return is_epoch(name);
    }
    given(&file, function, name).into_iter().any(follows)
}

/// What callers give a parameter of a function of the file, where they do.
pub(crate) fn given(file: &PythonFile<'_>, function: Id, parameter: &str) -> Vec<Id> {
    let index = &file.index;
    let skipped = usize::from(file.class_of(function).is_some());
    let mut parameters = index.function(function).into_iter().flat_map(|d| d.parameters());
    let Some(place) = parameters.position(|p| p.name == parameter) else { return Vec::new() };
    let argument = |call: Id| {
        let arguments = index.arguments(call);
        arguments.keyword(parameter).or_else(|| arguments.positional().nth(place.checked_sub(skipped)?))
    };
    file.callers(function).filter_map(argument).collect()
}

/// Whether a parameter is the number of an epoch by its name.
pub(crate) fn is_epoch(name: &str) -> bool {
    name == "epoch" || name.ends_with("_epoch")
}
