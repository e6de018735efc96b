//! `compile-training-step`: for targets that compile forward pass, loss, backward pass and update into one program. The
//! model and the statements from its call to the loss move into a module of their own; the training step calls that.

mod accumulation;
mod around;
mod callee;
mod changing;
mod far;
mod known;
mod micro_batches;
mod module;
mod moved;
mod obstacles;
mod origins;
mod phase;
mod plan;
mod precision;
mod settle;
mod slice;
mod step;
mod text;
mod units;
mod way;

use super::named_loss::{Reason, loss_of, name_loss};
use super::{Input, Wish};
use crate::change::Change;
use crate::facts::FileView;
use crate::facts::modes::Region;
use crate::facts::roles::Role;
use crate::names::called_name;
use crate::tree::{Id, fields, kinds};

pub(super) fn run(input: &Input<'_, '_>) -> Vec<Wish> {
    let Some(view) = input.view else { return Vec::new() };
    if view.names.imports("poptorch") && view.defines("ipu_training_step") && input.project.modes.is_none() {
        micro_batches::note_division(input, view);
        note_own_optimizers(input, view);
        return settle::settle(input, view);
    }
    if view.names.imports("poptorch") || view.names.is_of_other_framework() {
        return Vec::new();
    }
    if view.calls("backward").is_empty() {
        note_step_elsewhere(input, view);
        note_save_elsewhere(input, view);
        return Vec::new();
    }
    let [step] = view.steps.training.as_slice() else {
        for step in &view.steps.training {
            let reason = helper(view, *step);
            let reason = reason
                .map_or("several training steps in one file. Give each a file of its own".to_owned(), |r| r.reason);
            input.refuse_step(view, *step, &format!("not ported: {reason}"));
        }
        return Vec::new();
    };
    if input.project.is_lightning(view, *step) {
        return Vec::new();
    }
    let refused = |input: &Input<'_, '_>, view: &FileView<'_>| {
        let [step] = view.steps.training.as_slice() else { return None };
        let refusal = planned(input, view, *step).err()?;
        Some(Reason { at: view.index.item(refusal.at).start, text: refusal.reason })
    };
    let done = name_loss(input, view, *step, &refused).map(|named| named.map(|wish| vec![wish])).unwrap_or_else(|| {
        let plan = planned(input, view, *step)
            .map_err(|refusal| Reason { at: view.index.item(refusal.at).start, text: refusal.reason })?;
        let simpler = plan.preparations();
        Ok(if simpler.is_empty() { plan.wishes() } else { simpler })
    });
    done.unwrap_or_else(|reason| {
        input.refuse_step_at(reason.at, &format!("not ported: {}", reason.text));
        Vec::new()
    })
}

/// What has to happen to a step, if the target can compile it.
fn planned<'a, 't>(input: &'a Input<'a, 't>, view: &'a FileView<'t>, step: Id) -> Result<plan::Plan<'a, 't>, Refusal> {
    match helper(view, step) {
        Some(refusal) => Err(refusal),
        None => plan::plan(input, view, step),
    }
}

/// Where a training step can't be followed, and what to write instead.
pub(super) struct Refusal {
    at: Id,
    reason: String,
}

/// A loop that clears gradients and hands its loss to a function of another file.
fn note_step_elsewhere(input: &Input<'_, '_>, view: &FileView<'_>) {
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    let clears = view.calls("zero_grad").iter().copied().find(|c| {
        let of = index.field(*c, f.function).and_then(|g| index.field(g, f.object));
        of.is_some_and(|o| input.project.role(view, o) == Some(Role::Optimizer))
            && index.ancestors(*c).any(|a| index.kind(a) == k.for_statement)
            && is_reached(input, view, *c)
    });
    if let Some(call) = clears {
        input.refuse_step(
            view,
            call,
            "not ported: the backward pass of this loop is in another function. Write `loss.backward()` and \
             `optimizer.step()` here, then port again",
        );
    }
}

/// An optimizer of the compiled step that is of no kind that PopTorch runs: it refuses it when it compiles.
fn note_own_optimizers(input: &Input<'_, '_>, view: &FileView<'_>) {
    let f = fields();
    let index = &view.index;
    let given =
        |call: &Id| index.field(*call, f.arguments).and_then(|a| index.parts(a).next()).map(|o| index.text_of(o));
    let compiled: Vec<&str> = view.calls("ipu_training_step").iter().filter_map(given).collect();
    for &assignment in index.of_kind(kinds().assignment) {
        let named = index.field(assignment, f.left).is_some_and(|l| compiled.contains(&index.text_of(l)));
        let Some(made) = index.field(assignment, f.right).filter(|_| named) else { continue };
        let kind = index.field(made, f.function).map_or("", |g| index.text_of(g));
        let full = index.field(made, f.function).and_then(|g| view.names.qualify(index, g)).unwrap_or_default();
        let is_class = called_name(index, made).is_some_and(|n| n.starts_with(char::is_uppercase));
        if is_class && !full.starts_with("poptorch.") && !full.starts_with("torch.optim.") {
            let message = format!(
                "PopTorch runs SGD, Adam, AdamW, RMSprop and LAMB of its own, and stops at the `{kind}` made here when it compiles the step. Take \
                 one of those here"
            );
            input.note(view, made, &message);
        }
    }
}

/// A file that saves a model whose step was compiled in another file: there is no way from here to what detaches it.
fn note_save_elsewhere(input: &Input<'_, '_>, view: &FileView<'_>) {
    let f = fields();
    let index = &view.index;
    if view.has_word("detach_from_ipu") {
        return;
    }
    let stem = |path: &str| path.rsplit('/').next().unwrap_or(path).trim_end_matches(".py").to_owned();
    let own = stem(input.path);
    // Of a program and its parts, one names the other.
    let trains = |(path, text): &&(&str, &str)| {
        let compiles = *path != input.path && text.contains("def ipu_training_step(");
        compiles && (view.has_word(&stem(path)) || text.contains(&own))
    };
    let Some((trainer, _)) = input.files.iter().find(trains) else { return };
    let of_model = view.calls("state_dict").iter().copied().filter(|call| {
        let of = index.field(*call, f.function).and_then(|g| index.field(g, f.object));
        of.is_some_and(|o| input.project.role(view, o) == Some(Role::Model))
    });
    let saves = |call: &Id| {
        let function = view.function_of(*call);
        view.calls("save").iter().any(|save| view.function_of(*save) == function) && is_reached(input, view, *call)
    };
    for call in of_model.filter(saves) {
        let message = format!(
            "while the program trains, these weights are on the IPU, and the host has those of the last time they were fetched. \
             Call `detach_from_ipu(ipu_training_steps.values())` of `{trainer}` before this"
        );
        input.note(view, call, &message);
    }
}

/// A step that somebody else makes: a function that is handed the loss, or an object that takes it.
pub(super) fn helper(view: &FileView<'_>, step: Id) -> Option<Refusal> {
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    view.calls("backward").iter().copied().filter(|c| index.is_within(*c, step)).find_map(|call| {
        let given = index.field(call, f.arguments).and_then(|a| index.parts(a).next());
        let by = index.field(call, f.function).and_then(|g| index.field(g, f.object))?;
        let names_loss = |id: Id| index.text_of(id).to_ascii_lowercase().contains("loss");
        if given.is_some_and(|g| index.kind(g) != k.keyword_argument && names_loss(g)) && !names_loss(by) {
            let by = index.text_of(by);
            let reason = format!(
                "`{by}` makes the backward pass, and the IPU has no use for it. Take it out of the script: \
                 `loss.backward()` and `optimizer.step()` on the plain model, then port again"
            );
            return Some(Refusal { at: call, reason });
        }
        let handed = index.kind(step) == k.function_definition
            && far::is_parameter(view, step, index.text_of(loss_of(view, call)));
        handed.then(|| Refusal {
            at: call,
            reason: "this function is handed the loss, and the IPU compiles model and loss together. Write the backward pass and \
                     the step where the model is called, then port again"
                .to_owned(),
        })
    })
}

fn refuse<T>(at: Id, reason: &str) -> Result<T, Refusal> {
    Err(Refusal { at, reason: reason.to_owned() })
}

fn wish(view: &FileView<'_>, at: Id, change: Change) -> Wish {
    Wish { at: view.index.item(at).start, changes: vec![change], imports: Vec::new() }
}

/// Whether the target can come to a place with the code that stands there.
fn is_reached(input: &Input<'_, '_>, view: &FileView<'_>, id: Id) -> bool {
    input.project.modes.as_ref().is_none_or(|m| matches!(m.region(&view.index, id), Region::Open | Region::Target))
}

/// The innermost loop around a node, within a function.
fn loop_of(view: &FileView<'_>, id: Id) -> Option<Id> {
    let k = kinds();
    view.index
        .ancestors(id)
        .take_while(|a| view.index.kind(*a) != k.function_definition)
        .find(|a| [k.for_statement, k.while_statement].contains(&view.index.kind(*a)))
}
