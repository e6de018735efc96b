//! Statements that assign a value to a name.

use python::PythonFile;
use python::tree::Id;

/// The value of a name that is assigned once in its file; anything else is returned unchanged.
pub fn value_once(file: &PythonFile<'_>, id: Id) -> Id {
    let name = file.index.text_of(id);
    match file.index.bindings(name) {
        [only] => file.index.assignment(*only).and_then(|a| a.value_of(name)).unwrap_or(id),
        _ => id,
    }
}

pub(crate) fn binds_in(file: &PythonFile<'_>, body: Id, name: &str) -> bool {
    file.index.bindings(name).iter().any(|b| file.index.is_within(*b, body))
}

#[cfg(test)]
mod tests {
    use super::value_once;
    use crate::marked;

    #[test]
    fn what_binds_a_name() {
        let check = |program: &str, expected: &str| {
            marked::check(program, expected, |at| at.lines(at.file().index.bindings("a").iter().copied()));
        };
        check("a = 1\na += 2\nfor a in b:\n    pass\n", "a = 1\na += 2\nfor a in b:");
        check("(a, b), c = d\n", "(a, b), c = d");
        check("a.b = 1\na[0] = 2\nf(a=3)\n", "");
    }

    #[test]
    fn the_value_of_a_name() {
        let check = |program: &str, expected: &str| {
            marked::check(program, expected, |at| at.lines([value_once(&at.file(), at.node())]));
        };
        check("a = g(1)\nf(a)\n  ^\n", "g(1)");
        check("a, b = 1, 2\nf(b)\n  ^\n", "2");
        check("a = 1\na = 2\nf(a)\n  ^\n", "a");
        check("f(a)\n  ^\n", "a");
    }

    #[test]
    #[ignore = "assignments of the whole file count, in any order"]
    fn the_value_of_a_name_in_its_scope() {
        let check = |program: &str, expected: &str| {
            marked::check(program, expected, |at| at.lines([value_once(&at.file(), at.node())]));
        };
        check("a = 1\nf(a)\n  ^\ndef g():\n    a = 2\n", "1");
        check("a = 1\na = 2\nf(a)\n  ^\n", "2");
        check("f(a)\n  ^\na = 1\n", "a");
    }
}
