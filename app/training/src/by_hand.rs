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
            index.assignments_to(name).any(|a| !index.is_within(a.id(), around) && a.value().is_some_and(|v| makes(&v)))
        };
        rest.starts_with("-=") && rest.contains('*') && is_tensor()
    })
}

#[cfg(test)]
mod tests {
    use super::updated_by_hand;
    use crate::marked;

    #[test]
    fn weights_that_a_program_updates_itself() {
        let check = |made: &str, update: &str, expected: &str| {
            let program = format!("import torch\n{made}\nfor t in range(9):\n    g = f(w)\n    {update}\n");
            marked::check(&program, expected, |at| at.lines(updated_by_hand(at.file().view)));
        };
        check("w = torch.randn(3)", "w -= 0.1 * g", "w -= 0.1 * g");
        check("w = torch.randn(3)", "w -= g", "");
        check("w = torch.randn(3)", "w += 0.1 * g", "");
        check("w = 3", "w -= 0.1 * g", "");
        check("w = torch.randn(3)", "loss.backward()\n    w -= 0.1 * g", "");
    }
}
