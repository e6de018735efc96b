//! Which code of a ported file the target may reach.

use crate::guards::Guards;
use crate::reached::{on_another_system, only_with_cuda};
use python::tree::Id;
use training::FileView;
use training::modes::Region;

/// A file, and what the program has code of the target's own for, by the byte where a place begins.
pub(crate) struct Reach<'a> {
    pub(crate) view: &'a FileView<'a>,
    pub(crate) is_settled: &'a dyn Fn(usize) -> bool,
    /// The tests that select code for the target, if the program keeps that for others.
    pub(crate) guards: Option<&'a dyn Guards>,
}

impl Reach<'_> {
    /// Whether the target may reach a place, for which it has no code of its own. What is told once is told at such a one.
    pub(super) fn has(&self, at: Id) -> bool {
        let is_for_others =
            |guards: &dyn Guards| matches!(guards.region(self.view, at), Region::Foreign | Region::Vendor { .. });
        only_with_cuda(self.view, at).is_none()
            && !self.guards.is_some_and(is_for_others)
            && !on_another_system(self.view, at)
            && !(self.is_settled)(self.view.index.range(at).start)
    }
}
