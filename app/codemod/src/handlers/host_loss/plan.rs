//! What has to be known of a script before its step is rewritten, and what stands in the way.

use super::super::asked::asked_for;
use super::edits::command_line;
use super::loss_output::{LossOutput, loss_output};
use super::optimizer::{Optimizer, only_optimizer};
use super::{Input, Refusal};
use crate::facts::FileView;
use crate::facts::counting::counted;
use crate::facts::roles::Role;
use crate::names::{called_name, dotted};
use crate::tree::{Id, fields, kinds};

/// A script whose model, optimizer and step were all followed.
pub(super) struct Plan<'a, 't> {
    pub(super) input: &'a Input<'a, 't>,
    pub(super) view: &'a FileView<'t>,
    /// The call of the model in the training step.
    pub(super) forward: Id,
    /// A name for each tensor that the model is given.
    pub(super) inputs: Vec<String>,
    pub(super) optimizer: Optimizer<'t>,
    /// `optimizer.step()`, or the scaler's, as a statement.
    pub(super) update: Id,
    /// `backward()` with what it is called on.
    pub(super) backward: Id,
    /// The loss, when the model gives it.
    pub(super) loss: Option<LossOutput<'t>>,
    /// Calls of the model elsewhere: validation.
    pub(super) evaluations: Vec<Id>,
}

pub(super) fn refuse<T>(at: Id, reason: &'static str) -> Result<T, Refusal> {
    Err(Refusal { at, reason })
}

impl<'a, 't> Plan<'a, 't> {
    /// Whether one run of the session does the whole step.
    pub(super) fn in_one_run(&self) -> bool {
        self.loss.as_ref().is_some_and(|l| l.is_first)
    }

    pub(super) fn read(input: &'a Input<'a, 't>, view: &'a FileView<'t>) -> Result<Self, Refusal> {
        let step = match view.steps.training.as_slice() {
            [step] => *step,
            [_, second, ..] => {
                return refuse(*second, "the file has several training steps. Give each a file of its own");
            }
            [] => return refuse(crate::tree::ROOT, "no training step was found"),
        };
        if input.project.is_lightning(view, step) {
            return refuse(step, "Lightning calls the step; write the loop in plain PyTorch first");
        }
        if let Some(at) = view.differentiates() {
            return refuse(
                at,
                "gradients are part of what is computed, and on an RDU the host does not see them. Write a loss without them, or train this on another target",
            );
        }
        if view.has_word("rdu") {
            return refuse(step, "the name `rdu` is taken, and the port needs it. Rename it, then port again");
        }
        stands_alone(view)?;
        let update = only_update(input, view, step)?;
        let backward = only_backward(view, step)?;
        let forward = only_forward(input, view, step)?;
        same_loop(view, step, backward, update, forward)?;
        untouched_gradients(view, step, &|_| true)?;
        tensors_only(view, step, forward)?;
        let inputs = input_names(view, forward)?;
        let optimizer = only_optimizer(view, step)?;
        // SambaFlow's part of the command line has to be taken off before the program reads its own.
        if view.function_of(optimizer.call).is_some() && command_line(view, optimizer.call).is_none() {
            return refuse(
                optimizer.call,
                "the program starts in another file. Put its main block into this one, then port again",
            );
        }
        let evaluations = evaluations(input, view, forward, optimizer.model)?;
        let loss = loss_output(view, step, forward, backward, update);
        Ok(Self { input, view, forward, inputs, optimizer, update, backward, loss, evaluations })
    }
}

const GATHERED: &str = "gradients are added up over several batches, and on an RDU every batch goes forward, backward and updates. Let \
    the loader give batches of that size, take what counts them out of the step, and port again";
const TESTED: &str = "whether this part of the step runs depends on a test; on an RDU every batch goes forward, backward and updates. \
    Choose the batches above the model's call, or take the test out, then port again";

/// What trains on several machines does not go together with SambaFlow.
pub(super) fn stands_alone(view: &FileView<'_>) -> Result<(), Refusal> {
    const PARALLEL: [&str; 5] =
        ["DistributedDataParallel", "DDP", "DataParallel", "init_process_group", "FullyShardedDataParallel"];
    let always = |c: &&Id| !asked_for(view, **c);
    if let Some(call) = PARALLEL.iter().find_map(|n| view.calls(n).iter().find(always)) {
        return refuse(
            *call,
            "PyTorch's data parallelism is in the way. Write the script for one process, without this call, then port again: SambaFlow's own is \
             `--data-parallel` at compile and run",
        );
    }
    Ok(())
}

pub(super) fn arguments(view: &FileView<'_>, call: Id) -> Vec<Id> {
    view.index.field(call, fields().arguments).map_or_else(Vec::new, |a| view.index.parts(a).collect())
}

/// What a method is called on.
pub(super) fn object(view: &FileView<'_>, call: Id) -> Option<Id> {
    view.index.field(call, fields().function).and_then(|g| view.index.field(g, fields().object))
}

fn only_backward(view: &FileView<'_>, step: Id) -> Result<Id, Refusal> {
    plain_backward(view, step, &|_| true)
}

/// The one `backward()` of a step, as far as the target comes there.
pub(super) fn plain_backward(view: &FileView<'_>, step: Id, is_reached: &dyn Fn(Id) -> bool) -> Result<Id, Refusal> {
    let calls: Vec<Id> =
        view.calls("backward").iter().copied().filter(|c| view.index.is_within(*c, step) && is_reached(*c)).collect();
    match calls.as_slice() {
        [call] if arguments(view, *call).is_empty() => Ok(*call),
        [call] => refuse(
            *call,
            "`backward` is given arguments; only a plain `loss.backward()` is followed. Make the loss one number first, then port again",
        ),
        [_, second, ..] => refuse(
            *second,
            "the step goes backward more than once. Sum the losses, or keep one side of the test, then port again",
        ),
        [] => refuse(step, "no `backward()` was found. Write it beside the model's call, then port again"),
    }
}

fn only_update(input: &Input<'_, '_>, view: &FileView<'_>, step: Id) -> Result<Id, Refusal> {
    plain_update(input, view, step, &|_| true)
}

/// The one update of a step, as far as the target comes there.
pub(super) fn plain_update(
    input: &Input<'_, '_>,
    view: &FileView<'_>,
    step: Id,
    is_reached: &dyn Fn(Id) -> bool,
) -> Result<Id, Refusal> {
    let mut found = None;
    for &call in view.calls("step").iter().filter(|c| view.index.is_within(**c, step) && is_reached(**c)) {
        let Some(object) = object(view, call) else { continue };
        let given = arguments(view, call);
        match input.project.role(view, object) {
            Some(Role::Optimizer) if !given.is_empty() => {
                return refuse(
                    call,
                    "the optimizer is given a closure, and the update is a section of the compiled program. Call `step()` without it, then port again",
                );
            }
            Some(Role::Optimizer) => {}
            Some(Role::Scaler) if given.len() == 1 => {}
            _ => continue,
        }
        if found.is_some() {
            return refuse(
                call,
                "the step has two updates, and one loss with one optimizer is compiled. Do not add the losses up, which would train each model for both: \
                 write a step for each optimizer, with what the other model made as a detached input, or train this on another target",
            );
        }
        found = Some(call);
    }
    match found {
        Some(call) if is_statement(view, call) => Ok(call),
        Some(call) => {
            refuse(call, "what `step()` returns is used, and the RDU returns nothing. Go without it, then port again")
        }
        None => {
            refuse(step, "no `step()` of an optimizer was found beside `backward()`. Write it there, then port again")
        }
    }
}

/// Whether a call is a statement by itself.
pub(super) fn is_statement(view: &FileView<'_>, call: Id) -> bool {
    view.index.parent(call).is_some_and(|p| view.index.kind(p) == kinds().expression_statement)
}

/// Whether a node is in the class of a module: there calls of layers are no calls of the model.
fn in_module(input: &Input<'_, '_>, view: &FileView<'_>, id: Id) -> bool {
    view.class_of(id).is_some_and(|c| input.project.models.contains(view.name_of(c)))
}

pub(super) fn model_calls<'v>(input: &'v Input<'_, '_>, view: &'v FileView<'_>) -> impl Iterator<Item = Id> + 'v {
    let f = fields();
    view.index.of_kind(kinds().call).iter().copied().filter(move |call| {
        // `Net()` makes a model, `self.init_network()` is a method, and a loss can be a module, too.
        let makes = called_name(&view.index, *call).is_some_and(|n| {
            let lower = n.to_ascii_lowercase();
            n.starts_with(|c: char| c.is_ascii_uppercase())
                || view.defines(n)
                || lower.contains("loss")
                || lower.contains("criteri")
        });
        let of_torch = view
            .index
            .field(*call, f.function)
            .and_then(|g| view.names.qualify(&view.index, g))
            .is_some_and(|q| q.starts_with("torch."));
        !makes
            && !of_torch
            && view
                .index
                .field(*call, f.function)
                .is_some_and(|g| dotted(&view.index, g).is_some() && input.project.role(view, g) == Some(Role::Model))
            && !in_module(input, view, *call)
    })
}

fn only_forward(input: &Input<'_, '_>, view: &FileView<'_>, step: Id) -> Result<Id, Refusal> {
    let calls: Vec<Id> = model_calls(input, view).filter(|c| view.index.is_within(*c, step)).collect();
    // A validation that follows in the same function calls the model, too.
    let training: Vec<Id> = match calls.as_slice() {
        [_] => calls,
        _ => {
            let around = view
                .calls("backward")
                .iter()
                .find(|c| view.index.is_within(**c, step))
                .map(|c| loop_of(view, *c, step));
            calls.into_iter().filter(|c| Some(loop_of(view, *c, step)) == around).collect()
        }
    };
    match training.as_slice() {
        [call] => Ok(*call),
        [_, second, ..] => refuse(
            *second,
            "the step calls a model more than once; one call of one model is compiled. Make one module of the calls, then port again",
        ),
        [] => refuse(
            step,
            "the call of the model is not beside `backward()`. Put it into the function that goes backward, then port again",
        ),
    }
}

/// The innermost loop around a node in a function.
fn loop_of(view: &FileView<'_>, id: Id, within: Id) -> Option<Id> {
    let k = kinds();
    view.index
        .ancestors(id)
        .take_while(|a| *a >= within)
        .find(|a| [k.for_statement, k.while_statement, k.function_definition].contains(&view.index.kind(*a)))
}

/// Forward pass, backward pass and update take turns: one each, in one loop, under no test.
fn same_loop(view: &FileView<'_>, step: Id, backward: Id, update: Id, forward: Id) -> Result<(), Refusal> {
    let k = kinds();
    let around = loop_of(view, backward, step);
    for call in [forward, backward, update] {
        if loop_of(view, call, step) != around {
            return refuse(call, GATHERED);
        }
        let test = view
            .index
            .ancestors(call)
            .take_while(|a| Some(*a) != around)
            .find(|a| [k.if_statement, k.try_statement, k.conditional_expression].contains(&view.index.kind(*a)));
        if let Some(test) = test {
            return refuse(test, reason(view, test));
        }
    }
    let skips = around.into_iter().flat_map(|l| view.index.of_kind_in(k.continue_statement, l)).copied();
    let skipped = skips.into_iter().find(|id| *id > forward && *id < update && loop_of(view, *id, step) == around);
    if let Some(skipped) = skipped {
        let test = view.index.ancestors(skipped).find(|a| view.index.kind(*a) == k.if_statement).unwrap_or(skipped);
        return refuse(test, reason(view, test));
    }
    if forward < backward && backward < update {
        Ok(())
    } else {
        refuse(
            update,
            "forward pass, `backward()` and `step()` do not follow each other in this order. Write them so, then port again",
        )
    }
}

/// Why a test in the step can't stay.
fn reason(view: &FileView<'_>, test: Id) -> &'static str {
    let counts = view.index.field(test, fields().condition).is_some_and(|c| counted(view, c).is_some());
    if counts { GATHERED } else { TESTED }
}

/// Weights and their gradients are on the RDU during the step.
pub(super) fn untouched_gradients(
    view: &FileView<'_>,
    step: Id,
    is_reached: &dyn Fn(Id) -> bool,
) -> Result<(), Refusal> {
    const ON_THE_RDU: [&str; 6] =
        ["clip_grad_norm_", "clip_grad_value_", "clip_grad_norm", "parameters", "named_parameters", "register_hook"];
    let call = ON_THE_RDU
        .iter()
        .flat_map(|n| view.calls(n))
        .find(|c| view.index.is_within(**c, step) && is_reached(**c) && !in_optimizer_call(view, **c));
    if let Some(call) = call {
        return refuse(
            *call,
            "weights and their gradients are on the RDU during the step, so the host can't clip or change them. Take this line out and port again; \
             to clip, give `samba.optim.AdamW` its `max_grad_norm` in the port",
        );
    }
    let grad = view
        .index
        .of_kind_in(kinds().attribute, step)
        .iter()
        .find(|a| view.index.field(**a, fields().attribute).is_some_and(|n| view.index.text_of(n) == "grad"));
    match grad {
        Some(grad) => refuse(
            *grad,
            "this reads a gradient, and gradients of weights are on the RDU. Go without it, then port again",
        ),
        None => Ok(()),
    }
}

/// `model.parameters()` as the argument of an optimizer.
fn in_optimizer_call(view: &FileView<'_>, call: Id) -> bool {
    let k = kinds();
    view.index.ancestors(call).take_while(|a| view.index.kind(*a) != k.block).any(|a| {
        view.index.kind(a) == k.call
            && view
                .index
                .field(a, fields().function)
                .and_then(|g| view.names.qualify(&view.index, g))
                .is_some_and(|q| q.starts_with("torch.optim."))
    })
}

/// A compiled program gives tensors back, and no objects or tables of them.
pub(super) fn tensors_only(view: &FileView<'_>, step: Id, forward: Id) -> Result<(), Refusal> {
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    const OF_OBJECTS: [&str; 5] = ["logits", "loss", "last_hidden_state", "pooler_output", "hidden_states"];
    let opaque = |value: Id| {
        index.parent(value).is_some_and(|p| {
            (index.kind(p) == k.attribute
                && index.field(p, f.object) == Some(value)
                && index.field(p, f.attribute).is_some_and(|a| OF_OBJECTS.contains(&index.text_of(a))))
                || (index.kind(p) == k.subscript
                    && index.field(p, f.value) == Some(value)
                    && index.parts(p).nth(1).is_some_and(|s| index.kind(s) == k.string))
        })
    };
    let name = index
        .parent(forward)
        .filter(|p| index.kind(*p) == k.assignment)
        .and_then(|a| index.field(a, f.left))
        .map(|l| index.text_of(l));
    let used = index.of_kind_in(k.identifier, step).iter().copied().filter(|i| Some(index.text_of(*i)) == name);
    match std::iter::once(forward).chain(used).find(|v| opaque(*v)) {
        Some(at) => refuse(
            at,
            "the model gives an object back, and a compiled program gives tensors. Let `forward` return the tensors, then port again",
        ),
        None => Ok(()),
    }
}

/// A name for each argument of the model: what the compiled program calls it.
pub(super) fn input_names(view: &FileView<'_>, forward: Id) -> Result<Vec<String>, Refusal> {
    let k = kinds();
    let index = &view.index;
    let mut names: Vec<String> = Vec::new();
    for argument in arguments(view, forward) {
        let kind = index.kind(argument);
        let plain = [k.identifier, k.attribute, k.subscript, k.call].contains(&kind);
        if !plain {
            return refuse(
                argument,
                "the model is called with something else than tensors in their order; write `model(image, other)` with tensors only",
            );
        }
        // `image.to(device)` and `batch["image"]` are both the image.
        let words: Vec<&str> = index
            .text_of(argument)
            .split(|c: char| !(c.is_alphanumeric() || c == '_'))
            .filter(|w| w.starts_with(|c: char| c.is_alphabetic()))
            .take_while(|w| {
                !matches!(*w, "to" | "cuda" | "float" | "long" | "view" | "reshape" | "unsqueeze" | "permute")
            })
            .collect();
        let plain = words.last().copied().unwrap_or("input").to_ascii_lowercase();
        let mut name = plain.clone();
        let mut n = 2;
        while names.contains(&name) {
            name = format!("{plain}{n}");
            n += 1;
        }
        names.push(name);
    }
    if names.is_empty() {
        refuse(forward, "the model is called without a tensor. Hand it the batch, then port again")
    } else {
        Ok(names)
    }
}

/// Calls of the model outside the step, which the host makes.
fn evaluations(input: &Input<'_, '_>, view: &FileView<'_>, forward: Id, model: &str) -> Result<Vec<Id>, Refusal> {
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    let callee = |c: Id| index.field(c, f.function).map_or("", |g| index.text_of(g));
    let mut out = Vec::new();
    for call in model_calls(input, view).filter(|c| *c != forward) {
        let name = callee(call);
        let same = name == model || name == callee(forward);
        let taken = view.function_of(call).is_some_and(|g| view.binds(g, name));
        let named = arguments(view, call).iter().any(|a| index.kind(*a) == k.keyword_argument);
        if (!same && !taken) || named {
            return refuse(
                call,
                "another model is called here, or one with named arguments; only the model that is trained is followed. Call that one, with its tensors in their order, or evaluate in a script of its own",
            );
        }
        out.push(call);
    }
    Ok(out)
}
