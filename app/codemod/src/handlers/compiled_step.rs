//! `compile-training-step`: for targets that compile forward pass, loss, backward pass and update into one program. The
//! model and the statements from its call to the loss become a module, which the training step calls.

mod accumulated;
mod around;
mod elsewhere;
mod messages;
mod normalise;
mod obstacles;
mod phases;
mod plan;
mod removals;
mod rewrite;

use super::named_loss::{port_steps, write_out_scaler};
use super::{Handler, Input, Wish};
use crate::definitions::Values;
use messages::{BLOCKS, DEFINITIONS, IMPORT, MESSAGES, NAMES};
use training::step::{OF_SLICES, OF_STEPS, steps_that_train};
use training::{FileInProject, FileView};

/// The verb.
pub(super) const HANDLER: Handler = Handler {
    messages: MESSAGES,
    obstacles: &[OF_STEPS, OF_SLICES],
    blocks: BLOCKS,
    names: NAMES,
    ports_step: true,
    ..Handler::new("compile-training-step", run)
};

fn run(input: &Input<'_, '_>) -> Vec<Wish> {
    let Some(view) = input.view else { return Vec::new() };
    let file = FileInProject { view, project: input.project };
    let is_begun = software(input, view).is_some_and(|module| view.names.imports(&module));
    let defined = input.settings.definitions.defined_by(DEFINITIONS);
    if is_begun && defined.iter().all(|name| view.defines(name)) && !input.project.has_compute_modes() {
        accumulated::note_division(input, view);
        elsewhere::note_own_optimizers(input, view);
        return normalise::normalise(input, view);
    }
    if is_begun || view.names.is_of_other_framework() {
        return Vec::new();
    }
    let mut steps = steps_that_train(file);
    if steps.is_empty()
        && let Some(wishes) = write_out_scaler(input, view, &rewrite::rewrite)
    {
        return wishes;
    }
    if view.calls("backward").is_empty() {
        elsewhere::note_step(input, file);
    }
    steps.retain(|step| !input.project.is_lightning(view, *step));
    port_steps(input, view, &steps, &rewrite::rewrite)
}

/// The name under which the target's software is imported.
fn software(input: &Input<'_, '_>, view: &FileView<'_>) -> Option<String> {
    let import = input.block(view, IMPORT, &Values::default().flag("other_modes", false))?;
    import.trim().strip_prefix("import ").map(str::to_owned)
}
