//! `compile-and-run`: the training step of a script whose model is compiled by SambaFlow. Forward pass and update become
//! sections of the compiled program; the loss and its `backward()` stay on the host, as the user wrote them.
//!
//! Works in place on a script that has its imports already, and does the whole of it or nothing.

mod edits;
mod optimizer;
mod plan;
mod runtime;

use super::{Input, Wish};
use crate::change::Change;
use crate::tree::Id;

/// The class that the port adds; a file that has it is ported.
const RUNTIME: &str = "RduTraining";

pub(super) fn run(input: &Input<'_, '_>) -> Vec<Wish> {
    let Some(view) = input.view else { return Vec::new() };
    let trains = !view.steps.training.is_empty();
    if !trains || view.defines(RUNTIME) || view.names.is_of_other_framework() {
        return Vec::new();
    }
    // The import comes in an earlier round; a step that calls the session is somebody's own port.
    if !view.names.imports("sambaflow") || view.has_word("session") {
        return Vec::new();
    }
    if input.project.modes.is_some() {
        let mode = &input.settings.target.mode;
        let told = format!(
            "the step is not ported: this project chooses between compute modes. Until the step is written by hand, a run with mode {mode} trains on the host"
        );
        for step in &view.steps.training {
            input.note(view, *step, &told);
        }
        return Vec::new();
    }
    match plan::Plan::read(input, view) {
        Ok(plan) => {
            let (at, changes, imports) = edits::of(&plan);
            vec![Wish { at, changes, imports }]
        }
        Err(refusal) => {
            input.note(view, refusal.at, &format!("the step is not ported: {}", refusal.reason));
            Vec::new()
        }
    }
}

/// Why a script can't be rewritten, and where.
struct Refusal {
    at: Id,
    reason: &'static str,
}

/// A replacement of an expression as a whole.
fn expression(view: &crate::facts::FileView<'_>, node: Id, text: String) -> Change {
    Change::Expression { node, range: view.index.range(node), text }
}
