//! Python numbers in the loss that change during training: a weight that is warmed up, a temperature.

use super::TrainingStep;
use super::bindings::bindings;
use super::callers::{given, is_epoch};
use crate::project::FileInProject;
use python::names::called_name;
use python::tree::{Id, kinds};

/// The whole arithmetic expression on numbers that contains a changing value, if a tensor can replace it:
/// `min(1, epoch / 5)` of `min(1, epoch / 5) * penalty`. None if it is not a number, or decides something.
pub(crate) fn number(step: &TrainingStep<'_, '_>, value: Id) -> Option<Id> {
    let k = kinds();
    let index = &step.file.view.index;
    let mut whole = Some(value).filter(|id| is_number(step.file, *id, 5))?;
    for around in index.ancestors(value) {
        if index.kind(around) != k.argument_list && !is_number(step.file, around, 5) {
            break;
        }
        whole = if index.kind(around) == k.argument_list { whole } else { around };
    }
    // `loss + weight * penalty`, as a statement or as what one assigns.
    let mut inside = whole;
    for around in index.ancestors(whole) {
        let kind = index.kind(around);
        if [k.assignment, k.augmented_assignment].contains(&kind) {
            let is_value = index.source(around) == Some(inside);
            return (is_value && index.parent(around).is_some_and(|s| step.before.contains(&s))).then_some(whole);
        }
        // The result of arithmetic with a tensor can be passed to anything.
        let asks_size = || ["shape", "size("].iter().any(|word| index.text_of(around).contains(word));
        if kind == k.binary_operator
            && index.ancestors(around).any(|a| index.kind(a) == k.argument_list)
            && !asks_size()
        {
            return Some(whole);
        }
        if kind != k.binary_operator && kind != k.parenthesized_expression {
            return None;
        }
        inside = around;
    }
    None
}

/// Whether an expression is a Python number wherever its value is assigned, following up to `steps` assignments and
/// calls.
pub(crate) fn is_number(file: FileInProject<'_, '_>, id: Id, steps: u8) -> bool {
    let k = kinds();
    let index = &file.view.index;
    let Some(steps) = steps.checked_sub(1) else { return false };
    let follows = |id: Id| is_number(file, id, steps);
    let kind = index.kind(id);
    if [k.integer, k.float].contains(&kind) {
        return true;
    }
    if [k.binary_operator, k.parenthesized_expression, k.unary_operator].contains(&kind) {
        return index.parts(id).all(follows);
    }
    if let Some(call) = index.call(id) {
        let of_numbers = matches!(called_name(index, id), Some("min" | "max" | "abs" | "float" | "int" | "round"))
            || call.qualified(&file.names).is_some_and(|name| name.starts_with("math."));
        // `x.float()` of a tensor is a tensor of a different type.
        let on_number = |of: Id| file.names.by_import(index.text_of(of)) || follows(of);
        let mut arguments = call.arguments().ids();
        return called_name(index, id) == Some("len")
            || of_numbers && index.receiver(id).is_none_or(on_number) && arguments.all(follows);
    }
    if ![k.identifier, k.attribute].contains(&kind) {
        return false;
    }
    let name = index.text_of(id);
    let from_binding = |binding: Id| match index.for_statement(binding) {
        Some(_) => is_counter(file, binding, name),
        None => index.source(binding).is_some_and(|right| index.is_within(id, right) || follows(right)),
    };
    let bound: Vec<Id> = bindings(&file, name)
        .into_iter()
        .filter(|b| !index.is_within(id, *b) || index.for_statement(*b).is_some())
        .collect();
    let function = index.ancestors(id).find(|a| index.kind(*a) == k.function_definition && file.binds(*a, name));
    let parameter =
        function.filter(|d| index.function(*d).into_iter().flat_map(|d| d.parameters()).any(|p| p.name == name));
    match parameter {
        Some(function) => {
            let values = given(&file, function, name);
            if values.is_empty() { is_epoch(name) } else { values.into_iter().all(follows) }
        }
        None => !bound.is_empty() && bound.into_iter().all(from_binding),
    }
}

/// Whether a loop assigns Python numbers to a name: `n` of `for n, (x, y) in enumerate(loader)`, `t` of
/// `for t in tqdm(range(9))`.
pub(crate) fn is_counter(file: FileInProject<'_, '_>, around: Id, name: &str) -> bool {
    let index = &file.view.index;
    let gives = |around: Id| Some((index.target(around)?, index.source(around)?));
    gives(around).is_some_and(|(target, source)| gives_numbers(file, target, source, name))
}

fn gives_numbers(file: FileInProject<'_, '_>, target: Id, source: Id, name: &str) -> bool {
    let (index, k) = (&file.view.index, kinds());
    if [k.list, k.tuple].contains(&index.kind(source)) {
        return index.is_text(target, name) && index.parts(source).all(|part| is_number(file, part, 1));
    }
    let targets = || index.parts(target).filter(|part| index.kind(*part) != k.comment);
    let sources: Vec<Id> = index.arguments(source).positional().collect();
    let holds = |target: Id| index.is_text(target, name) || index.mentions(target, |word| word == name);
    match called_name(index, source) {
        Some("range" | "trange") => index.is_text(target, name),
        Some("enumerate") => match (targets().next(), targets().nth(1), sources.first()) {
            (Some(counter), ..) if index.is_text(counter, name) => true,
            (_, Some(target), Some(source)) => gives_numbers(file, target, *source, name),
            _ => false,
        },
        Some("zip") => {
            targets().zip(sources).any(|(target, source)| holds(target) && gives_numbers(file, target, source, name))
        }
        // `reversed(range(9))`, `tqdm(enumerate(loader))`: the same values, in another order or with a bar.
        Some("reversed" | "list" | "sorted" | "tqdm") => {
            sources.first().is_some_and(|source| gives_numbers(file, target, *source, name))
        }
        _ => false,
    }
}
