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
use std::collections::BTreeSet;

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
    let partials: BTreeSet<&str> =
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
    let backward = file.calls("backward").iter().copied().filter(|b| index.is_within(*b, step));
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
