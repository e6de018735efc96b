//! Boolean masks as indices, `x[labels == 1]`: the number of selected elements depends on values.

use python::names::called_name;
use python::tree::{Id, fields, kinds};
use training::FileView;
use training::words::TRUTH_FUNCTIONS;
use training::words::TRUTH_KEPT;

/// All those in a file.
pub(super) fn masks(view: &FileView<'_>) -> Vec<Id> {
    let index = &view.index;
    let parts = index.of_kind(kinds().subscript).iter().flat_map(|s| index.parts(*s));
    parts.filter(|part| is_mask(view, *part)).collect()
}

/// Whether a node is an index, is read, and is a boolean mask as far as its function shows.
pub(super) fn is_mask(view: &FileView<'_>, id: Id) -> bool {
    let k = kinds();
    let index = &view.index;
    let subscript = index.parent(id).filter(|p| index.kind(*p) == k.subscript);
    // `x[mask] = 0` keeps the shape of `x`.
    let is_read =
        |s: Id| !index.is_stored(s) || index.parent(s).is_some_and(|p| index.kind(p) == k.augmented_assignment);
    let of_list =
        |s: Id| index.value(s).is_some_and(|value| [k.list, k.tuple, k.dictionary].contains(&index.kind(value)));
    index.item(id).field == fields().subscript
        && subscript.is_some_and(|s| is_read(s) && !of_list(s))
        && holds_truth(view, id, 4)
}

fn holds_truth(view: &FileView<'_>, id: Id, steps: u8) -> bool {
    let k = kinds();
    let index = &view.index;
    let Some(steps) = steps.checked_sub(1) else { return false };
    let follows = |id: Id| holds_truth(view, id, steps);
    let kind = index.kind(id);
    if kind == k.comparison_operator {
        let parts: Vec<Id> = index.parts(id).collect();
        let compares = |pair: &[Id]| matches!(index.between(pair[0], pair[1]), "==" | "!=" | "<" | "<=" | ">" | ">=");
        return parts.windows(2).all(compares) && !parts.iter().any(|p| index.kind(*p) == k.string);
    }
    if kind == k.unary_operator {
        return index.text_of(id).starts_with('~');
    }
    if [k.parenthesized_expression, k.binary_operator].contains(&kind) {
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
        return call.receiver().is_some() && TRUTH_FUNCTIONS.contains(&name) || cast || kept();
    }
    // A name has the value that was assigned last.
    let name = index.text_of(id);
    let function = view.function_of(id);
    let given = index.assignments().filter(|a| a.assigns(name) && !index.is_within(id, a.id()) && a.id() < id);
    let last = given.filter(|a| view.function_of(a.id()) == function).last();
    kind == k.identifier && last.and_then(|a| a.value()).is_some_and(follows)
}
