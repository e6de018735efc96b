//! A model that gives its loss: the second shape of a step that SambaFlow knows.

use super::plan::{arguments, object};
use crate::facts::FileView;
use crate::tree::{Id, fields, kinds};

/// The loss among the outputs of the model.
pub(super) struct LossOutput<'t> {
    /// The statement that takes the outputs.
    pub(super) statement: Id,
    pub(super) name: &'t str,
    /// It is the first output or the only one, and nothing happens to the optimizer before its update: one run of the
    /// session can do the whole step.
    pub(super) is_first: bool,
}

/// The output of the model that `backward()` is called on, if that is one.
pub(super) fn loss_output<'t>(
    view: &FileView<'t>,
    step: Id,
    forward: Id,
    backward: Id,
    update: Id,
) -> Option<LossOutput<'t>> {
    let (k, f) = (kinds(), fields());
    let index = &view.index;
    let assignment = index.parent(forward).filter(|p| index.kind(*p) == k.assignment)?;
    let left = index.field(assignment, f.left)?;
    let outputs: Vec<Id> = if index.kind(left) == k.identifier { vec![left] } else { index.parts(left).collect() };
    let mut loss = object(view, backward)?;
    if index.kind(loss) == k.call {
        // `scaler.scale(loss)`
        loss = arguments(view, loss).first().copied()?;
    }
    let name = Some(index.text_of(loss)).filter(|_| index.kind(loss) == k.identifier)?;
    let place = outputs.iter().position(|o| index.text_of(*o) == name)?;
    let between = |id: Id| id > forward && id < update && index.is_within(id, step);
    let assigned_anew = index.of_kind(k.assignment).iter().chain(index.of_kind(k.augmented_assignment)).any(|a| {
        between(*a)
            && index
                .field(*a, f.left)
                .is_some_and(|l| std::iter::once(l).chain(index.parts(l)).any(|target| index.text_of(target) == name))
    });
    if assigned_anew {
        return None;
    }
    let touched = view.calls("step").iter().any(|c| *c != update && between(*c))
        || index.of_kind(k.identifier).iter().any(|i| between(*i) && index.text_of(*i) == "param_groups");
    Some(LossOutput { statement: view.statement_of(forward)?, name, is_first: place == 0 && !touched })
}
