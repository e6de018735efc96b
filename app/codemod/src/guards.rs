//! How a program tells the target's code from that for others: by a compute mode, or by the device that it chose.

pub(crate) mod by_device;
mod chosen_device;

use crate::reached::{asks_for_cuda, only_with_cuda};
use python::tree::{Id, kinds};
use training::modes::{Modes, Region};
use training::{FileView, ProjectFacts};

/// The tests that select code for the target.
pub(crate) trait Guards {
    /// Who runs a node.
    fn region(&self, view: &FileView<'_>, id: Id) -> Region;

    /// Whether an `if` chain or a conditional expression already has code for the target.
    fn has_target_branch(&self, view: &FileView<'_>, chain: Id) -> bool;

    /// Whether a test is true for others alone.
    fn excludes_target(&self, view: &FileView<'_>, test: Id) -> bool;

    /// Whether a file gives the answer of a test for the target a name, or returns it.
    fn has_own_flag(&self, view: &FileView<'_>) -> bool;

    /// The test for the target in place of one for the source vendor alone.
    fn retarget(&self, view: &FileView<'_>, test: Id) -> Option<String>;

    /// A test for the source vendor alone as one for it or the target; none if the target has no code in common with it.
    fn either(&self, view: &FileView<'_>, test: Id) -> Option<String>;

    /// The `if` chain or conditional expression, and its clause, whose test for the source vendor alone contains a node, where
    /// every device runs it. None for a style in which such code always gets a branch.
    fn vendor_test(&self, view: &FileView<'_>, id: Id) -> Option<(Id, Id)>;

    /// Code of the vendor's branch as it reads in the target's.
    fn retargeted(&self, code: &str) -> String;

    /// The test for the target before a node.
    fn guard_at(&self, view: &FileView<'_>, project: &ProjectFacts<'_, '_>, id: Id) -> Option<String>;

    /// Whether one program serves all devices: an expression is put under the test by itself, where that is possible, and
    /// code that every device runs needs none.
    fn is_agnostic(&self) -> bool;
}

impl Guards for Modes {
    fn region(&self, view: &FileView<'_>, id: Id) -> Region {
        let region = Modes::region(self, &view.index, id);
        // Where there is CUDA, the program does not run on the target.
        let needs_cuda = || only_with_cuda(view, id).is_some() || chooses_by_cuda(view, id);
        match region {
            Region::Open if self.switch().is_some() && needs_cuda() => Region::Foreign,
            region => region,
        }
    }

    fn has_target_branch(&self, view: &FileView<'_>, chain: Id) -> bool {
        Modes::has_target_branch(self, &view.index, chain)
    }

    fn excludes_target(&self, view: &FileView<'_>, test: Id) -> bool {
        self.tested(&view.index, test).is_some_and(|members| !members.contains(&self.target))
    }

    fn has_own_flag(&self, _: &FileView<'_>) -> bool {
        false
    }

    fn retarget(&self, view: &FileView<'_>, test: Id) -> Option<String> {
        Modes::retarget(self, &view.index, test)
    }

    fn either(&self, _: &FileView<'_>, _: Id) -> Option<String> {
        None
    }

    fn vendor_test(&self, _: &FileView<'_>, _: Id) -> Option<(Id, Id)> {
        None
    }

    fn retargeted(&self, code: &str) -> String {
        Modes::retargeted(self, code)
    }

    fn guard_at(&self, view: &FileView<'_>, project: &ProjectFacts<'_, '_>, id: Id) -> Option<String> {
        let guard = Modes::guard_at(self, view, &project.classes, id)?;
        // Not before `self` has its arguments.
        let is_early = guard.strip_prefix("self.").is_some_and(|attribute| {
            let attribute = attribute.split(['.', ' ']).next().unwrap_or_default();
            view.function_of(id).is_some_and(|function| {
                view.name_of(function) == "__init__" && !training::modes::initialised(view, function, id, attribute)
            })
        });
        (!is_early).then_some(guard)
    }

    fn is_agnostic(&self) -> bool {
        self.switch().is_some()
    }
}

/// Whether an expression is a choice by a test for CUDA, which needs no other one.
fn chooses_by_cuda(view: &FileView<'_>, id: Id) -> bool {
    let index = &view.index;
    index.kind(id) == kinds().conditional_expression
        && index.condition(id).is_some_and(|test| asks_for_cuda(view, test))
}
