//! Code that runs only on request, `if args.distributed:`, and not with default settings.

use python::PythonFile;
use python::names::called_name;
use python::tree::{Id, kinds};

/// Whether a call is conditional, either itself or as part of a conditional function.
pub fn is_optional(file: &PythonFile<'_>, call: Id) -> bool {
    let tested = |at: Id| {
        file.index.ancestors(at).any(|a| {
            file.index.kind(a) == kinds().if_statement
                && file.index.condition(a).is_some_and(|c| !file.index.mentions(c, |name| name == "__name__"))
                && !in_each_case(file, a, call)
        })
    };
    let callers = |function: Id| file.calls(file.name_of(function));
    tested(call)
        || file.function_of(call).is_some_and(|d| !callers(d).is_empty() && callers(d).iter().all(|c| tested(*c)))
}

/// Whether a test in its function, or in the module, decides whether a call is made.
pub fn is_chosen(file: &PythonFile<'_>, call: Id) -> bool {
    let k = kinds();
    let function = file.function_of(call).unwrap_or(0);
    let mut inside = file.index.ancestors(call).take_while(|a| *a > function);
    inside.any(|a| [k.if_statement, k.elif_clause, k.else_clause].contains(&file.index.kind(a)))
}

/// Whether every branch of a test contains a call of the same function.
fn in_each_case(file: &PythonFile<'_>, test: Id, call: Id) -> bool {
    let k = kinds();
    let index = &file.index;
    let calls = |block: Id| called_name(index, call).is_some_and(|n| !file.calls_in(n, block).is_empty());
    let mut clauses = index.children(test).filter(|c| [k.elif_clause, k.else_clause].contains(&index.kind(*c)));
    let ends = index.children(test).any(|c| index.kind(c) == k.else_clause);
    ends && clauses.all(calls) && index.consequence(test).is_some_and(calls)
}

#[cfg(test)]
mod tests {
    use super::{is_chosen, is_optional};
    use crate::marked;

    #[test]
    fn a_call_on_request() {
        let check = |program: &str, expected: bool| {
            marked::check(program, expected, |at| is_optional(&at.file(), at.node()));
        };
        check("if args.distributed:\n    f(1)\n    ^^^^\n", true);
        check("if __name__ == '__main__':\n    f(1)\n    ^^^^\n", false);
        check("if a:\n    f(1)\n    ^^^^\nelse:\n    f(2)\n", false);
        check("def g():\n    f(1)\n    ^^^^\nif a:\n    g()\n", true);
        check("def g():\n    f(1)\n    ^^^^\nif a:\n    g()\ng()\n", false);
    }

    #[test]
    fn a_test_that_decides() {
        let check = |program: &str, expected: bool| {
            marked::check(program, expected, |at| is_chosen(&at.file(), at.node()));
        };
        check("if a:\n    pass\nelse:\n    f(1)\n    ^^^^\n", true);
        check("if a:\n    def g():\n        f(1)\n        ^^^^\n", false);
    }
}
