//! The origin of the names that a model or a loss receives: a loop, an assignment or the caller, and whether they are
//! tensors.

use super::host::is_plain;
use super::scope::Scope;
use super::{is_call_of, is_moved, statement};
use crate::project::{FileInProject, moves_to_device};
use crate::roles::Role;
use crate::step::{assigned, given, is_counter, qualified, reads, spread};
use crate::words::TENSOR_METHODS;
use python::syntax::Parameter;
use python::tree::{Id, ROOT, kinds};

/// The origin of a name's tensor.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Binding {
    /// A loop.
    Loop(Id),
    /// An assignment's statement.
    Assigned(Id),
    /// The call of the function.
    Parameter,
}

/// The origin of a name.
pub(super) enum Source {
    /// It is moved before a statement.
    Moved { by: Binding, at: Id },
    /// It needs no move: a number, a result of a model, a name that is moved already.
    Nothing,
    /// Nothing in the function assigns it: it is moved where it is read.
    Unknown,
    /// It may not be a tensor: a list, or None.
    NotFollowed,
}

impl Scope<'_, '_> {
    /// The origin of a name that is passed to a call.
    pub(super) fn source(&self, name: Id, call: Id) -> Source {
        let (file, index, k) = (self.file, &self.file.view.index, kinds());
        let text = index.text_of(name);
        let is_other = matches!(
            file.role(name),
            Some(Role::Model | Role::Optimizer | Role::Criterion | Role::Loader | Role::Device | Role::Scheduler)
        );
        if is_other || file.names.by_import(text) || is_moved(file, self.function, text) || file.kinds(name).is_number()
        {
            return Source::Nothing;
        }
        let bindings: Vec<Id> = self
            .statements
            .iter()
            .copied()
            .filter(|s| *s < call && !index.is_within(call, *s) && assigned(file.view, *s).contains(&text))
            .collect();
        let on_device = |s: &Id| self.is_on_device(*s);
        let last = bindings.iter().rev().find(|s| !on_device(s)).copied();
        let is_inside = |around: &Id| Some(*around) != self.function;
        for around in index.ancestors(call).take_while(is_inside) {
            if index.kind(around) == k.for_statement
                && index.target(around).is_some_and(|target| mentions(file, target, text))
            {
                if last.is_some_and(|last| index.is_within(last, around)) {
                    break;
                }
                let first = index.body(around).and_then(|body| index.parts(body).next());
                return match first {
                    _ if is_counter(file, around, text) || loops_over_numbers(file, around) => Source::Nothing,
                    Some(at) => Source::Moved { by: Binding::Loop(around), at },
                    None => Source::Unknown,
                };
            }
        }
        if let Some(last) = last {
            return match value_given(file, last, text) {
                Some(value) if is_plain(file, value) => Source::Nothing,
                // `y = pair[1].to(device)`
                Some(value) if is_call_of(file, value, &["to"]) && moves_to_device(file.view, value) => Source::Nothing,
                Some(value) if is_collection(file, value) => Source::NotFollowed,
                _ => self.before(last, text, call),
            };
        }
        if !bindings.is_empty() || (self.computed.contains(text) && !self.is_used_as_tensor(text)) {
            return Source::Nothing;
        }
        match self.function.and_then(|function| index.function(function)?.parameters().find(|p| p.name == text)) {
            Some(parameter) => self.of_parameter(parameter, call),
            None => Source::Unknown,
        }
    }

    /// Whether the function calls a tensor method on a name, so that it is not a list or tuple of tensors.
    fn is_used_as_tensor(&self, name: &str) -> bool {
        let (file, index) = (self.file, &self.file.view.index);
        let is_of_name = |call: Id| index.receiver(call).is_some_and(|receiver| index.is_text(receiver, name));
        let calls = TENSOR_METHODS.iter().flat_map(|method| file.calls(method)).copied();
        calls.filter(|call| file.function_of(*call) == self.function).any(is_of_name)
    }

    /// As late as possible: values computed from it on the way to the model may stay on the CPU, unless they meet the
    /// model's result.
    fn before(&self, last: Id, name: &str, call: Id) -> Source {
        let (file, index) = (self.file, &self.file.view.index);
        let block = index.parent(last).filter(|block| *block == ROOT || index.is_within(call, *block));
        let first = self.first_met(last, name, call).unwrap_or(call);
        let in_block = |block: Id| index.parts(block).find(|s| index.is_within(first, *s));
        let at = block.and_then(in_block).or_else(|| statement(file, call));
        at.map_or(Source::Unknown, |at| Source::Moved { by: Binding::Assigned(last), at })
    }

    /// The first statement between two places that computes a value from a name, if another statement combines that
    /// value with a model's result. What a model or a loss is given has a move of its own.
    fn first_met(&self, after: Id, name: &str, before: Id) -> Option<Id> {
        let (file, index) = (self.file, &self.file.view.index);
        let losses = self.losses();
        let is_given = |id: Id| self.forwards.iter().chain(&losses).any(|call| index.is_within(id, *call));
        let meets = |s: Id| {
            let names = assigned(file.view, s);
            let joins = |read: &Id| names.contains(&index.text_of(*read)) && !is_given(*read);
            let later = self.statements.iter().filter(|later| **later > s && self.is_on_device(**later));
            later.flat_map(|later| reads(file.view, *later)).any(|read| joins(&read))
        };
        let between =
            self.statements.iter().copied().filter(|s| after < *s && *s < before && !index.is_within(before, *s));
        let reads_name = |s: &Id| reads(file.view, *s).iter().any(|id| index.is_text(*id, name));
        between.filter(|s| !self.is_on_device(*s)).find(|s| reads_name(s) && meets(*s))
    }

    fn of_parameter(&self, parameter: Parameter<'_>, call: Id) -> Source {
        let (file, index, k) = (self.file, &self.file.view.index, kinds());
        let annotation = index.field(parameter.id, python::tree::fields().r#type).map(|id| index.text_of(id));
        let may_be_tensor = |of: &str| ["Tensor", "Variable", "Any"].iter().any(|name| of.contains(name));
        let plain_for_callers = || {
            let function = self.function.map_or_else(Vec::new, |function| given(file.view, function, parameter.name));
            function.into_iter().all(|value| is_plain(file, value))
        };
        match parameter.default {
            _ if annotation.is_some_and(|of| ["int", "float", "bool", "str"].contains(&of)) => Source::Nothing,
            _ if annotation.is_some_and(|of| !may_be_tensor(of)) => Source::NotFollowed,
            Some(default) if index.kind(default) == k.none || is_collection(file, default) => Source::NotFollowed,
            Some(default) if is_plain(file, default) => {
                if plain_for_callers() {
                    Source::Nothing
                } else {
                    Source::NotFollowed
                }
            }
            _ => match statement(file, call) {
                Some(at) => Source::Moved { by: Binding::Parameter, at },
                None => Source::Unknown,
            },
        }
    }
}

/// Whether a loop iterates over numbers or strings, judging by its call: `keys()`, `tolist()`, a function of NumPy.
fn loops_over_numbers(file: FileInProject<'_, '_>, around: Id) -> bool {
    let index = &file.view.index;
    let is_plain = |source: Id| {
        let of_numpy = qualified(file.view, source).is_some_and(|name| name.starts_with("numpy."));
        of_numpy || is_call_of(file, source, &["tolist", "keys"])
    };
    index.source(around).is_some_and(is_plain)
}

/// The value that an assignment gives a name: in `a, b = [], x`, `a` is an empty list.
pub(super) fn value_given(file: FileInProject<'_, '_>, statement: Id, name: &str) -> Option<Id> {
    let index = &file.view.index;
    let assignment = index.parts(statement).next().and_then(|a| index.assignment(a))?;
    let (target, value) = (assignment.target()?, assignment.value()?);
    if assignment.assigns(name) {
        return Some(value);
    }
    let (targets, values) = (spread(file.view, target), spread(file.view, value));
    let at = targets.iter().position(|t| index.text_of(*t) == name).filter(|_| targets.len() == values.len())?;
    values.get(at).copied()
}

/// Whether an assignment gives a name a value that has no `to`.
pub(super) fn gives_no_tensor(file: FileInProject<'_, '_>, statement: Id, name: &str) -> bool {
    value_given(file, statement, name).is_some_and(|value| is_plain(file, value) || is_collection(file, value))
}

/// Whether an expression is a Python collection, which has no `to`.
fn is_collection(file: FileInProject<'_, '_>, value: Id) -> bool {
    let k = kinds();
    let collections =
        [k.list, k.tuple, k.dictionary, k.set, k.list_comprehension, k.dictionary_comprehension, k.set_comprehension];
    collections.contains(&file.view.index.kind(value))
}

fn mentions(file: FileInProject<'_, '_>, node: Id, name: &str) -> bool {
    let index = &file.view.index;
    let own = index.kind(node) == kinds().identifier && index.text_of(node) == name;
    own || index.mentions(node, |word| word == name)
}
