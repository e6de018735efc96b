//! Statements that assign a value to a name.

use python::PythonFile;
use python::tree::{Id, Index, kinds};

/// Assignments, and loops, that bind a name.
pub(crate) fn bindings(file: &PythonFile<'_>, name: &str) -> Vec<Id> {
    let k = kinds();
    let index = &file.index;
    [k.assignment, k.augmented_assignment, k.for_statement]
        .iter()
        .flat_map(|kind| index.of_kind(*kind).iter().copied())
        .filter(|a| {
            let left = index.target(*a);
            left.is_some_and(|l| unpacked(index, l).into_iter().any(|target| index.text_of(target) == name))
        })
        .collect()
}

/// The targets of an assignment or a loop that unpacks, also in parentheses: `a`, `b` and `c` of `(a, b), c = …`.
pub(crate) fn unpacked(index: &Index<'_>, target: Id) -> Vec<Id> {
    let k = kinds();
    if [k.pattern_list, k.tuple_pattern].contains(&index.kind(target)) {
        index.parts(target).flat_map(|part| unpacked(index, part)).collect()
    } else {
        vec![target]
    }
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
