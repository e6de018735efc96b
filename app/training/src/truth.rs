//! Boolean masks, `labels == 1`, and the functions that return them.

use crate::step::{given, spread};
use crate::view::FileView;
use crate::words::{TRUTH_FUNCTIONS, TRUTH_KEPT};
use python::names::called_name;
use python::tree::{Id, kinds};
use std::collections::BTreeSet;

/// How many expressions are followed, from the inside out and from a name to its value.
pub(crate) const DEPTH: u8 = 6;

/// The results of a file's functions that are masks, each with its place among all: `hard_negatives 0`.
pub(crate) fn returned<'v>(view: &'v FileView<'_>) -> impl Iterator<Item = String> + 'v {
    let index = &view.index;
    index.of_kind(kinds().return_statement).iter().flat_map(move |statement| {
        let name = view.function_of(*statement).map_or("", |function| view.name_of(function));
        let values = index.parts(*statement).next().map_or_else(Vec::new, |value| spread(view, value));
        let places = values.into_iter().enumerate();
        places
            .filter(|(_, value)| holds_truth(view, &BTreeSet::new(), *value, DEPTH))
            .map(move |(at, _)| format!("{name} {at}"))
    })
}

/// The last assignment of a name in its function, before a place that reads it.
pub(crate) fn last_given(view: &FileView<'_>, id: Id) -> Option<Id> {
    let index = &view.index;
    let (name, function) = (index.text_of(id), view.function_of(id));
    let given = index.bindings(name).iter().filter_map(|binding| index.assignment(*binding)).filter(|a| {
        a.targets().into_iter().any(|target| index.is_text(target, name)) && !index.is_within(id, a.id()) && a.id() < id
    });
    let last = given.map(|a| a.id()).filter(|a| view.function_of(*a) == function).last();
    last.filter(|_| index.kind(id) == kinds().identifier)
}

/// What the rest of the file passes to a `forward` under the name of one of its parameters: nothing calls it by its own name.
fn given_to_forward(view: &FileView<'_>, function: Id, name: &str) -> Vec<Id> {
    let index = &view.index;
    let is_parameter = || index.function(function).is_some_and(|f| f.parameters().any(|p| p.name == name));
    if view.name_of(function) != "forward" || view.class_of(function).is_none() || !is_parameter() {
        return Vec::new();
    }
    let passed = view.identifiers(name).iter().copied();
    let passed = passed.filter(|id| index.parent(*id).is_some_and(|p| index.kind(p) == kinds().argument_list));
    passed.filter(|id| view.function_of(*id).is_none_or(|around| view.name_of(around) != "forward")).collect()
}

/// Whether an expression is a boolean mask, as far as its function shows. `masks` are the results of functions that are some.
pub(crate) fn holds_truth(view: &FileView<'_>, masks: &BTreeSet<String>, id: Id, steps: u8) -> bool {
    let k = kinds();
    let index = &view.index;
    let kind = index.kind(id);
    if kind == k.parenthesized_expression {
        return index.parts(id).any(|inner| holds_truth(view, masks, inner, steps));
    }
    let Some(steps) = steps.checked_sub(1) else { return false };
    let follows = |id: Id| holds_truth(view, masks, id, steps);
    if kind == k.conditional_expression {
        return index.parts(id).enumerate().any(|(place, branch)| place != 1 && follows(branch));
    }
    if kind == k.comparison_operator {
        let parts: Vec<Id> = index.parts(id).collect();
        let compares = |pair: &[Id]| matches!(index.between(pair[0], pair[1]), "==" | "!=" | "<" | "<=" | ">" | ">=");
        return parts.windows(2).all(compares) && !parts.iter().any(|p| index.kind(*p) == k.string);
    }
    if kind == k.unary_operator {
        return index.text_of(id).starts_with('~');
    }
    if kind == k.binary_operator {
        return index.parts(id).any(follows);
    }
    if kind == k.subscript {
        return index.parts(id).next().is_some_and(follows);
    }
    if let Some(call) = index.call(id) {
        let name = called_name(index, id).unwrap_or_default();
        let is_bool = |value: Id| view.names.stands_for(index, value, "torch.bool");
        let cast = call.arguments().keyword("dtype").into_iter().chain(call.arguments().positional()).any(is_bool);
        let kept = || TRUTH_KEPT.contains(&name) && call.receiver().is_some_and(follows);
        return call.receiver().is_some() && TRUTH_FUNCTIONS.contains(&name)
            || cast
            || kept()
            || masks.contains(&format!("{name} 0"));
    }
    // A name has the value that was assigned last, or that callers pass.
    let name = index.text_of(id);
    let Some(assignment) = last_given(view, id).and_then(|given| index.assignment(given)) else {
        let passed = view.function_of(id).map_or_else(Vec::new, |function| {
            let passed = given(view, function, name);
            if passed.is_empty() { given_to_forward(view, function, name) } else { passed }
        });
        return kind == k.identifier && passed.into_iter().any(follows);
    };
    let place = assignment.targets().into_iter().position(|target| index.is_text(target, name));
    let result = assignment.value().and_then(|value| called_name(index, value)).zip(place);
    assignment.value_of(name).is_some_and(follows)
        || result.is_some_and(|(called, place)| masks.contains(&format!("{called} {place}")))
}
