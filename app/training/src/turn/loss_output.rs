//! A model that returns its loss.

use crate::step::{TrainingStep, loss_of};
use python::tree::{Id, kinds};

/// The loss among the outputs of the model.
pub struct LossOutput<'t> {
    /// The statement that receives the outputs.
    pub statement: Id,
    /// Its name.
    pub name: &'t str,
    /// It is the first output or the only one, and nothing happens to the optimizer before its update.
    pub is_first: bool,
}

/// The output of the model on which `backward()` is called, if it is one.
pub(super) fn loss_output<'t>(step: &TrainingStep<'_, 't>, forward: Id, update: Id) -> Option<LossOutput<'t>> {
    let (k, file) = (kinds(), step.file);
    let index = &file.view.index;
    let outputs = index.assignment(index.parent(forward)?)?.targets();
    let loss = loss_of(&file, step.backward);
    let name = Some(index.text_of(loss)).filter(|_| index.kind(loss) == k.identifier)?;
    let place = outputs.iter().position(|o| index.is_text(*o, name))?;
    let between = |id: Id| id > forward && id < update && index.is_within(id, step.whole);
    let augmented = index.of_kind(k.augmented_assignment).iter().copied();
    let assignments = index.assignments().map(|a| a.id()).chain(augmented).filter(|a| between(*a));
    let targets = |a: Id| {
        let left = index.children(a).next();
        left.into_iter().chain(left.into_iter().flat_map(|l| index.parts(l))).any(|target| index.is_text(target, name))
    };
    if assignments.into_iter().any(targets) {
        return None;
    }
    let touched = file.calls("step").iter().any(|c| *c != update && between(*c))
        || file.identifiers("param_groups").iter().any(|i| between(*i));
    Some(LossOutput { statement: file.statement_of(forward)?, name, is_first: place == 0 && !touched })
}
