//! Tests and loops whose outcome is known before there is any data. The graph is built by running them once, so they
//! may be between the model and the loss unchanged.

use super::bindings::binds_in;
use super::changing::changes;
use super::dataflow::reads;
use crate::project::FileInProject;
use crate::roles::Role;
use python::PythonFile;
use python::names::{called_name, dotted};
use python::tree::{Id, kinds};

/// Statements, with the outermost fixed test or loop in place of its contents, in the order of the text.
pub(crate) fn units(file: FileInProject<'_, '_>, optimizer: &str, body: Id, leaves: &[Id]) -> Vec<Id> {
    let mut out: Vec<Id> = Vec::new();
    for &leaf in leaves {
        let outer = file
            .index
            .ancestors(leaf)
            .take_while(|a| *a != body)
            .filter(|a| !file.project.has_compute_modes() && is_fixed(file, optimizer, body, *a))
            .last();
        let unit = outer.unwrap_or(leaf);
        if out.last() != Some(&unit) {
            out.push(unit);
        }
    }
    out
}

/// Whether a test or a loop has the same outcome at every step and only assigns.
fn is_fixed(file: FileInProject<'_, '_>, optimizer: &str, body: Id, id: Id) -> bool {
    let k = kinds();
    let index = &file.index;
    let only_assigns = |block: Id| {
        index.parts(block).all(|s| {
            let plain = index.kind(s) == k.pass_statement
                || index.kind(s) == k.expression_statement
                    && index.parts(s).all(|e| [k.assignment, k.augmented_assignment].contains(&index.kind(e)));
            plain || is_fixed(file, optimizer, body, s)
        })
    };
    if index.kind(id) == k.for_statement {
        let over = index.source(id);
        let loads = over.is_none_or(|r| reads(&file, r).into_iter().any(|n| file.role(n) == Some(Role::Loader)));
        return !loads && index.body(id).is_some_and(only_assigns) && index.otherwise(id).is_none();
    }
    if index.kind(id) != k.if_statement {
        return false;
    }
    let clauses: Vec<Id> =
        index.children(id).filter(|c| [k.elif_clause, k.else_clause].contains(&index.kind(*c))).collect();
    let tests = std::iter::once(id).chain(clauses.iter().copied()).filter_map(|c| index.condition(c));
    let blocks = index
        .consequence(id)
        .into_iter()
        .chain(clauses.iter().filter_map(|c| index.consequence(*c).or_else(|| index.body(*c))));
    tests.into_iter().all(|t| is_constant(file, optimizer, body, t)) && blocks.into_iter().all(only_assigns)
}

/// Whether an expression has one value for the whole run: settings, the model's own numbers, the shape of a value.
pub(crate) fn is_constant(file: FileInProject<'_, '_>, optimizer: &str, body: Id, test: Id) -> bool {
    let k = kinds();
    let index = &file.index;
    let form = |name: &str| matches!(name, "isinstance" | "len" | "hasattr" | "dim" | "ndim" | "shape" | "size");
    let asks_form = |call: Id| called_name(index, call).is_some_and(form);
    // `int(args.steps) > 0`
    let converts =
        |call: Id| matches!(index.text_of(index.callee(call).unwrap_or(call)), "int" | "float" | "bool" | "str");
    if !index.of_kind_in(k.call, test).iter().all(|c| asks_form(*c) || converts(*c)) {
        return false;
    }
    reads(&file, test).into_iter().all(|id| {
        let mut around = index.ancestors(id).take_while(|a| *a >= test).filter(|a| index.kind(*a) == k.call);
        if around.any(|call| asks_form(call) || index.callee(call) == Some(id)) {
            return true;
        }
        let name = index.text_of(id);
        let parent = index.parent(id).filter(|p| [k.attribute, k.subscript].contains(&index.kind(*p)));
        match parent {
            Some(attribute) if name == "self" => set_once(&file, attribute),
            Some(part) if index.attribute(part).and_then(|a| a.name()).is_some_and(form) => true,
            Some(part) => dotted(index, part).is_none_or(|d| !d.ends_with(".training")) && !binds_in(&file, body, name),
            None => {
                file.role(id) == Some(Role::Model)
                    || file.binds_at_top(name, 0, true)
                        && file.index.bindings(name).len() == 1
                        && !binds_in(&file, body, name)
                    || index.is_loop(body) && is_setting(file, optimizer, id, name)
            }
        }
    })
}

/// Whether a name is a parameter of the enclosing function for which every caller passes one value for the whole run.
fn is_setting(file: FileInProject<'_, '_>, optimizer: &str, id: Id, name: &str) -> bool {
    let Some(function) = file.function_of(id) else { return false };
    let mut parameters = file.index.function(function).into_iter().flat_map(|d| d.parameters());
    let rebound = file.index.bindings(name).iter().copied().any(|b| file.function_of(b) == Some(function));
    parameters.any(|p| p.name == name) && !rebound && !changes(file, optimizer, id, name, 4)
}

/// Whether an attribute of `self` is assigned in the constructor only.
fn set_once(file: &PythonFile<'_>, attribute: Id) -> bool {
    let index = &file.index;
    let text = index.text_of(attribute);
    text != "self.training"
        && file
            .index
            .bindings(text)
            .iter()
            .copied()
            .all(|a| file.function_of(a).is_none_or(|d| file.name_of(d) == "__init__"))
}

/// Names that a statement binds before it reads them; none for a plain statement, since it reads first.
pub(crate) fn bound_first(file: &PythonFile<'_>, statement: Id) -> Vec<String> {
    let k = kinds();
    let index = &file.index;
    let mut out: Vec<String> = Vec::new();
    let mut outer: Vec<&str> = Vec::new();
    if ![k.if_statement, k.for_statement].contains(&index.kind(statement)) {
        return out;
    }
    for kind in [k.assignment, k.augmented_assignment, k.for_statement] {
        for &binding in index.of_kind_in(kind, statement) {
            let (Some(left), Some(right)) = (index.target(binding), index.source(binding)) else {
                continue;
            };
            let names: Vec<&str> = std::iter::once(left)
                .chain(index.of_kind_in(k.identifier, left).iter().copied())
                .filter(|l| index.kind(*l) == k.identifier)
                .map(|l| index.text_of(l))
                .collect();
            let before = |n: &str| {
                reads(file, statement).into_iter().any(|r| {
                    index.text_of(r) == n
                        && (r < left || index.is_within(r, right) || kind == k.augmented_assignment)
                        && !out.iter().any(|o| o == n)
                })
            };
            let taken: Vec<&str> = names.iter().copied().filter(|n| before(n)).collect();
            outer.extend(&taken);
            out.extend(names.iter().filter(|n| !outer.contains(n)).map(|n| (*n).to_owned()));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{bound_first, is_constant, units};
    use crate::marked::{self, with_setup};
    use crate::step::{leaves, loop_around};

    #[test]
    fn a_test_with_one_outcome_for_the_whole_run() {
        let check = |above: &str, test: &str, expected: bool| {
            let mark = "^".repeat(test.len());
            let program = format!("{above}\nfor x, y in loader:\n    if {test}:\n       {mark}\n        pass\n");
            marked::check(&with_setup(&program), expected, |at| {
                let body = loop_around(&at.file(), at.node()).expect("a loop");
                is_constant(at.file(), "optimizer", body, at.node())
            });
        };
        check("a = 3", "a > 2", true);
        check("a = 3\na = 4", "a > 2", false);
        check("", "args.steps > 0", true);
        check("", "len(x) > 2", true);
        check("", "x.ndim == 3", true);
        check("", "x > 2", false);
        check("", "x.training", false);
        check("", "f(2) > 2", false);
    }

    #[test]
    fn a_fixed_test_or_loop_is_one_statement() {
        let check = |body: &str, expected: &str| {
            let program = format!("for x, y in loader:\n^^^\n{body}\n");
            marked::check(&with_setup(&program), expected, |at| {
                let found = units(at.file(), "optimizer", at.node(), &leaves(&at.file(), at.node()));
                at.lines(found)
            });
        };
        check("    if args.deep:\n        x = x + 1\n    f(x)", "if args.deep:\nf(x)");
        check("    if args.deep:\n        print(x)\n    f(x)", "print(x)\nf(x)");
        check("    if x > 1:\n        x = x + 1\n    f(x)", "x = x + 1\nf(x)");
        check("    for i in range(3):\n        x = x + i\n    f(x)", "for i in range(3):\nf(x)");
    }

    #[test]
    fn what_a_statement_binds_before_it_reads_it() {
        let check = |program: &str, name: &str, expected: bool| {
            marked::check(program, expected, |at| bound_first(&at.file(), at.node()).iter().any(|bound| bound == name));
        };
        check("for i in range(3):\n^^^\n    x = i\n", "x", true);
        check("for i in range(3):\n^^^\n    x = i\n", "i", true);
        check("for i in range(3):\n^^^\n    x = x + i\n", "x", false);
        check("x = 1\n^^^^^\n", "x", false);
    }
}
