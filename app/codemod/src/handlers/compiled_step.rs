//! `compile-training-step`: for targets that compile forward pass, loss, backward pass and update into one program. The
//! model and the statements from its call to the loss move into a module of their own; the training step calls that.

mod accumulation;
mod around;
mod callee;
mod far;
mod moved;
mod phase;
mod plan;
mod precision;
mod slice;
mod text;
mod units;

use super::{Input, Wish};
use crate::change::Change;
use crate::facts::FileView;
use crate::facts::modes::Region;
use crate::facts::roles::Role;
use crate::tree::{Id, kinds};

pub(super) fn run(input: &Input<'_, '_>) -> Vec<Wish> {
    let Some(view) = input.view else { return Vec::new() };
    if view.names.imports("poptorch") || view.names.is_of_other_framework() || view.calls("backward").is_empty() {
        return Vec::new();
    }
    let [step] = view.steps.training.as_slice() else {
        for step in &view.steps.training {
            input.note(view, *step, "not ported: several training steps in one file. Give each a file of its own");
        }
        return Vec::new();
    };
    if input.project.is_lightning(view, *step) {
        return Vec::new();
    }
    match plan::plan(input, view, *step) {
        Ok(plan) => {
            let simpler = plan.preparations();
            if simpler.is_empty() { plan.wishes() } else { simpler }
        }
        Err(refusal) => {
            input.note(view, refusal.at, &format!("not ported: {}", refusal.reason));
            Vec::new()
        }
    }
}

/// Where a training step can't be followed, and what to write instead.
pub(super) struct Refusal {
    at: Id,
    reason: String,
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
