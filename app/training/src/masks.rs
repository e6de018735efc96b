//! Indices that depend on values: boolean masks, `x[labels == 1]`, where the number of selected elements does; and
//! single numbers of a tensor, `x[edges[0, e]]`.

use crate::kinds::Kinds;
use crate::project::FileInProject;
use crate::step::{is_counter, value_once};
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
        && file.kinds(id).may_be(Kinds::MASK)
}

/// Whether an index is one number of a tensor that its function is given: `edges[0, e]`, or a name for that.
pub fn is_element(file: FileInProject<'_, '_>, id: Id) -> bool {
    let (index, k) = (&file.view.index, kinds());
    let value = value_once(file.view, id);
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

#[cfg(test)]
mod tests {
    use super::{indices, is_element, is_mask};
    use crate::marked;

    /// Whether the marked index is a boolean mask.
    #[track_caller]
    fn check(program: &str, expected: bool) {
        marked::check(program, expected, |at| {
            assert!(indices(at.file().view).any(|id| id == at.node()), "no index is marked:\n{program}");
            is_mask(at.file(), at.node())
        });
    }

    #[test]
    fn an_index_that_compares_is_a_mask() {
        check("x[labels == 1]\n  ^^^^^^^^^^^\n", true);
        check("keep = labels == 1\nx[keep]\n  ^^^^\n", true);
        check("x[i + 1]\n  ^^^^^\n", false);
    }

    #[test]
    fn what_is_selected_is_no_choice_of_python() {
        // A list has no masks, and what is assigned keeps its shape.
        check("(a, b)[i == 1]\n       ^^^^^^\n", false);
        check("x[labels == 1] = 0\n  ^^^^^^^^^^^\n", false);
        check("x[labels == 1] += 1\n  ^^^^^^^^^^^\n", true);
    }

    #[test]
    fn one_number_of_a_given_tensor() {
        let check = |program: &str, expected: bool| {
            marked::check(program, expected, |at| is_element(at.file(), at.node()));
        };
        check("def f(x, edges):\n    return x[edges[0, 1]]\n             ^^^^^^^^^^^\n", true);
        check("def f(x, edges):\n    for e in range(3):\n        a = edges[0, e]\n        x[a]\n          ^\n", true);
        check("def f(x, edges):\n    return x[edges[0]]\n             ^^^^^^^^\n", false);
        check("def f(x):\n    return x[edges[0, 1]]\n             ^^^^^^^^^^^\n", false);
    }
}
