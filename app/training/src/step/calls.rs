//! Calls in a step: their receivers, arguments and loops.

use python::PythonFile;
use python::tree::{Id, kinds};

/// The arguments of a call, keywords as a whole.
pub fn arguments(file: &PythonFile<'_>, call: Id) -> Vec<Id> {
    file.index.arguments(call).ids().collect()
}

/// The imported name of a call's function, `torch.save`.
pub fn qualified(file: &PythonFile<'_>, call: Id) -> Option<String> {
    file.index.call(call)?.qualified(&file.names)
}

/// Whether a call is a statement by itself.
pub fn is_statement(file: &PythonFile<'_>, call: Id) -> bool {
    file.index.parent(call).is_some_and(|p| file.index.kind(p) == kinds().expression_statement)
}

/// The innermost loop around a node, within its function.
pub fn loop_around(file: &PythonFile<'_>, id: Id) -> Option<Id> {
    let is_function = |a: &Id| file.index.kind(*a) == kinds().function_definition;
    file.index.ancestors(id).take_while(|a| !is_function(a)).find(|a| file.index.is_loop(*a))
}

/// Whether a function has a parameter of this name.
pub(crate) fn is_parameter(file: &PythonFile<'_>, function: Id, name: &str) -> bool {
    file.index.function(function).is_some_and(|f| f.parameters().any(|p| p.name.trim_start_matches('*') == name))
}

/// The elements of a tuple or a list without brackets, or the node itself.
pub(crate) fn spread(file: &PythonFile<'_>, id: Id) -> Vec<Id> {
    let k = kinds();
    let several = [k.expression_list, k.tuple, k.pattern_list, k.tuple_pattern].contains(&file.index.kind(id));
    if several { file.index.parts(id).collect() } else { vec![id] }
}

#[cfg(test)]
mod tests {
    use super::{is_parameter, is_statement, loop_around, spread};
    use crate::marked;

    #[test]
    fn the_loop_around_a_place() {
        let check = |program: &str, expected: &str| {
            marked::check(program, expected, |at| at.lines(loop_around(&at.file(), at.node())));
        };
        check("for x in y:\n    while z:\n        f(x)\n        ^^^^\n", "while z:");
        check("for x in y:\n    def g():\n        f(x)\n        ^^^^\n", "");
    }

    #[test]
    fn a_call_by_itself() {
        let check = |program: &str, expected: bool| {
            marked::check(program, expected, |at| is_statement(&at.file(), at.node()));
        };
        check("f(x)\n^^^^\n", true);
        check("a = f(x)\n    ^^^^\n", false);
    }

    #[test]
    fn a_name_among_the_parameters() {
        let check = |name: &str, expected: bool| {
            let program = "def f(a, *b, c=1, **d):\n^^^\n    e = 1\n";
            marked::check(program, expected, |at| is_parameter(&at.file(), at.node(), name));
        };
        check("a", true);
        check("b", true);
        check("d", true);
        check("e", false);
    }

    #[test]
    fn elements_of_a_tuple() {
        let check = |program: &str, expected: &str| {
            marked::check(program, expected, |at| at.lines(spread(&at.file(), at.node())));
        };
        check("x = a, b\n    ^^^^\n", "a\nb");
        check("x = (a, b)\n    ^^^^^^\n", "a\nb");
        check("x = [a, b]\n    ^^^^^^\n", "[a, b]");
    }
}
