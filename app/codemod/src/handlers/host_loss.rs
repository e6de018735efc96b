//! `compile-and-run`: the training step of a script whose model is compiled by SambaFlow. Forward pass and update become
//! sections of the compiled program; the loss and its `backward()` stay on the host, as the user wrote them. A model that
//! gives its loss first takes the whole step in one run.
//!
//! Does the whole of it or nothing: what only makes sense beside it, such as the import, asks for the class it adds.

mod branch;
mod edits;
mod entry;
mod loss_output;
mod optimizer;
mod plan;
mod runtime;

use super::named_loss::{Reason, name_loss};
use super::{Input, Wish};
use crate::change::Change;
use crate::facts::FileView;
use crate::tree::Id;

/// The class that the port adds; a file that has it is ported.
const RUNTIME: &str = "RduTraining";

pub(super) fn run(input: &Input<'_, '_>) -> Vec<Wish> {
    let Some(view) = input.view else { return Vec::new() };
    let beside_other_modes = input.project.modes.is_some();
    if beside_other_modes && let Some(wish) = entry::wish(input, view) {
        return vec![wish];
    }
    if beside_other_modes && view.defines(RUNTIME) {
        branch::note_limits(input, view);
    }
    let trains = !view.steps.training.is_empty();
    if !trains || view.defines(RUNTIME) || view.names.is_of_other_framework() {
        return Vec::new();
    }
    // A step that calls the session is somebody's own port.
    if view.names.imports("sambaflow") && view.has_word("session") {
        return Vec::new();
    }
    let placed = |view: &FileView<'_>, refusal: Refusal| Reason {
        at: view.index.item(refusal.at).start,
        text: refusal.reason.to_owned(),
    };
    let refused = |input: &Input<'_, '_>, view: &FileView<'_>| {
        plan::Plan::read(input, view).err().map(|refusal| placed(view, refusal))
    };
    let named = view.steps.training.first().and_then(|step| name_loss(input, view, *step, &refused));
    let done = named.map(|named| named.map(|wish| vec![wish])).unwrap_or_else(|| {
        let done = if beside_other_modes {
            branch::wishes(input, view)
        } else {
            plan::Plan::read(input, view).map(|plan| {
                let (at, changes, imports) = edits::of(&plan);
                vec![Wish { at, changes, imports }]
            })
        };
        done.map_err(|refusal| placed(view, refusal))
    });
    done.unwrap_or_else(|reason| {
        let message = format!("the step is not ported, and its lines stay as they were: {}", reason.text);
        input.refuse_step_at(reason.at, &message);
        Vec::new()
    })
}

/// Why a script can't be rewritten, and where.
struct Refusal {
    at: Id,
    reason: &'static str,
}

/// A replacement of an expression as a whole.
fn expression(view: &FileView<'_>, node: Id, text: String) -> Change {
    Change::Expression { node, range: view.index.range(node), text }
}
