//! Which code of a ported file the target may reach.

use crate::reached::{on_another_system, only_with_cuda};
use python::tree::Id;
use training::FileView;

/// A file, and what the program has code of the target's own for, by the byte where a place begins.
pub(crate) struct Reach<'a> {
    pub(crate) view: &'a FileView<'a>,
    pub(crate) is_settled: &'a dyn Fn(usize) -> bool,
}

impl Reach<'_> {
    /// Whether the target may reach a place, for which it has no code of its own. What is told once is told at such a one.
    pub(super) fn has(&self, at: Id) -> bool {
        only_with_cuda(self.view, at).is_none()
            && !on_another_system(self.view, at)
            && !(self.is_settled)(self.view.index.range(at).start)
    }
}
