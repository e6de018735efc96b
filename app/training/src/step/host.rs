//! Code outside the step that runs the model or reads its weights: functions that receive the model, and the order in
//! which a program reaches them.

use super::calls::arguments;
use super::forward::in_model;
use crate::project::FileInProject;
use crate::roles::Role;
use crate::steps::runs_without_gradients;
use crate::words::MODULE_METHODS;
use python::PythonFile;
use python::names::{called_name, dotted};
use python::tree::{Id, kinds};
use sorting::SortedSet;

/// Calls that receive a model and may run or read it during or after training: functions that this file does not
/// define, directly or as a `partial` that already has the model, and the model's own methods.
pub fn host_uses<'v>(file: FileInProject<'v, '_>, step: Id) -> impl Iterator<Item = Id> + 'v {
    let k = kinds();
    let index = &file.view.index;
    let is_model = move |id: Id| {
        let value = index.value(id).filter(|_| index.kind(id) == k.keyword_argument).unwrap_or(id);
        let owner = index.callee(value).filter(|_| called_name(index, value) == Some("parameters"));
        let value = owner.and_then(|o| index.owner(o)).unwrap_or(value);
        file.role(value) == Some(Role::Model)
    };
    let is_handed = move |call: Id| arguments(&file, call).into_iter().any(is_model);
    let assigned = |partial: &Id| {
        let assignment = index.parent(*partial).and_then(|parent| index.assignment(parent))?;
        assignment.target().map(|target| index.text_of(target))
    };
    let partials: SortedSet<&str> =
        file.calls("partial").iter().filter(|partial| is_handed(**partial)).filter_map(assigned).collect();
    // Methods of a model that use its weights, other than `forward`: `model.decode(z)`.
    let is_method = move |call: Id, name: &str| {
        let prepares = ["init", "reset", "set_", "load"].iter().any(|p| name.starts_with(p));
        let owner = file.index.receiver(call);
        !prepares
            && !MODULE_METHODS.contains(&name)
            && owner.is_some_and(|o| dotted(index, o).is_some() && file.role(o) == Some(Role::Model))
    };
    let asks = |name: &str| {
        matches!(name, "print" | "len" | "id" | "type" | "isinstance" | "hasattr" | "getattr" | "save")
            || name.split('_').any(|part| ["grad", "grads", "gradient", "gradients"].contains(&part))
    };
    index.of_kind(k.call).iter().copied().filter(move |call| {
        !in_model(file, *call)
            && called_name(index, *call).is_some_and(|n| {
                !n.starts_with(char::is_uppercase)
                    && !asks(n)
                    && (is_method(*call, n) || !file.defines(n) && (is_handed(*call) || partials.contains(n)))
            })
            && is_late(&file, *call, step, 3)
    })
}

/// Whether the program reaches a call after the model has been trained: directly, or by the calls of its function.
pub fn is_late(file: &PythonFile<'_>, call: Id, step: Id, calls: u8) -> bool {
    let Some(left) = calls.checked_sub(1) else { return false };
    if !trainings(file, call, step).is_empty() {
        return !comes_first(file, call, step);
    }
    runs_without_gradients(file, call)
        || file.function_of(call).is_some_and(|d| file.callers(d).any(|c| is_late(file, c, step, left)))
}

/// The places in a function where the step is run, or called, directly or by a function that leads to it.
fn trainings(file: &PythonFile<'_>, at: Id, step: Id) -> Vec<Id> {
    let index = &file.index;
    let here = |c: &Id| file.function_of(*c) == file.function_of(at);
    let backward = file.calls_in("backward", step).iter().copied();
    let mut out: Vec<Id> = backward.filter(here).collect();
    let mut functions: Vec<Id> = Vec::from_iter(Some(step).filter(|s| index.kind(*s) == kinds().function_definition));
    let mut read = 0;
    while let Some(&function) = functions.get(read) {
        read += 1;
        for call in file.callers(function) {
            match file.function_of(call) {
                _ if here(&call) => out.push(call),
                Some(outer) if !functions.contains(&outer) => functions.push(outer),
                _ => {}
            }
        }
    }
    out
}

/// Whether a call is made exactly once before anything is trained.
pub fn comes_first(file: &PythonFile<'_>, call: Id, step: Id) -> bool {
    let index = &file.index;
    let trainings = trainings(file, call, step);
    let looped = |a: Id| file.index.is_loop(a) && trainings.iter().any(|t| index.is_within(*t, a));
    trainings.iter().all(|t| call < *t) && !index.ancestors(call).any(looped)
}

/// The outermost statement around a call, within its function, that does not train.
pub fn outermost_without(file: &PythonFile<'_>, call: Id, step: Id) -> Option<Id> {
    let k = kinds();
    let index = &file.index;
    let trainings = trainings(file, call, step);
    let inner = index.ancestors(call).take_while(|a| {
        ![k.function_definition, k.class_definition].contains(&index.kind(*a))
            && !trainings.iter().any(|t| index.is_within(*t, *a))
    });
    let is_statement =
        |id: &Id| index.parent(*id).is_some_and(|p| index.kind(p) == k.block || index.kind(p) == k.module);
    inner.filter(is_statement).last()
}

#[cfg(test)]
mod tests {
    use super::{comes_first, host_uses, is_late, outermost_without};
    use crate::marked::{self, with_setup};

    #[test]
    fn a_model_that_other_code_gets_after_training() {
        let check = |rest: &str, expected: &str| {
            let step = "for x, y in loader:\n    net(x).mean().backward()\n    optimizer.step()\n";
            marked::check(&with_setup(&format!("{step}{rest}\n")), expected, |at| {
                at.lines(host_uses(at.file(), at.whole()))
            });
        };
        check("report(net)", "report(net)");
        check("report(weights=net.parameters())", "report(weights=net.parameters())");
        check("net.decode(x)", "net.decode(x)");
        check("print(net)", "");
        check("net.eval()", "");
        check("def report(a):\n    pass\nreport(net)", "");
    }

    #[test]
    fn what_runs_after_training_and_what_before() {
        let check = |program: &str, late: bool, first: bool| {
            marked::check(program, [late, first], |at| {
                [is_late(&at.file(), at.node(), at.whole(), 3), comes_first(&at.file(), at.node(), at.whole())]
            });
        };
        let fit = "def fit():\n    net(x).backward()\n";
        check(&format!("{fit}g(1)\n^^^^\nfit()\n"), false, true);
        check(&format!("{fit}fit()\ng(1)\n^^^^\n"), true, false);
        check(&format!("{fit}for e in r:\n    g(1)\n    ^^^^\n    fit()\n"), true, false);
        check(&format!("{fit}def h():\n    g(1)\n    ^^^^\nfit()\nh()\n"), true, true);
    }

    #[test]
    fn the_statement_around_a_call_that_trains_nothing() {
        let loops = "for e in r:\n    for x in y:\n        net(x).backward()\n    if e:\n        g(1)\n        ^^^^\n";
        marked::check(loops, "if e:", |at| at.lines(outermost_without(&at.file(), at.node(), at.whole())));
    }
}
