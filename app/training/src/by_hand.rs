//! Training without a backward pass: a program computes its gradients itself and subtracts them from tensors.

use crate::FileView;
use crate::step::loop_around;
use python::tree::{Id, kinds};

/// The first manual update in a file without a backward pass: `w -= rate * gradient` in a loop, where `w` is computed
/// from a tensor outside the loop.
pub fn updated_by_hand(view: &FileView<'_>) -> Option<Id> {
    let (index, k) = (&view.index, kinds());
    if !view.steps.training.is_empty() || !view.calls("backward").is_empty() {
        return None;
    }
    index.of_kind(k.augmented_assignment).iter().copied().find(|update| {
        let Some((target, around)) = index.target(*update).zip(loop_around(view, *update)) else { return false };
        let name = index.text_of(target);
        let rest = index.text_of(*update)[name.len()..].trim_start();
        let makes = |value: &Id| {
            let calls = index.of_kind_in(k.call, *value);
            calls.iter().any(|call| view.qualified(*call).is_some_and(|q| q.starts_with("torch.")))
        };
        let is_tensor = || {
            index
                .assignments()
                .any(|a| a.assigns(name) && !index.is_within(a.id(), around) && a.value().is_some_and(|v| makes(&v)))
        };
        rest.starts_with("-=") && rest.contains('*') && is_tensor()
    })
}
