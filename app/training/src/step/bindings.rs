//! Statements that assign a value to a name.

use python::PythonFile;
use python::tree::{Id, kinds};

/// Assignments, and loops, that bind a name.
pub(crate) fn bindings(file: &PythonFile<'_>, name: &str) -> Vec<Id> {
    let k = kinds();
    let index = &file.index;
    [k.assignment, k.augmented_assignment, k.for_statement]
        .iter()
        .flat_map(|kind| index.of_kind(*kind).iter().copied())
        .filter(|a| {
            index.target(*a).is_some_and(|l| {
                index.text_of(l) == name
                    || [k.pattern_list, k.tuple_pattern].contains(&index.kind(l))
                        && index.parts(l).any(|p| index.text_of(p) == name)
            })
        })
        .collect()
}

/// The value of a name that is assigned once in its file; anything else is returned unchanged.
pub fn value_once(file: &PythonFile<'_>, id: Id) -> Id {
    let name = file.index.text_of(id);
    match bindings(file, name).as_slice() {
        [only] => file.index.assignment(*only).and_then(|a| a.value_of(name)).unwrap_or(id),
        _ => id,
    }
}

pub(crate) fn binds_in(file: &PythonFile<'_>, body: Id, name: &str) -> bool {
    bindings(file, name).into_iter().any(|b| file.index.is_within(b, body))
}
