//! Where a number that the step reads, such as that of accumulated batches, is known before a loader is created.

use super::calls::arguments;
use python::PythonFile;
use python::names::{called_name, dotted};
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

/// A number that is written as `count` in the step: how it is written where it is known, and from where on it is known.
pub(crate) fn number(file: &PythonFile<'_>, step: Id, count: &str, header: Option<Id>) -> Option<(String, Known)> {
    let value = default_of(file, step, count).unwrap_or(count);
    if value.chars().all(|c| c.is_ascii_digit()) {
        return Some((value.to_owned(), Known::FromStart));
    }
    match behind_assignment(file, value, step, header) {
        Some(statement) => Some((value.to_owned(), Known::After(statement))),
        None => before_loader(file, step, count),
    }
}

/// The default of a parameter of the step, if every caller uses it.
fn default_of<'t>(file: &PythonFile<'t>, step: Id, name: &str) -> Option<&'t str> {
    let k = kinds();
    let index = &file.index;
    let (place, parameter) = parameter(file, step, name)?;
    let value = index.value(parameter)?;
    let left_out = |call: &Id| {
        let given = arguments(file, *call);
        let by_name = given
            .iter()
            .any(|a| index.text_of(*a).starts_with(&format!("{name}=")) || index.text_of(*a).starts_with('*'));
        !by_name && given.iter().filter(|a| index.kind(**a) != k.keyword_argument).count() <= place
    };
    (index.kind(value) == k.integer && file.calls(file.name_of(step)).iter().all(left_out))
        .then(|| index.text_of(value))
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
    let only = only_assignment(file, expression, None).filter(|a| !rebound && file.function_of(*a).is_none())?;
    index.text_of(index.source(only)?).parse().ok()
}

/// The one statement that assigns the number, before any loader is created.
fn behind_assignment(file: &PythonFile<'_>, count: &str, step: Id, header: Option<Id>) -> Option<Id> {
    let index = &file.index;
    let head = head_of(count)?;
    // A parameter with a different argument does not have that name; an attribute that is set later is not known after
    // its object.
    let handed = |place: usize| {
        let mut given = callers(file, step).into_iter().filter_map(|call| argument(file, call, head, place));
        given.any(|g| index.text_of(g) != head)
    };
    if parameter(file, step, head).is_some_and(|(place, _)| handed(place)) || head != count && is_assigned(file, count)
    {
        return None;
    }
    let loaders = file.calls("DataLoader");
    let only = only_assignment(file, head, None)?;
    index.source(only)?;
    let statement = file.statement_of(only)?;
    let scope = file.function_of(only);
    let early = loaders.iter().any(|l| file.function_of(*l) == scope && *l < only);
    let at_top = scope.is_none() && index.parent(statement) == Some(ROOT) && Some(statement) > header;
    // A loader that is created elsewhere may exist by then.
    let in_function = scope.is_some_and(|s| loaders.iter().all(|l| index.is_within(*l, s)));
    let before_step = !index.is_within(step, only) || only < step;
    (!early && before_step && (at_top || in_function)).then_some(statement)
}

/// Before the first loader, if all are created in one place and the number can be read there.
fn before_loader(file: &PythonFile<'_>, step: Id, count: &str) -> Option<(String, Known)> {
    let k = kinds();
    let index = &file.index;
    let loaders = file.calls("DataLoader");
    let first = *loaders.iter().min()?;
    let maker = file.function_of(first);
    // A function that is called again creates a second loader.
    let again = maker.is_some_and(|m| callers(file, m).len() > 1)
        || loaders.iter().any(|l| {
            file.function_of(*l) != maker
                || index.ancestors(*l).take_while(|a| Some(*a) != maker).any(|a| file.index.is_loop(a))
        });
    if again {
        return None;
    }
    let block = maker.map_or(Some(ROOT), |m| index.body(m))?;
    let around = |block: Id| index.parts(block).find(|s| index.is_within(first, *s));
    let at = around(block)?;
    let from = (index.kind(step) == k.function_definition).then_some(step);
    let read = |at: Id| Some((Reader { file, maker, at }.readable(count, from, 3)?, Known::Before(at)));
    read(at).or_else(|| {
        let starts = index.condition(at).is_some_and(|c| index.text_of(c).contains("__name__"));
        let inner = index.consequence(at).filter(|_| starts).and_then(around)?;
        loaders.iter().all(|l| index.is_within(*l, at)).then(|| read(inner)).flatten()
    })
}

/// Where a number is to be read: a statement and the function around it.
struct Reader<'a, 't> {
    file: &'a PythonFile<'t>,
    maker: Option<Id>,
    at: Id,
}

impl Reader<'_, '_> {
    /// An expression of the function `from`, as it can be written at the reader's place with the same value.
    fn readable(&self, expression: &str, from: Option<Id>, depth: u8) -> Option<String> {
        let file = self.file;
        let index = &file.index;
        if depth == 0 {
            return None;
        }
        if expression.chars().all(|c| c.is_ascii_digit()) {
            return Some(expression.to_owned());
        }
        if let Some(inner) = expression.strip_prefix("int(").and_then(|rest| rest.strip_suffix(')')) {
            return Some(format!("int({})", self.readable(inner, from, depth)?));
        }
        let head = head_of(expression)?;
        let tail = &expression[head.len()..];
        let start = index.item(self.at).start;
        if head.starts_with("self.") {
            let (class, here) = (file.class_of(from?)?, file.class_of(self.maker?)?);
            let only = only_assignment(file, head, Some(class)).filter(|_| class == here)?;
            let by = file.function_of(only);
            if by != self.maker {
                return by.is_some_and(|b| file.name_of(b) == "__init__").then(|| expression.to_owned());
            }
            if only < self.at {
                return Some(expression.to_owned());
            }
            let right = index.source(only).filter(|r| is_plain(file, *r))?;
            return self.readable(&format!("{}{tail}", index.text_of(right)), by, depth - 1);
        }
        let at_top = |name: &str| file.binds_at_top(name, start, self.maker.is_some());
        let Some(function) = from else { return at_top(head).then(|| expression.to_owned()) };
        let assigned = only_assignment(file, head, Some(function));
        let taken = parameter(file, function, head);
        match (taken, assigned) {
            (None, None) => (!file.binds(function, head) && at_top(head)).then(|| expression.to_owned()),
            _ if from == self.maker => {
                let early = assigned.is_none_or(|a| {
                    let outer = index.ancestors(a).find(|s| index.parent(*s) == index.parent(self.at));
                    outer.is_some_and(|s| s < self.at && is_run_once(file, a, s))
                });
                (taken.is_some() != assigned.is_some() && early).then(|| expression.to_owned())
            }
            (Some((place, parameter)), None) => {
                let [call] = *callers(file, function).as_slice() else { return None };
                let given = argument(file, call, head, place)
                    .or_else(|| index.value(parameter))
                    .filter(|g| is_plain(file, *g))?;
                self.readable(&format!("{}{tail}", index.text_of(given)), file.function_of(call), depth - 1)
            }
            (None, Some(assigned)) => {
                let right = index.source(assigned).filter(|r| is_plain(file, *r))?;
                self.readable(&format!("{}{tail}", index.text_of(right)), from, depth - 1)
            }
            _ => None,
        }
    }
}

/// `self.settings` of `self.settings.count`, `args` of `args.count` and of `args["count"]`.
fn head_of(expression: &str) -> Option<&str> {
    let first = expression.split(['.', '[']).next()?;
    match first {
        "self" => {
            let rest = expression.strip_prefix("self.")?;
            Some(&expression[.."self.".len() + rest.find(['.', '[']).unwrap_or(rest.len())])
        }
        _ => Some(first),
    }
}

/// The only assignment to a name, in the whole file or inside a node.
fn only_assignment(file: &PythonFile<'_>, name: &str, within: Option<Id>) -> Option<Id> {
    let k = kinds();
    let index = &file.index;
    let mut all = index
        .bindings(name)
        .iter()
        .copied()
        .filter(|a| index.kind(*a) != k.for_statement && within.is_none_or(|w| index.is_within(*a, w)))
        .filter(|a| index.target(*a).is_some_and(|l| index.text_of(l) == name));
    all.next().filter(|a| all.next().is_none() && index.kind(*a) == k.assignment)
}

/// A parameter's position among the callers' arguments, without `self`, and its node.
fn parameter(file: &PythonFile<'_>, function: Id, name: &str) -> Option<(usize, Id)> {
    let parameters = file.index.function(function)?.parameters().filter(|p| !matches!(p.name, "self" | "cls"));
    parameters.enumerate().find(|(_, p)| p.name.trim_start_matches('*') == name).map(|(place, p)| (place, p.id))
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

/// The argument that a call passes for a parameter.
fn argument(file: &PythonFile<'_>, call: Id, name: &str, place: usize) -> Option<Id> {
    file.index.arguments(call).get(place, name)
}

/// Whether a statement inside another runs exactly once whenever that one does: there is only `with` in between.
fn is_run_once(file: &PythonFile<'_>, inner: Id, outer: Id) -> bool {
    let k = kinds();
    let index = &file.index;
    let branches = [k.if_statement, k.for_statement, k.while_statement, k.try_statement, k.function_definition];
    let is_branch = |a: &Id| branches.contains(&index.kind(*a));
    let mut between = index.ancestors(inner).take_while(|a| *a != outer);
    !between.any(|a| is_branch(&a)) && !is_branch(&outer)
}

/// Whether an expression as written is assigned to: `args.count = 2`.
fn is_assigned(file: &PythonFile<'_>, expression: &str) -> bool {
    let k = kinds();
    let index = &file.index;
    let mut assignments = [k.assignment, k.augmented_assignment].into_iter().flat_map(|kind| index.of_kind(kind));
    assignments.any(|a| index.target(*a).is_some_and(|left| index.text_of(left) == expression))
}

/// A number, a name, a dotted name, or a setting with a key: `cfg["count"]`, `cfg.get("count", 1)`,
/// `int(cfg["count"])`.
fn is_plain(file: &PythonFile<'_>, id: Id) -> bool {
    let k = kinds();
    let index = &file.index;
    if index.kind(id) == k.integer || dotted(index, id).is_some() || is_setting(file, id) {
        return true;
    }
    if index.kind(id) != k.call {
        return false;
    }
    let given = arguments(file, id);
    let is_key = |at: &Id| [k.string, k.integer].contains(&index.kind(*at));
    match (index.callee(id), called_name(index, id)) {
        (Some(callee), Some("get")) => {
            index.owner(callee).is_some_and(|owner| is_plain(file, owner)) && given.iter().all(is_key)
        }
        (Some(callee), Some("int")) => {
            index.is_text(callee, "int") && matches!(given.as_slice(), [inner] if is_plain(file, *inner))
        }
        _ => false,
    }
}

/// `cfg["train"]["count"]`.
fn is_setting(file: &PythonFile<'_>, id: Id) -> bool {
    let k = kinds();
    let index = &file.index;
    let mut parts = index.parts(id);
    let (Some(owner), Some(key), None) = (parts.next(), parts.next(), parts.next()) else { return false };
    index.kind(id) == k.subscript
        && [k.string, k.integer].contains(&index.kind(key))
        && (dotted(index, owner).is_some() || is_setting(file, owner))
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
            match number(&at.file(), at.whole(), "n", header) {
                None => "nowhere".to_owned(),
                Some((value, Known::FromStart)) => format!("{value} everywhere"),
                Some((value, Known::After(id))) => format!("{value} after {}", at.lines([id])),
                Some((value, Known::Before(id))) => format!("{value} before {}", at.lines([id])),
            }
        });
    }

    #[test]
    fn where_a_number_of_the_step_is_known() {
        let step = "def fit(loader, n):\n    for x in loader:\n        net(x).backward()\n";
        let top = "import torch\nn = args.n\nloader = DataLoader(data)\nfor x in loader:\n    net(x).backward()\n";
        check(top, "n after n = args.n");
        let main = "def main(args):\n    loader = DataLoader(data)\n";
        check(&format!("{step}{main}    fit(loader, args.n)\n"), "args.n before loader = DataLoader(data)");
        check(&format!("{step}{main}    fit(loader, 4)\n"), "4 before loader = DataLoader(data)");
        check(&format!("{step}{main}    fit(loader, 4)\n    fit(loader, 2)\n"), "nowhere");
        let default = step.replace("n):", "n=8):");
        check(&format!("{default}{main}    fit(loader)\n"), "8 everywhere");
        check(&format!("{default}{main}    fit(loader, n=2)\n"), "2 before loader = DataLoader(data)");
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
