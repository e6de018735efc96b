//! `compile-and-run`: the training step on a target that compiles forward pass and update and leaves the loss to the host, as the user
//! wrote it. With a model that returns its loss first, the whole step is one run.
//!
//! All of it is done or nothing: the target's other recipes, such as the import, depend on the class that it adds.

mod edits;
mod entry;
mod messages;
mod optimizer;
mod plan;

use super::named_loss::{Planned, port_steps, write_out_scaler};
use super::{Handler, Input, Wish};
use messages::{self as says, BLOCKS, COMPILES, MESSAGES, NAMES, RUNS_MODEL, RUNTIME};
use plan::Plan;
use python::syntax::Call;
use python::tree::Id;
use training::step::{OF_OPTIMIZERS, OF_STEPS, OF_TURNS, steps_that_train};
use training::{FileInProject, FileView, Obstacle};

/// The verb.
pub(super) const HANDLER: Handler = Handler {
    messages: MESSAGES,
    obstacles: &[OF_STEPS, OF_TURNS, OF_OPTIMIZERS],
    blocks: BLOCKS,
    names: NAMES,
    ports_step: true,
    ..Handler::new("compile-and-run", run)
};

fn run(input: &Input<'_, '_>) -> Vec<Wish> {
    let Some(view) = input.view else { return Vec::new() };
    let is_ported = input.settings.definitions.defined_by(RUNTIME).iter().all(|name| view.defines(name));
    if let Some(wish) = entry::wish(input, view) {
        return vec![wish];
    }
    if is_ported && input.project.modes.is_some() {
        note_limits(input, view);
    }
    // A step that uses the target's modules is an existing port.
    let by_hand = input.settings.target.modules.iter().any(|module| view.names.imports(module));
    if is_ported || by_hand || view.names.is_of_other_framework() {
        return Vec::new();
    }
    let steps = steps_that_train(FileInProject { view, project: input.project });
    if steps.is_empty() {
        return write_out_scaler(input, view, &rewrite).unwrap_or_default();
    }
    port_steps(input, view, &steps, &rewrite)
}

/// The changes of the one step, or all obstacles.
fn rewrite(input: &Input<'_, '_>, file: FileInProject<'_, '_>, wholes: &[Id]) -> Planned {
    match wholes {
        [whole] => edits::wishes(&Plan::read(input, file, *whole)?),
        several => Err(several.iter().map(|step| Obstacle::several_steps(*step)).collect()),
    }
}

/// What a ported trainer of a project with compute modes leaves as manual work: it is reported at its place.
fn note_limits(input: &Input<'_, '_>, view: &FileView<'_>) {
    for (list, said) in [(RUNS_MODEL, says::host_infers()), (COMPILES, says::compiling_opens_data())] {
        let listed = input.settings.definitions.names(list);
        let is_listed =
            |c: &Call<'_, '_>| c.callee().is_some_and(|g| listed.iter().any(|n| view.index.is_text(g, &n.name)));
        if let Some(call) = view.index.calls().find(is_listed) {
            input.note(view, call.id(), said);
        }
    }
}
