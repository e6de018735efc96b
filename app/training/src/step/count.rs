//! Where a number that the step reads, such as that of accumulated batches, is known before a loader is created.

use super::calls::is_parameter;
use crate::project::FileInProject;
use python::PythonFile;
use python::tree::{Id, ROOT, kinds};

/// From where on a number is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// It is a literal.
    FromStart,
    /// After this statement.
    After(Id),
    /// Before this statement.
    Before(Id),
}

/// A number of the step: how it is written where it is known, and from where on it is known.
pub(crate) fn number(file: FileInProject<'_, '_>, step: Id, count: Id, header: Option<Id>) -> Option<(String, Known)> {
    let index = &file.view.index;
    if index.kind(count) == kinds().integer {
        return Some((index.text_of(count).to_owned(), Known::FromStart));
    }
    if let Some(statement) = behind_assignment(&file, index.text_of(count), step, header) {
        return Some((index.text_of(count).to_owned(), Known::After(statement)));
    }
    before_loaders(&file).into_iter().find_map(|at| {
        let value = file.written_at(count, at)?;
        let is_literal = value.chars().all(|c| c.is_ascii_digit());
        Some((value, if is_literal { Known::FromStart } else { Known::Before(at) }))
    })
}

/// The value of an expression wherever it is read: a literal, or a name that the file assigns only once.
pub(crate) fn literal(file: &PythonFile<'_>, expression: &str, at: Id) -> Option<u32> {
    let index = &file.index;
    if let Ok(number) = expression.parse() {
        return Some(number);
    }
    let rebound = index.ancestors(at).any(|a| {
        index.kind(a) == kinds().function_definition && file.binds(a, head_of(expression).unwrap_or(expression))
    });
    let only = only_assignment(file, expression).filter(|a| !rebound && file.function_of(*a).is_none())?;
    index.text_of(index.source(only)?).parse().ok()
}

/// The statement of the module that assigns the name of the number, once, before any loader is created.
fn behind_assignment(file: &PythonFile<'_>, count: &str, step: Id, header: Option<Id>) -> Option<Id> {
    let index = &file.index;
    let head = head_of(count)?;
    if is_parameter(file, step, head) || head != count && is_assigned(file, count) {
        return None;
    }
    let only = only_assignment(file, head)?;
    index.source(only)?;
    let statement = file.statement_of(only)?;
    let early = file.calls("DataLoader").iter().any(|l| file.function_of(*l).is_none() && *l < only);
    let before_step = !index.is_within(step, only) || only < step;
    let at_top = index.parent(statement) == Some(ROOT) && Some(statement) > header;
    (!early && before_step && at_top).then_some(statement)
}

/// The statement with the first loader, and the one around it, if all are created in one place, once; the outermost first.
fn before_loaders(file: &PythonFile<'_>) -> Vec<Id> {
    let index = &file.index;
    let loaders = file.calls("DataLoader");
    let Some(first) = loaders.iter().min().copied() else { return Vec::new() };
    let maker = file.function_of(first);
    // A function that is called again creates a second loader.
    let again = maker.is_some_and(|m| callers(file, m).len() > 1)
        || loaders.iter().any(|l| {
            file.function_of(*l) != maker
                || index.ancestors(*l).take_while(|a| Some(*a) != maker).any(|a| file.index.is_loop(a))
        });
    let around = |block: Id| index.parts(block).find(|s| index.is_within(first, *s));
    let Some(at) = maker.map_or(Some(ROOT), |m| index.body(m)).filter(|_| !again).and_then(around) else {
        return Vec::new();
    };
    let starts = index.condition(at).is_some_and(|c| index.text_of(c).contains("__name__"));
    let inner = index.consequence(at).filter(|_| starts).and_then(around);
    let inner = inner.filter(|_| loaders.iter().all(|l| index.is_within(*l, at)));
    std::iter::once(at).chain(inner).collect()
}

/// `args` of `args.count` and of `args["count"]`.
fn head_of(expression: &str) -> Option<&str> {
    expression.split(['.', '[']).next()
}

/// The only assignment to a name in the whole file.
fn only_assignment(file: &PythonFile<'_>, name: &str) -> Option<Id> {
    let k = kinds();
    let index = &file.index;
    let mut all = index
        .bindings(name)
        .iter()
        .copied()
        .filter(|a| index.kind(*a) != k.for_statement)
        .filter(|a| index.target(*a).is_some_and(|l| index.text_of(l) == name));
    all.next().filter(|a| all.next().is_none() && index.kind(*a) == k.assignment)
}

/// Calls of a function by its name, or of a method on any object: `model.train()` is not a call of a function `train`.
fn callers(file: &PythonFile<'_>, function: Id) -> Vec<Id> {
    let k = kinds();
    let index = &file.index;
    let is_method = index
        .ancestors(function)
        .find(|a| [k.class_definition, k.function_definition].contains(&index.kind(*a)))
        .is_some_and(|a| index.kind(a) == k.class_definition);
    let of_kind = |c: &Id| index.callee(*c).is_some_and(|g| (index.kind(g) == k.attribute) == is_method);
    file.calls(file.name_of(function)).iter().copied().filter(of_kind).collect()
}

/// Whether an expression as written is assigned to: `args.count = 2`.
fn is_assigned(file: &PythonFile<'_>, expression: &str) -> bool {
    let k = kinds();
    let index = &file.index;
    let mut assignments = [k.assignment, k.augmented_assignment].into_iter().flat_map(|kind| index.of_kind(kind));
    assignments.any(|a| index.target(*a).is_some_and(|left| index.text_of(left) == expression))
}

#[cfg(test)]
mod tests {
    use super::{Known, literal, number};
    use crate::marked;

    /// How `n` of the step is written where a loader is made, and from where on it is known.
    #[track_caller]
    fn check(program: &str, expected: &str) {
        marked::check(program, expected, |at| {
            let header = crate::step::end_of_imports(at.file(), at.whole());
            match number(at.file(), at.whole(), at.node(), header) {
                None => "nowhere".to_owned(),
                Some((value, Known::FromStart)) => format!("{value} everywhere"),
                Some((value, Known::After(id))) => format!("{value} after {}", at.lines([id])),
                Some((value, Known::Before(id))) => format!("{value} before {}", at.lines([id])),
            }
        });
    }

    #[test]
    fn where_a_number_of_the_step_is_known() {
        let fit = "def fit(loader, n):\n    for x in loader:\n        net(x).backward()\n        f(n)\n          ^\n";
        let top = "import torch\nn = args.n\nloader = DataLoader(data)\nfor x in loader:\n    net(x).backward()\n    f(n)\n      ^\n";
        check(top, "n after n = args.n");
        let class = "class S:\n    n = 2\n";
        let of_class = top.replace("n = args.n\n", class).replace("f(n)\n      ^", "f(S.n)\n      ^^^");
        check(&of_class, "S.n before loader = DataLoader(data)");
        let main = "def main(args):\n    loader = DataLoader(data)\n";
        check(&format!("{fit}{main}    fit(loader, args.n)\n"), "args.n before loader = DataLoader(data)");
        check(&format!("{fit}{main}    fit(loader, 4)\n"), "4 everywhere");
        check(&format!("{fit}{main}    fit(loader, 4)\n    fit(loader, 2)\n"), "nowhere");
        let load = "def load(s):\n    loader = DataLoader(data)\n    return loader\n";
        let given = "args = parse()\nfit(load(args), args.n)\n";
        check(&format!("{fit}{load}{given}"), "s.n before loader = DataLoader(data)");
        let default = fit.replace("n):", "n=8):");
        check(&format!("{default}{main}    fit(loader)\n"), "8 everywhere");
        check(&format!("{default}{main}    fit(loader, n=2)\n"), "2 everywhere");
    }

    #[test]
    fn a_number_that_is_written_once() {
        let check = |program: &str, expected: Option<u32>| {
            marked::check(program, expected, |at| literal(&at.file(), "n", at.node()));
        };
        check("n = 4\nf(n)\n  ^\n", Some(4));
        check("n = 4\nn = 2\nf(n)\n  ^\n", None);
        check("n = 4\ndef f(n):\n    g(n)\n      ^\n", None);
    }
}
