//! Tensors: each is moved where the loop, the assignment or the parameter binds its name.

use super::host::is_plain;
use super::scope::{Scope, exported, forwards, traces};
use super::sources::{Binding, Source, gives_no_tensor, value_given};
use super::{Moves, add, is_call_of, is_moved, statement};
use crate::project::{FileInProject, moves_to_device};
use crate::roles::Role;
use crate::step::{assigned, in_model, is_counter, qualified, reads, spread};
use crate::words::TENSOR_COMBINATIONS;
use crate::words::TENSOR_METHODS;
use crate::words::TENSOR_OPERATIONS;
use python::names::called_name;
use python::syntax::Argument;
use python::tree::{Id, kinds};
use sorting::SortedSet;

pub(super) fn read(file: FileInProject<'_, '_>, moves: &mut Moves) {
    let scopes: SortedSet<Option<Id>> = forwards(file).map(|call| file.function_of(call)).collect();
    for function in scopes {
        Scope::read(file, function).add_to(moves);
    }
}

/// The parts of an argument.
#[derive(Default)]
struct Parts {
    /// Names.
    names: Vec<Id>,
    /// Tensors without a name: `pair[0]`, `torch.rand(4)`.
    expressions: Vec<Id>,
}

/// Names bound together, and the statement before which they are moved.
struct Bound {
    by: Binding,
    at: Id,
    names: Vec<String>,
}

impl Scope<'_, '_> {
    fn add_to(&self, moves: &mut Moves) {
        let index = &self.file.view.index;
        let mut own: Vec<Bound> = Vec::new();
        let mut unknown: Vec<Id> = Vec::new();
        let mut expressions: Vec<Id> = Vec::new();
        let losses = self.losses();
        for call in self.forwards.iter().chain(&losses) {
            let is_loss = losses.contains(call);
            let (skipped, most) = match traces(self.file, *call) {
                true => (1, 1),
                false => (0, if is_loss { 2 } else { usize::MAX }),
            };
            for argument in index.arguments(*call).iter().skip(skipped).take(most) {
                let mut parts = Parts::default();
                let is_followed = match argument {
                    Argument::Positional(id) | Argument::Keyword { value: id, .. } => self.parts(id, &mut parts),
                    Argument::UnpackedTable(id) => self.add_table(id, *call, moves),
                    Argument::Unpacked(_) => false,
                };
                if !is_followed {
                    unknown.push(*call);
                }
                for name in parts.names {
                    match self.source(name, *call) {
                        Source::Moved { at, .. } if self.is_table(index.text_of(name)) => {
                            add(&mut moves.tables, at, false, [index.text_of(name).to_owned()]);
                        }
                        Source::Moved { by, at } => {
                            let name = index.text_of(name).to_owned();
                            match own.iter_mut().find(|one| one.by == by) {
                                Some(one) => {
                                    one.at = one.at.min(at);
                                    one.names.push(name);
                                }
                                None => own.push(Bound { by, at, names: vec![name] }),
                            }
                        }
                        Source::Nothing => {}
                        Source::Unknown => parts.expressions.push(name),
                        Source::NotFollowed => unknown.push(*call),
                    }
                }
                expressions.extend(parts.expressions);
            }
        }
        for one in &mut own {
            self.add_companions(one);
        }
        let made_of: Vec<Id> = own.iter().flat_map(|one| self.parts_of(one.by)).collect();
        own.extend(self.earlier(&own));
        let beside = self.beside(expressions.iter().copied().chain(made_of));
        // What is moved where it gets its name needs no move below.
        for one in &mut own {
            if let Binding::Assigned(by) = one.by {
                let is_done =
                    |name: &str| value_given(self.file, by, name).is_some_and(|value| beside.contains(&value));
                one.names.retain(|name| !is_done(name));
            }
        }
        own.retain(|one| !one.names.is_empty());
        expressions.extend(beside);
        expressions.extend(self.accumulators());
        sorting::plain(&mut expressions);
        expressions.dedup();
        let mut kept: Vec<(Id, String)> = Vec::new();
        expressions.retain(|id| match self.before_loop(*id) {
            Some(at) => {
                kept.push((at, index.text_of(*id).to_owned()));
                false
            }
            None => true,
        });
        moves.expressions.extend(expressions);
        unknown.dedup();
        moves.unknown_tensors.extend(unknown);
        sorting::by_key(&mut own, |one| one.at);
        let is_moved =
            |name: &str| own.iter().any(|one| one.names.iter().any(|n| n == name)) || self.computed.contains(name);
        moves.exported.extend(exported(self.file).filter(|id| {
            let is_host = index.parent(*id).and_then(|p| index.attribute(p)?.name()) == Some("cpu");
            self.file.function_of(*id) == self.function && is_moved(index.text_of(*id)) && !is_host
        }));
        for Bound { at, names, .. } in own {
            add(&mut moves.tensors, at, false, names);
        }
        for (at, name) in kept {
            add(&mut moves.tensors, at, false, [name]);
        }
    }

    /// The loop before which an attribute such as `self.labels` can be moved once: only this function reads it, and no loop of it
    /// assigns it.
    fn before_loop(&self, node: Id) -> Option<Id> {
        let (file, index, k) = (self.file, &self.file.view.index, kinds());
        let text = index.text_of(node);
        let is_own = index.owner(node).is_some_and(|owner| index.is_text(owner, "self"));
        let is_loop = |id: &Id| [k.for_statement, k.while_statement].contains(&index.kind(*id));
        let around = index.ancestors(node).take_while(|a| Some(*a) != self.function);
        let outermost = around.filter(is_loop).last().filter(|_| is_own && index.kind(node) == k.attribute)?;
        let mut same = index.of_kind(k.attribute).iter().copied().filter(|id| index.is_text(*id, text));
        let is_fixed = same.all(|id| match index.is_stored(id) {
            true => file.function_of(id) != self.function,
            false => file.function_of(id) == self.function && index.is_within(id, outermost),
        });
        is_fixed.then_some(outermost)
    }

    /// Calls of losses that receive a model's result.
    pub(super) fn losses(&self) -> Vec<Id> {
        let (file, index) = (self.file, &self.file.view.index);
        let is_loss = |call: &Id| {
            let by_role = index.callee(*call).is_some_and(|callee| file.role(callee) == Some(Role::Criterion));
            let of_torch = qualified(file.view, *call).is_some_and(|name| {
                let last = name.strip_prefix("torch.nn.functional.").unwrap_or_default();
                last.ends_with("loss") || last.contains("cross_entropy") || last == "kl_div"
            });
            let by_name = called_name(index, *call).is_some_and(|name| name.to_ascii_lowercase().ends_with("loss"));
            (by_role || of_torch || by_name) && file.function_of(*call) == self.function && !in_model(file, *call)
        };
        let calls = index.of_kind(kinds().call).iter().copied().filter(is_loss);
        calls.filter(|call| self.stays(*call)).collect()
    }

    /// Adds a dictionary that a model receives through `**`, if a loop or an assignment binds its name.
    fn add_table(&self, argument: Id, call: Id, moves: &mut Moves) -> bool {
        let index = &self.file.view.index;
        let Some(name) = index.parts(argument).next().filter(|id| index.kind(*id) == kinds().identifier) else {
            return false;
        };
        match self.source(name, call) {
            Source::Moved { at, .. } => add(&mut moves.tables, at, false, [index.text_of(name).to_owned()]),
            Source::Nothing => {}
            Source::Unknown | Source::NotFollowed => return false,
        }
        true
    }

    /// Whether the function looks something up by a key in a name's value, `batch["label"]`, or assigns one. Graphs of
    /// PyTorch Geometric also have keys, and have their own `to`.
    fn is_table(&self, name: &str) -> bool {
        let (file, index, k) = (self.file, &self.file.view.index, kinds());
        let has_key = |s: &Id| index.parts(*s).nth(1).is_some_and(|key| index.kind(key) == k.string);
        let of_name = |s: &Id| index.value(*s).is_some_and(|value| index.text_of(value) == name);
        let is_here = |s: &Id| file.function_of(*s) == self.function;
        let graphs = file.project.imports("torch_geometric");
        !graphs && index.of_kind(k.subscript).iter().any(|s| is_here(s) && of_name(s) && has_key(s))
    }

    /// Other elements of the same value that are read together with a model's result: `pair[1]` if the model receives
    /// `pair[0]`.
    fn beside(&self, expressions: impl Iterator<Item = Id>) -> Vec<Id> {
        let (file, index, k) = (self.file, &self.file.view.index, kinds());
        let of_value = |id: Id| [k.subscript, k.attribute].contains(&index.kind(id));
        let value = |id: Id| index.value(id).or_else(|| index.owner(id)).map(|value| index.text_of(value));
        let values = expressions.filter(|id| of_value(*id)).filter_map(value).filter(|v| *v != "self");
        let values: SortedSet<&str> = values.collect();
        let nodes = index.of_kind(k.subscript).iter().chain(index.of_kind(k.attribute)).copied();
        nodes
            .filter(|id| value(*id).is_some_and(|value| values.contains(value)) && !index.is_stored(*id))
            .filter(|id| file.function_of(*id) == self.function)
            .filter(|id| self.meets_result(*id) || self.is_named(*id))
            .collect()
    }

    /// Whether an expression, or a tensor that is made of it alone, is combined with a model's result: as an operand, or
    /// by a function of tensors.
    fn meets_result(&self, node: Id) -> bool {
        let (file, index, k) = (self.file, &self.file.view.index, kinds());
        let mut at = node;
        loop {
            let Some(parent) = index.parent(at) else { return false };
            let kind = index.kind(parent);
            let others = |all: Id| index.parts(all).any(|other| other != at && self.is_result(other));
            if kind == k.parenthesized_expression {
                at = parent;
            } else if kind == k.subscript && index.value(parent) == Some(at) {
                match index.parts(parent).nth(1) {
                    Some(part) if index.kind(part) == k.slice => at = parent,
                    _ => return others(parent),
                }
            } else if let Some(call) = index.parent(parent).filter(|call| index.receiver(*call) == Some(at)) {
                if index.arguments(call).positional().any(|argument| self.is_result(argument)) {
                    return is_call_of(file, call, TENSOR_OPERATIONS);
                }
                if !is_call_of(file, call, TENSOR_METHODS) {
                    return false;
                }
                at = call;
            } else if kind == k.argument_list {
                let Some(call) = index.parent(parent) else { return false };
                let of_torch = qualified(file.view, call).is_some_and(|name| name.starts_with("torch."));
                let meets =
                    if of_torch { others(parent) } else { index.receiver(call).is_some_and(|r| self.is_result(r)) };
                return meets && is_call_of(file, call, TENSOR_OPERATIONS);
            } else if [k.binary_operator, k.comparison_operator].contains(&kind) {
                // A number that a sum is divided by is none.
                let is_scalar = |other: Id| other != at && self.is_reduced(other, 3);
                if others(parent) {
                    return !index.parts(parent).any(is_scalar);
                }
                at = parent;
            } else {
                return false;
            }
        }
    }

    /// Whether an operand is a model's result on the device, as far as its calls are known.
    fn is_result(&self, node: Id) -> bool {
        let (file, index) = (self.file, &self.file.view.index);
        let losses = self.losses();
        let is_known = |call: &Id| {
            self.forwards.contains(call)
                || losses.contains(call)
                || index.receiver(*call).is_some_and(|receiver| self.stays(receiver))
                || qualified(file.view, *call).is_some_and(|name| name.starts_with("torch."))
        };
        let calls = index.of_kind_in(kinds().call, node).iter().copied();
        let own = Some(node).filter(|node| index.kind(*node) == kinds().call);
        self.stays(node) && calls.chain(own).filter(|call| self.stays(*call)).all(|call| is_known(&call))
    }

    /// Whether an expression is a single number, such as a sum or a loss.
    fn is_reduced(&self, node: Id, depth: u8) -> bool {
        let (file, index, k) = (self.file, &self.file.view.index, kinds());
        let Some(depth) = depth.checked_sub(1) else { return false };
        let kind = index.kind(node);
        if kind == k.identifier {
            let own = |id: &Id| file.function_of(*id) == self.function;
            let given = index.assignments_to(index.text_of(node)).filter(|a| own(&a.id())).filter_map(|a| a.value());
            return given.into_iter().any(|value| self.is_reduced(value, depth));
        }
        if kind == k.parenthesized_expression || kind == k.binary_operator {
            let mut parts = index.parts(node);
            return parts.all(|part| self.is_reduced(part, depth) || is_plain(file, part));
        }
        let reduces = ["sum", "mean", "norm", "max", "min", "prod", "std", "var"];
        let of_torch = || qualified(file.view, node).is_some_and(|name| name.starts_with("torch."));
        let of_all = || index.arguments(node).ids().count() == usize::from(of_torch());
        kind == k.call
            && (self.losses().contains(&node)
                || is_call_of(file, node, &reduces) && of_all()
                || index.receiver(node).is_some_and(|receiver| self.is_reduced(receiver, depth)))
    }

    /// Whether an expression gets a name, by which it is combined with a model's result.
    fn is_named(&self, node: Id) -> bool {
        let (file, index) = (self.file, &self.file.view.index);
        let Some(assignment) = index.parent(node).and_then(|parent| index.assignment(parent)) else { return false };
        let Some(name) = assignment.target().filter(|_| assignment.value() == Some(node)) else { return false };
        let name = index.text_of(name);
        let reads = file.view.identifiers(name).iter().copied();
        reads
            .filter(|read| file.function_of(*read) == self.function && *read > node)
            .any(|read| self.meets_result(read) && !is_moved(file, self.function, name))
    }

    /// The parts of an argument; false if they can't be determined.
    fn parts(&self, node: Id, out: &mut Parts) -> bool {
        let (file, index, k) = (self.file, &self.file.view.index, kinds());
        let kind = index.kind(node);
        if kind == k.identifier {
            out.names.push(node);
            return true;
        }
        if is_plain(file, node) {
            return true;
        }
        if kind == k.call {
            if self.forwards.contains(&node) {
                return true;
            }
            let stays = || is_call_of(file, node, &["to"]) && !moves_to_device(file.view, node);
            if let Some(receiver) = index.receiver(node).filter(|_| is_call_of(file, node, TENSOR_METHODS) || stays()) {
                return self.parts(receiver, out);
            }
            if is_call_of(file, node, TENSOR_COMBINATIONS) {
                let ids: Vec<Id> = index.arguments(node).positional().collect();
                return ids.into_iter().all(|id| self.parts(id, out));
            }
            if self.is_computed(node) {
                return true;
            }
            let makes = qualified(file.view, node).is_some_and(|name| name.starts_with("torch."));
            if makes {
                out.expressions.push(node);
            }
            return makes || is_call_of(file, node, &["to"]);
        }
        if [k.list, k.tuple, k.binary_operator, k.unary_operator, k.parenthesized_expression].contains(&kind) {
            let parts: Vec<Id> = index.parts(node).collect();
            return parts.into_iter().all(|part| self.parts(part, out));
        }
        if self.is_computed(node) {
            return true;
        }
        if self.is_option(node) {
            return true;
        }
        let is_tensor = [k.subscript, k.attribute].contains(&kind);
        if is_tensor && !is_moved(file, self.function, index.text_of(node)) {
            out.expressions.push(node);
        }
        is_tensor
    }

    /// Whether an expression is a command-line option, `args.beta`: an attribute of the result of `parse_args`, by its
    /// name anywhere in the file.
    fn is_option(&self, node: Id) -> bool {
        let (file, index) = (self.file, &self.file.view.index);
        let Some(owner) = index.attribute(node).and_then(|attribute| attribute.owner()) else { return false };
        let parses = |call: &Id| {
            let assignment = index.parent(*call).and_then(|parent| index.assignment(parent));
            assignment.is_some_and(|a| a.assigns(index.text_of(owner)))
        };
        file.calls("parse_args").iter().any(parses)
    }

    /// Whether an expression is computed from a model's result.
    pub(super) fn is_computed(&self, node: Id) -> bool {
        let index = &self.file.view.index;
        reads(self.file.view, node).iter().any(|id| self.computed.contains(index.text_of(*id)))
    }

    /// Whether a model's result is still on the device where a statement combines it with a read.
    fn joins_on_device(&self, read: Id, statement: Id) -> bool {
        let index = &self.file.view.index;
        let around = index.ancestors(read).take_while(|around| *around != statement).chain([statement]);
        let has_result =
            |around: &Id| self.is_computed(*around) || self.forwards.iter().any(|call| index.is_within(*call, *around));
        around.into_iter().find(has_result).is_none_or(|around| self.stays(around))
    }

    /// Where a binding puts its names.
    fn target(&self, by: Binding) -> Option<Id> {
        let index = &self.file.view.index;
        match by {
            Binding::Assigned(statement) => index.parts(statement).next().and_then(|a| index.target(a)),
            Binding::Loop(around) => index.target(around),
            Binding::Parameter => None,
        }
    }

    /// Whether a binding gives a name something else than a tensor.
    fn gives_no_tensor(&self, by: Binding, name: &str) -> bool {
        match by {
            Binding::Loop(around) => is_counter(self.file, around, name),
            Binding::Assigned(statement) => gives_no_tensor(self.file, statement, name),
            Binding::Parameter => false,
        }
    }

    /// The elements of a batch that an assignment gives, `pair[0]`, or computes something of, `pair[0] + 1`. What is computed may
    /// be a tensor made of numbers, such as settings or sizes, so there the batch has to be what a loop or `next` gives.
    fn parts_of(&self, by: Binding) -> Vec<Id> {
        let (file, index, k) = (self.file, &self.file.view.index, kinds());
        let Binding::Assigned(statement) = by else { return Vec::new() };
        let values = self.target(by).map_or_else(Vec::new, |target| spread(file.view, target));
        let given = values.into_iter().filter_map(|name| value_given(file, statement, index.text_of(name)));
        let gives_batches = |name: Id| match self.source(name, name) {
            Source::Moved { by: Binding::Loop(_), .. } => true,
            Source::Moved { by: Binding::Assigned(by), .. } => {
                value_given(file, by, index.text_of(name)).is_some_and(|value| is_call_of(file, value, &["next"]))
            }
            _ => false,
        };
        let is_of_batch = |id: &Id| {
            let has_number = index.parts(*id).nth(1).is_some_and(|key| index.kind(key) == k.integer);
            let value = index.value(*id).filter(|value| has_number && index.kind(*value) == k.identifier);
            value.is_some_and(gives_batches)
        };
        let of_batch = index.of_kind_in(k.subscript, statement).iter().copied().filter(is_of_batch);
        given.chain(of_batch).filter(|id| !index.is_stored(*id)).collect()
    }

    /// Names that are combined with a model's result and were bound together with one that a moved tensor is made of:
    /// `target` of `image, target = pair`, if the model receives `image = image + noise`.
    fn earlier(&self, own: &[Bound]) -> Vec<Bound> {
        let (file, index) = (self.file, &self.file.view.index);
        let mut found: Vec<Bound> = Vec::new();
        let mut open: Vec<Binding> = own.iter().map(|one| one.by).collect();
        // Names that get another value on the way to the model.
        let mut rebound: SortedSet<(usize, &str)> = SortedSet::new();
        while let Some(by) = open.pop() {
            let Binding::Assigned(statement) = by else { continue };
            for read in reads(file.view, statement) {
                let Source::Moved { by, at } = self.source(read, read) else { continue };
                if own.iter().any(|one| one.by == by) {
                    continue;
                }
                let place = found.iter().position(|one| one.by == by).unwrap_or_else(|| {
                    found.push(Bound { by, at, names: Vec::new() });
                    open.push(by);
                    found.len() - 1
                });
                rebound.extend(assigned(file.view, statement).into_iter().map(|name| (place, name)));
            }
        }
        for (place, one) in found.iter_mut().enumerate() {
            let names = self.target(one.by).map_or(&[][..], |target| index.of_kind_in(kinds().identifier, target));
            for name in names.iter().map(|id| index.text_of(*id)) {
                let is_bound = |read: Id| match one.by {
                    Binding::Loop(around) => index.is_within(read, around),
                    Binding::Assigned(statement) => read > statement,
                    Binding::Parameter => true,
                };
                let is_here = |read: Id| file.function_of(read) == self.function && is_bound(read);
                let is_read = |read: &&Id| is_here(**read) && self.meets_result(**read);
                let first = file.view.identifiers(name).iter().find(is_read);
                let is_other = self.gives_no_tensor(one.by, name)
                    || is_moved(file, self.function, name)
                    || rebound.contains(&(place, name));
                if let Some(first) = first.and_then(|read| statement(file, *read)).filter(|_| !is_other) {
                    one.at = one.at.min(first);
                    one.names.push(name.to_owned());
                }
            }
        }
        found.retain(|one| !one.names.is_empty());
        found
    }

    /// Adds names bound together with a moved tensor, if they are read together with a model's result.
    fn add_companions(&self, one: &mut Bound) {
        let (file, index, k) = (self.file, &self.file.view.index, kinds());
        let Some(target) = self.target(one.by) else { return };
        let reports = |s: Id| {
            let value = index.parts(s).next();
            value.is_some_and(|v| index.kind(v) == k.call && !is_call_of(file, v, &["backward"]))
        };
        for &id in index.of_kind_in(k.identifier, target) {
            let name = index.text_of(id);
            let meets = |s: &&Id| self.is_on_device(**s) && !reports(**s);
            let is_read = self.statements.iter().filter(meets).any(|s| {
                let joins = |read: &Id| {
                    !only_counts(file, *read) && !is_only_collected(file, *read, *s) && self.joins_on_device(*read, *s)
                };
                reads(file.view, *s).iter().any(|read| index.text_of(*read) == name && joins(read))
            });
            if !self.gives_no_tensor(one.by, name)
                && is_read
                && !one.names.iter().any(|n| n == name)
                && !is_moved(file, self.function, name)
            {
                one.names.push(name.to_owned());
            }
        }
        // As the program writes them.
        let place =
            |name: &String| index.of_kind_in(k.identifier, target).iter().position(|id| index.text_of(*id) == name);
        sorting::by_key(&mut one.names, place);
    }
}

/// Whether a statement only puts what is read into a collection, or returns it, beside other values.
fn is_only_collected(file: FileInProject<'_, '_>, read: Id, statement: Id) -> bool {
    let (index, k) = (&file.view.index, kinds());
    let collects = [k.tuple, k.list, k.dictionary, k.pair, k.expression_list, k.return_statement];
    index.ancestors(read).take_while(|a| *a != statement).chain([statement]).all(|a| collects.contains(&index.kind(a)))
}

/// Whether a read of a tensor only reads its size.
fn only_counts(file: FileInProject<'_, '_>, read: Id) -> bool {
    let index = &file.view.index;
    let Some(parent) = index.parent(read) else { return false };
    let of = index.attribute(parent).and_then(|attribute| attribute.name());
    let is_length = index.parent(parent).is_some_and(|call| is_call_of(file, call, &["len"]));
    is_length || of.is_some_and(|name| matches!(name, "size" | "shape" | "numel" | "dim" | "ndim"))
}
