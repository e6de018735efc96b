//! Gradients that a program reads itself.

use super::TrainingStep;
use python::tree::{Id, kinds};

/// The first place in the step that reads a `.grad` after the backward pass. Setting it to None clears it and reads
/// nothing.
pub(crate) fn gradient_read(step: &TrainingStep<'_, '_>) -> Option<Id> {
    let index = &step.file.view.index;
    let is_target = |id: Id| {
        let assigned = index.parent(id).and_then(|p| index.assignment(p));
        assigned.is_some_and(|a| a.target() == Some(id))
    };
    let reads = |id: &Id| index.attribute(*id).is_some_and(|a| a.name() == Some("grad")) && !is_target(*id);
    let mut attributes = index.of_kind_in(kinds().attribute, step.whole).iter().copied();
    attributes.find(|id| *id > step.backward && reads(id) && step.is_alive(*id))
}
