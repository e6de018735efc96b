//! Models: each is moved before an optimizer receives its parameters, or after the line that creates it.

mod rebound;

use self::rebound::{is_given, is_other};
use super::scope::{forwards, traces};
use super::{Moves, add, is_call_of, is_moved, statement};
use crate::project::FileInProject;
use crate::roles::Role;
use crate::step::{is_model_call, model_calls, optimizers_made};
use python::names::dotted;
use python::tree::{Id, kinds};

pub(super) fn read(file: FileInProject<'_, '_>, moves: &mut Moves) {
    let index = &file.view.index;
    let mut given: Vec<(Id, String)> = Vec::new();
    for made in optimizers_made(file.view) {
        let scope = file.function_of(made.call);
        let Some(owners) = owners(file, made.call) else {
            moves.unknown_models.push(made.call);
            continue;
        };
        for owner in owners {
            let Some(name) = model_of(file, owner).filter(|n| !is_bound_inside(file, owner, n)).map(str::to_owned)
            else {
                moves.unknown_models.push(made.call);
                continue;
            };
            given.push((made.call, name.clone()));
            let Some(at) = before(file, made.call, &name).filter(|_| !is_moved(file, scope, &name)) else { continue };
            let covers = |m: &super::Move| {
                let block = index.parent(m.at);
                m.names.contains(&name)
                    && m.at <= at
                    && block.is_some_and(|block| index.is_within(at, block))
                    && !is_other(file, &name, m.at, at)
            };
            if !moves.models.iter().any(covers) {
                add(&mut moves.models, at, false, [name]);
            }
        }
    }
    // A model that no optimizer updates: a teacher, a network whose features a loss compares.
    for call in forwards(file).filter(|call| !traces(file, *call)) {
        // `net(image)`, or a method of it: `net.encode(image)`.
        let model = if is_model_call(file, call) { index.callee(call) } else { index.receiver(call) };
        let Some(name) = model.and_then(|model| dotted(index, model)) else { continue };
        let is_part = given.iter().any(|(_, known)| name.starts_with(&format!("{known}.")));
        if is_part || is_made_elsewhere(file, name) {
            continue;
        }
        let assigned = || index.assignments_to(name);
        let here = file.function_of(call);
        let is_local = assigned().any(|a| file.function_of(a.id()) == here);
        for assignment in assigned() {
            let makes = assignment.value().is_some_and(|value| index.kind(value) == kinds().call);
            let scope = file.function_of(assignment.id());
            if is_local && scope != here {
                continue;
            }
            let is_left = || makes && !is_moved(file, scope, name) && !is_given(file, assignment, name, &given);
            let Some(at) = statement(file, assignment.id()).filter(|_| is_left()) else { continue };
            add(&mut moves.models, at, true, [name.to_owned()]);
        }
    }
}

/// Whether an optimizer of another file may receive the model: it is an attribute that this file does not create.
fn is_made_elsewhere(file: FileInProject<'_, '_>, name: &str) -> bool {
    !file.assigns(name)
}

/// The models whose parameters an optimizer receives: the receivers of `parameters()` in its arguments, or in the value
/// of a name among them.
fn owners(file: FileInProject<'_, '_>, made: Id) -> Option<Vec<Id>> {
    let index = &file.view.index;
    let within = |node: Id| -> Vec<Id> {
        let calls = index.of_kind_in(kinds().call, node).iter().copied();
        calls
            .filter(|call| is_call_of(file, *call, &["parameters", "named_parameters"]))
            .filter_map(|call| index.receiver(call))
            .collect()
    };
    let direct = within(made);
    if !direct.is_empty() {
        return Some(direct);
    }
    let given = index.arguments(made).get(0, "params").filter(|given| dotted(index, *given).is_some())?;
    let scope = file.function_of(made);
    let values = index.assignments_to(index.text_of(given)).filter(|a| file.function_of(a.id()) == scope);
    let named: Vec<Id> = values.filter_map(|a| a.value()).flat_map(within).collect();
    (!named.is_empty()).then_some(named)
}

/// Whether a comprehension around a node binds its name.
fn is_bound_inside(file: FileInProject<'_, '_>, node: Id, name: &str) -> bool {
    let (index, k) = (&file.view.index, kinds());
    let binds = |clause: Id| {
        index.kind(clause) == k.for_in_clause
            && index.target(clause).is_some_and(|target| index.mentions(target, |n| n == name))
    };
    index.ancestors(node).any(|around| index.children(around).any(binds))
}

/// The model in a dotted name such as `self.net.encoder`: the first part that is one, otherwise all of it.
fn model_of<'t>(file: FileInProject<'_, 't>, owner: Id) -> Option<&'t str> {
    let index = &file.view.index;
    dotted(index, owner)?;
    let mut parts = vec![owner];
    while let Some(inner) =
        index.owner(*parts.last()?).filter(|_| index.kind(parts[parts.len() - 1]) == kinds().attribute)
    {
        parts.push(inner);
    }
    let model = parts.iter().rev().find(|part| file.role(**part) == Some(Role::Model)).copied().unwrap_or(owner);
    Some(index.text_of(model))
}

/// The statement before which a model is moved: its first call, if that is before the optimizer.
fn before(file: FileInProject<'_, '_>, made: Id, name: &str) -> Option<Id> {
    let index = &file.view.index;
    let at = before_optimizer(file, made, name)?;
    let block = index.parent(at)?;
    let is_early = |call: &Id| {
        *call < at
            && index.is_within(*call, block)
            && index.callee(*call).is_some_and(|callee| index.is_text(callee, name))
    };
    let scope = file.function_of(made);
    let first = model_calls(file).filter(|call| is_early(call) && file.function_of(*call) == scope).min();
    let earlier = first.and_then(|call| index.parts(block).find(|s| index.is_within(call, *s)));
    Some(earlier.filter(|s| !is_other(file, name, *s, at)).unwrap_or(at))
}

/// The statement of the optimizer, or the outermost choice around it that does not create the model itself.
fn before_optimizer(file: FileInProject<'_, '_>, made: Id, name: &str) -> Option<Id> {
    let (index, k) = (&file.view.index, kinds());
    let scope = file.function_of(made);
    let makes = |around: Id| index.assignments_to(name).any(|a| index.is_within(a.id(), around));
    let around = index.ancestors(made).take_while(|a| Some(*a) != scope).collect::<Vec<_>>();
    let choices = around.into_iter().filter(|a| index.kind(*a) == k.if_statement && !makes(*a));
    // A choice such as the test for `__main__` contains the whole program, including the lines that create the model.
    choices.last().or_else(|| statement(file, made))
}
