//! Indices that depend on values: boolean masks, `x[labels == 1]`, where the number of selected elements does; and
//! single numbers of a tensor, `x[edges[0, e]]`.

use crate::project::FileInProject;
use crate::step::is_counter;
use crate::truth::{DEPTH, holds_truth, last_given};
use crate::view::FileView;
use python::tree::{Id, fields, kinds};

/// The indices in a file.
pub fn indices<'v>(view: &'v FileView<'_>) -> impl Iterator<Item = Id> + 'v {
    let index = &view.index;
    let parts = index.of_kind(kinds().subscript).iter().flat_map(|s| index.parts(*s));
    parts.filter(|part| index.item(*part).field == fields().subscript)
}

/// Whether an index is read, and is a boolean mask as far as its function and the results of others show.
pub fn is_mask(file: FileInProject<'_, '_>, id: Id) -> bool {
    let k = kinds();
    let index = &file.view.index;
    let subscript = index.parent(id).filter(|p| index.kind(*p) == k.subscript);
    // `x[mask] = 0` keeps the shape of `x`.
    let is_read =
        |s: Id| !index.is_stored(s) || index.parent(s).is_some_and(|p| index.kind(p) == k.augmented_assignment);
    let of_list =
        |s: Id| index.value(s).is_some_and(|value| [k.list, k.tuple, k.dictionary].contains(&index.kind(value)));
    index.item(id).field == fields().subscript
        && subscript.is_some_and(|s| is_read(s) && !of_list(s))
        && holds_truth(file.view, &file.project.masks, id, DEPTH)
}

/// Whether an index is one number of a tensor that its function is given: `edges[0, e]`, or a name for that.
pub fn is_element(file: FileInProject<'_, '_>, id: Id) -> bool {
    let (index, k) = (&file.view.index, kinds());
    let name = index.text_of(id);
    let value = last_given(file.view, id).and_then(|given| index.assignment(given)?.value_of(name)).unwrap_or(id);
    let is_place = |part: Id| {
        let counts = |around: Id| index.is_loop(around) && is_counter(file, around, index.text_of(part));
        index.kind(part) == k.integer || index.ancestors(value).any(counts)
    };
    let places: Vec<Id> = index.parts(value).skip(1).collect();
    let of_parameter = |of: Id| {
        let function = file.function_of(value).and_then(|function| index.function(function));
        function.is_some_and(|function| function.parameters().any(|p| index.is_text(of, p.name)))
    };
    index.item(id).field == fields().subscript
        && index.kind(value) == k.subscript
        && places.len() > 1
        && places.into_iter().all(is_place)
        && index.value(value).is_some_and(of_parameter)
}
