//! Weights and their gradients that the host reads or changes during the step.

use crate::step::{Obstacle, TrainingStep, qualified, why};
use python::tree::{Id, kinds};

/// Reads and changes in the step, beside the clipping that [`TrainingStep::clipping`] has.
pub(super) fn touched(step: &TrainingStep<'_, '_>) -> Vec<Obstacle> {
    let file = step.file;
    let index = &file.view.index;
    let here = |id: Id| index.is_within(id, step.whole) && step.is_alive(id);
    let is_known = |call: Id| {
        index.ancestors(call).take_while(|a| index.kind(*a) != kinds().block).any(|a| {
            let makes_optimizer = qualified(&file, a).is_some_and(|q| q.starts_with("torch.optim."));
            makes_optimizer || step.clipping.iter().any(|c| c.call == a)
        })
    };
    let words = ["parameters", "named_parameters", "register_hook"];
    let calls = words.iter().flat_map(|name| file.calls(name)).copied().filter(|c| here(*c) && !is_known(*c));
    let mut out: Vec<Obstacle> = calls.map(why::weights_touched).collect();
    let grads = index.attributes().filter(|a| a.name() == Some("grad") && here(a.id()));
    out.extend(grads.map(|a| why::gradient_read(a.id())));
    out
}
