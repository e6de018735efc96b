//! Tensors of a function to which it adds what a model gives: `total = torch.zeros(1)` above `total += loss.detach()`.

use super::host::leaves_device;
use super::scope::Scope;
use super::sources::value_given;
use crate::step::qualified;
use python::tree::{Id, kinds};

impl Scope<'_, '_> {
    /// The calls of PyTorch that create them.
    pub(super) fn accumulators(&self) -> Vec<Id> {
        let file = self.file;
        let makes = |value: &Id| qualified(file.view, *value).is_some_and(|name| name.starts_with("torch."));
        let grown: Vec<&str> = self.statements.iter().filter_map(|s| self.grown(*s)).collect();
        let values = self.statements.iter().flat_map(|s| grown.iter().filter_map(|name| value_given(file, *s, name)));
        values.filter(makes).collect()
    }

    /// The name to which a statement adds a tensor on the device, and that nothing converts to an array.
    fn grown(&self, statement: Id) -> Option<&str> {
        let (file, index, k) = (self.file, &self.file.view.index, kinds());
        let change = index.parts(statement).next()?;
        let (target, value) = (index.target(change)?, index.source(change)?);
        let name = index.text_of(target);
        let is_same = |id: Id| index.is_text(id, name);
        let adds = index.kind(change) == k.augmented_assignment
            || index.kind(value) == k.binary_operator && index.parts(value).any(is_same);
        let stays =
            self.is_computed(value) && !index.of_kind_in(k.call, value).iter().any(|call| leaves_device(file, *call));
        let is_array = || file.calls("numpy").iter().any(|call| index.receiver(*call).is_some_and(is_same));
        (index.kind(target) == k.identifier && adds && stays && !is_array()).then_some(name)
    }
}
