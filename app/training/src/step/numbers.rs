//! Python numbers in the loss that change during training: a weight that is warmed up, a temperature.

use super::TrainingStep;
use super::bindings::{bindings, binds_in};
use super::callers::given;
use super::dataflow::reads;
use crate::project::FileInProject;
use python::names::called_name;
use python::tree::{Id, fields, kinds};

/// The whole arithmetic expression on numbers that contains a changing value, if a tensor can replace it:
/// `min(1, epoch / 5)` of `min(1, epoch / 5) * penalty`. None if it is not a number, or decides something.
pub(crate) fn number(step: &TrainingStep<'_, '_>, value: Id) -> Option<Id> {
    let k = kinds();
    let index = &step.file.view.index;
    let mut whole = Some(value).filter(|id| is_number(step.file, *id, 5))?;
    for around in index.ancestors(value) {
        if index.kind(around) != k.argument_list && !is_number(step.file, around, 5) {
            break;
        }
        whole = if index.kind(around) == k.argument_list { whole } else { around };
    }
    // `loss + weight * penalty`, as a statement or as what one assigns.
    let mut inside = whole;
    for around in index.ancestors(whole) {
        let kind = index.kind(around);
        if [k.assignment, k.augmented_assignment].contains(&kind) {
            let is_value = index.source(around) == Some(inside);
            return (is_value && index.parent(around).is_some_and(|s| step.before.contains(&s))).then_some(whole);
        }
        if kind == k.keyword_argument || kind == k.argument_list && is_factor(step.file, around, inside) {
            if kind == k.argument_list {
                return Some(whole);
            }
            inside = around;
            continue;
        }
        // The result of arithmetic with a tensor can be passed to anything.
        let asks_size = || ["shape", "size("].iter().any(|word| index.text_of(around).contains(word));
        if kind == k.binary_operator
            && index.ancestors(around).any(|a| index.kind(a) == k.argument_list)
            && !asks_size()
        {
            return Some(whole);
        }
        if kind != k.binary_operator && kind != k.parenthesized_expression {
            return None;
        }
        inside = around;
    }
    None
}

/// Whether an expression is a Python number wherever its value is assigned, following up to `steps` assignments and
/// calls.
pub(crate) fn is_number(file: FileInProject<'_, '_>, id: Id, steps: u8) -> bool {
    let k = kinds();
    let index = &file.view.index;
    let Some(steps) = steps.checked_sub(1) else { return false };
    let follows = |id: Id| is_number(file, id, steps);
    let kind = index.kind(id);
    if [k.integer, k.float].contains(&kind) {
        return true;
    }
    if [k.binary_operator, k.parenthesized_expression, k.unary_operator].contains(&kind) {
        return index.parts(id).all(follows);
    }
    if let Some(call) = index.call(id) {
        let of_numbers = called_name(index, id).is_some_and(is_of_numbers)
            || call.qualified(&file.names).is_some_and(|name| name.starts_with("math."));
        // `x.float()` of a tensor is a tensor of a different type.
        let on_number = |of: Id| file.names.by_import(index.text_of(of)) || follows(of);
        let mut arguments = call.arguments().ids();
        return called_name(index, id) == Some("len")
            || of_numbers && index.receiver(id).is_none_or(on_number) && arguments.all(follows)
            || computes_number(file, id, steps);
    }
    if ![k.identifier, k.attribute].contains(&kind) {
        return false;
    }
    let name = index.text_of(id);
    let from_binding = |binding: Id| match index.for_statement(binding) {
        Some(_) => is_counter(file, binding, name),
        None => index.source(binding).is_some_and(|right| index.is_within(id, right) || follows(right)),
    };
    let bound: Vec<Id> = bindings(&file, name)
        .into_iter()
        .filter(|b| !index.is_within(id, *b) || index.for_statement(*b).is_some())
        .collect();
    let function = index.ancestors(id).find(|a| index.kind(*a) == k.function_definition && file.binds(*a, name));
    let parameter =
        function.filter(|d| index.function(*d).into_iter().flat_map(|d| d.parameters()).any(|p| p.name == name));
    match parameter {
        Some(function) => {
            let values = given(&file, function, name);
            if values.is_empty() {
                file.project.counted.contains(file.view, function, name)
            } else {
                values.into_iter().all(follows)
            }
        }
        None => !bound.is_empty() && bound.into_iter().all(from_binding),
    }
}

/// Python's functions of numbers, some of which accept no tensor of a compiled step.
fn is_of_numbers(name: &str) -> bool {
    matches!(name, "min" | "max" | "abs" | "float" | "int" | "round")
}

/// Whether a call of the file's own function makes a number of numbers, such as `kl_weight(epoch)`: it does not use
/// torch, and returns numbers or the results of arithmetic.
fn computes_number(file: FileInProject<'_, '_>, call: Id, steps: u8) -> bool {
    let (k, index) = (kinds(), &file.view.index);
    let arguments: Vec<Id> = index.arguments(call).ids().collect();
    let uses_torch = |d: Id| {
        let mut names = index.of_kind_in(k.identifier, d).iter();
        names.any(|id| file.names.qualify(index, *id).is_some_and(|name| name.starts_with("torch")))
    };
    let is_arithmetic = |value: Id| {
        [k.binary_operator, k.conditional_expression].contains(&index.kind(value))
            || called_name(index, value).is_some_and(is_of_numbers)
            || is_number(file, value, steps)
    };
    let computes = |value: Id| {
        let given = bindings(&file, index.text_of(value));
        let mut given = given.into_iter().filter(|b| file.function_of(*b) == file.function_of(value)).peekable();
        is_arithmetic(value) || given.peek().is_some() && given.all(|b| index.source(b).is_some_and(is_arithmetic))
    };
    let returns = |d: Id| {
        let all = index.of_kind_in(k.return_statement, d).iter().map(|r| index.parts(*r).next());
        let all: Vec<Option<Id>> = all.collect();
        !all.is_empty() && all.into_iter().all(|value| value.is_some_and(computes))
    };
    let called = index.callee(call).map_or_else(Vec::new, |callee| definitions(file, callee, steps));
    !arguments.is_empty()
        && arguments.into_iter().all(|argument| is_number(file, argument, steps))
        && !called.is_empty()
        && called.into_iter().all(|d| !uses_torch(d) && returns(d))
}

/// Whether the function that receives an argument only multiplies by it, adds it and the like, so that it can be a tensor.
fn is_factor(file: FileInProject<'_, '_>, arguments: Id, argument: Id) -> bool {
    let (k, index) = (kinds(), &file.view.index);
    let Some(call) = index.parent(arguments).filter(|call| index.kind(*call) == k.call) else { return false };
    let keyword = index.field(argument, fields().name).map(|name| index.text_of(name));
    let place = index.arguments(call).positional().position(|other| other == argument);
    let is_operand = |id: Id| {
        let mut around = index.ancestors(id).filter(|a| index.kind(*a) != k.parenthesized_expression);
        let is_part = around.next().is_some_and(|a| index.kind(a) == k.binary_operator);
        // Python compares and converts numbers, and no tensor of a compiled step.
        let decides = |a: Id| {
            [k.comparison_operator, k.subscript].contains(&index.kind(a))
                || called_name(index, a).is_some_and(|name| is_of_numbers(name) || name == "range")
        };
        is_part && !around.take_while(|a| index.kind(*a) != k.block).any(decides)
    };
    let computes_with = |definition: Id| {
        let own = usize::from(file.class_of(definition).is_some());
        let mut parameters = index.function(definition).into_iter().flat_map(|d| d.parameters()).skip(own);
        let name = keyword.or_else(|| parameters.nth(place?).map(|p| p.name));
        let is_read = |id: &Id| Some(index.text_of(*id)) == name;
        let reads = index.body(definition).map_or_else(Vec::new, |body| reads(&file, body));
        reads.iter().any(is_read)
            && reads.into_iter().filter(is_read).all(is_operand)
            && !name.is_some_and(|name| binds_in(&file, definition, name))
    };
    let called = index.callee(call).map_or_else(Vec::new, |callee| definitions(file, callee, 4));
    !called.is_empty() && called.into_iter().all(computes_with)
}

/// The functions of the file that a callee may be: by its name, by what is assigned to it or passed as it; the forward
/// pass of a module.
fn definitions(file: FileInProject<'_, '_>, callee: Id, steps: u8) -> Vec<Id> {
    let (k, index) = (kinds(), &file.view.index);
    let Some(steps) = steps.checked_sub(1) else { return Vec::new() };
    let functions = index.of_kind(k.function_definition).iter().copied();
    if let Some(class) = called_name(index, callee).filter(|_| index.kind(callee) == k.call) {
        let is_of_class = |d: &Id| file.class_of(*d).is_some_and(|c| file.name_of(c) == class);
        return functions.filter(|d| file.name_of(*d) == "forward" && is_of_class(d)).collect();
    }
    let text = index.text_of(callee);
    let name = text.strip_prefix("self.").unwrap_or(text);
    let named: Vec<Id> = functions.filter(|d| file.name_of(*d) == name).collect();
    if !named.is_empty() {
        return named;
    }
    let parameter = index.ancestors(callee).find(|a| {
        index.kind(*a) == k.function_definition
            && index.function(*a).into_iter().flat_map(|d| d.parameters()).any(|p| p.name == text)
    });
    let values = match parameter {
        Some(function) => given(&file, function, text),
        None => bindings(&file, text).into_iter().filter_map(|b| index.source(b)).collect(),
    };
    values.into_iter().flat_map(|value| definitions(file, value, steps)).collect()
}

/// Whether a loop assigns Python numbers to a name: `n` of `for n, (x, y) in enumerate(loader)`, `t` of
/// `for t in tqdm(range(9))`.
pub(crate) fn is_counter(file: FileInProject<'_, '_>, around: Id, name: &str) -> bool {
    let index = &file.view.index;
    let gives = |around: Id| Some((index.target(around)?, index.source(around)?));
    gives(around).is_some_and(|(target, source)| gives_numbers(file, target, source, name))
}

fn gives_numbers(file: FileInProject<'_, '_>, target: Id, source: Id, name: &str) -> bool {
    let (index, k) = (&file.view.index, kinds());
    if [k.list, k.tuple].contains(&index.kind(source)) {
        return index.is_text(target, name) && index.parts(source).all(|part| is_number(file, part, 1));
    }
    let targets = || index.parts(target).filter(|part| index.kind(*part) != k.comment);
    let sources: Vec<Id> = index.arguments(source).positional().collect();
    let holds = |target: Id| index.is_text(target, name) || index.mentions(target, |word| word == name);
    match called_name(index, source) {
        Some("range" | "trange") => index.is_text(target, name),
        Some("enumerate") => match (targets().next(), targets().nth(1), sources.first()) {
            (Some(counter), ..) if index.is_text(counter, name) => true,
            (_, Some(target), Some(source)) => gives_numbers(file, target, *source, name),
            _ => false,
        },
        Some("zip") => {
            targets().zip(sources).any(|(target, source)| holds(target) && gives_numbers(file, target, source, name))
        }
        // `reversed(range(9))`, `tqdm(enumerate(loader))`: the same values, in another order or with a bar.
        Some("reversed" | "list" | "sorted" | "tqdm") => {
            sources.first().is_some_and(|source| gives_numbers(file, target, *source, name))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{is_counter, is_number, number};
    use crate::marked::{self, with_setup};

    /// Whether the marked expression is a Python number.
    #[track_caller]
    fn check(program: &str, expected: bool) {
        marked::check(program, expected, |at| is_number(at.file(), at.node(), 5));
    }

    #[test]
    fn arithmetic_on_numbers_is_a_number() {
        check("f(-2 * (3 + 0.5))\n  ^^^^^^^^^^^^^^\n", true);
        check("f(min(1.0, len(x) / 5))\n  ^^^^^^^^^^^^^^^^^^^^\n", true);
        check("import math\nf(math.cos(2))\n  ^^^^^^^^^^^\n", true);
        check("f(2 * x)\n  ^^^^^\n", false);
        check("f('2')\n  ^^^\n", false);
        check("f(x.float())\n  ^^^^^^^^^\n", false);
    }

    #[test]
    fn a_name_is_a_number_if_all_its_values_are() {
        check("for epoch in range(3):\n    weight = min(1.0, epoch / 5)\n    f(weight)\n      ^^^^^^\n", true);
        check("n = 0\nn += 1\nf(n)\n  ^\n", true);
        check("n = 0\nn = x\nf(n)\n  ^\n", false);
        check("for n, x in enumerate(loader):\n    f(n)\n      ^\n", true);
        check("for n, x in enumerate(loader):\n    f(x)\n      ^\n", false);
        check("for t in [0.1, 0.2]:\n    f(t)\n      ^\n", true);
        check("for t in rates:\n    f(t)\n      ^\n", false);
    }

    #[test]
    fn a_number_through_calls() {
        check("def f(a):\n    g(a)\n      ^\nf(3)\nf(2 * 4)\n", true);
        check("def f(a):\n    g(a)\n      ^\nf(3)\nf(x)\n", false);
        check("def f(epoch):\n    g(epoch)\n      ^^^^^\n", true);
        check("def f(a):\n    g(a)\n      ^\n", false);
        check("def scale(a):\n    return a / 5\ng(scale(2))\n  ^^^^^^^^\n", true);
        check("import torch\ndef scale(a):\n    return torch.ones(a)\ng(scale(2))\n  ^^^^^^^^\n", false);
    }

    #[test]
    #[ignore = "assignments of the whole file count, also those of other functions"]
    fn a_name_that_another_function_assigns() {
        let other = "def scale(weight):\n    weight = 'heavy'\n    return weight\n";
        check(&format!("{other}weight = min(1.0, 2 / 5)\nf(weight)\n  ^^^^^^\n"), true);
    }

    #[test]
    #[ignore = "only plain assignments and loops bind a name"]
    fn a_number_by_another_binding() {
        check("if (n := len(x)) > 1:\n    f(n)\n      ^\n", true);
        check("n = 1\nwith open(path) as n:\n    f(n)\n      ^\n", false);
    }

    #[test]
    fn what_a_loop_counts() {
        let check = |header: &str, name: &str, expected: bool| {
            let program = format!("{header}\n^^^\n    pass\n");
            marked::check(&program, expected, |at| is_counter(at.file(), at.node(), name));
        };
        check("for n in range(9):", "n", true);
        check("for n in reversed(range(9)):", "n", true);
        check("for n, (x, y) in enumerate(loader):", "n", true);
        check("for n, (x, y) in enumerate(loader):", "x", false);
        check("for x, n in zip(loader, range(9)):", "n", true);
        check("for x, n in zip(loader, range(9)):", "x", false);
        check("for n in tqdm(loader):", "n", false);
    }

    #[test]
    fn the_whole_number_that_a_tensor_can_replace() {
        let check = |loss: &str, mark: &str, expected: &str| {
            let loops = "for epoch in range(3):\n    for x, y in loader:";
            let rest = "        loss.backward()\n        optimizer.step()";
            let program = format!("{loops}\n        loss = {loss}\n               {mark}\n{rest}\n");
            marked::check(&with_setup(&program), expected, |at| {
                let step = at.step().expect("a step");
                number(&step, at.node()).map_or("nothing", |id| step.file.view.index.text_of(id)).to_owned()
            });
        };
        check("min(1, epoch / 5) * net(x).mean()", "       ^^^^^", "min(1, epoch / 5)");
        check("net(x).mean() + 2 * epoch", "                    ^^^^^", "2 * epoch");
        // It chooses something.
        check("net(x)[epoch]", "       ^^^^^", "nothing");
        check("net(x).mean() * names", "                ^^^^^", "nothing");
    }
}
