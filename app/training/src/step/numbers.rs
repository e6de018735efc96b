//! Python numbers in the loss that change during training: a weight that is warmed up, a temperature.

use super::TrainingStep;
use super::bindings::binds_in;
use super::callers::given;
use super::dataflow::reads;
use crate::project::FileInProject;
use crate::value::is_of_numbers;
use python::names::called_name;
use python::tree::{Id, fields, kinds};

/// The whole arithmetic expression on numbers that contains a changing value, if a tensor can replace it:
/// `min(1, epoch / 5)` of `min(1, epoch / 5) * penalty`. None if it is not a number, or decides something.
pub(crate) fn number(step: &TrainingStep<'_, '_>, value: Id) -> Option<Id> {
    let k = kinds();
    let index = &step.file.view.index;
    let mut whole = Some(value).filter(|id| step.file.kinds(*id).is_number())?;
    for around in index.ancestors(value) {
        if index.kind(around) != k.argument_list && !step.file.kinds(around).is_number() {
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
        None => file.index.bindings(text).iter().copied().filter_map(|b| index.source(b)).collect(),
    };
    values.into_iter().flat_map(|value| definitions(file, value, steps)).collect()
}

/// Whether a loop assigns Python numbers to a name: `n` of `for n, (x, y) in enumerate(loader)`, `t` of
/// `for t in tqdm(range(9))`.
pub(crate) fn is_counter(file: FileInProject<'_, '_>, around: Id, name: &str) -> bool {
    let index = &file.view.index;
    let targets = index.target(around).into_iter().flat_map(|target| index.of_kind_in(kinds().identifier, target));
    targets.copied().find(|id| index.is_text(*id, name)).is_some_and(|id| file.kinds(id).is_number())
}

#[cfg(test)]
mod tests {
    use super::{is_counter, number};
    use crate::marked::{self, with_setup};

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
