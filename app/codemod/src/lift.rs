//! Branch style: recipes are written as if the file were only for the target; here their changes are put under the
//! project's own test for the target, so that every other compute mode keeps its code.

mod branch;
mod guard;
mod insertions;
mod joined;

pub(crate) use insertions::{drop_present, hoist};
pub(crate) use joined::is_target_import;

use crate::definitions::Said;
use crate::fix::{Fix, Lift};
use crate::messages;
use crate::place::Remark;
use crate::ported::Severity;
use branch::branch;
use guard::guard_all;
use python::edit::Change;
use python::tree::Id;
use sorting::{SortedMap, SortedSet};
use training::modes::{Modes, Region};
use training::{FileView, ProjectFacts};

/// A fix that could not be put under a guard, with the reason.
pub(crate) struct Stranded {
    pub(crate) fix: Fix,
    pub(crate) reason: Said,
}

/// For a project that has the target's mode already: the fixes that need no new branch, and the places without one,
/// each reported once.
pub(crate) fn without_new_branches(view: &FileView<'_>, modes: &Modes, fixes: Vec<Fix>) -> (Vec<Fix>, Vec<Remark>) {
    let index = &view.index;
    let mut kept = Vec::new();
    let mut places: SortedSet<Id> = SortedSet::new();
    for fix in fixes {
        let Some(node) = fix.changes.first().and_then(Change::node) else {
            kept.push(fix);
            continue;
        };
        match (modes.region(index, node), fix.lift) {
            (_, Lift::Shared) | (Region::Target, _) => kept.push(fix),
            (Region::Vendor { chain, clause }, Lift::Guarded) if !modes.has_target_branch(index, chain) => {
                places.insert(clause);
            }
            (Region::Open | Region::Unclear, _) => places.extend(view.statement_of(node)),
            (Region::Foreign | Region::Vendor { .. }, _) => {}
        }
    }
    let remark = |place: Id| {
        let range = index.range(place);
        let end = index.text[range.clone()].find('\n').map_or(range.end, |n| range.start + n);
        Remark::of_engine(range.start..end, Severity::Info, messages::no_branch_here(&modes.target))
    };
    (kept, places.into_iter().map(remark).collect())
}

/// Puts the fixes of one file under the guard.
pub(crate) fn lift(
    view: &FileView<'_>,
    project: &ProjectFacts<'_, '_>,
    modes: &Modes,
    fixes: Vec<Fix>,
) -> (Vec<Fix>, Vec<Stranded>) {
    let mut out = Vec::new();
    let mut stranded = Vec::new();
    let mut open: Vec<Fix> = Vec::new();
    let mut vendor: SortedMap<(Id, Id), Vec<Fix>> = SortedMap::new();
    for fix in fixes {
        let Some(node) = fix.changes.first().and_then(Change::node) else {
            out.push(fix);
            continue;
        };
        match (modes.region(&view.index, node), fix.lift) {
            (_, Lift::Shared) | (Region::Target, _) => out.push(fix),
            (Region::Foreign, _) | (Region::Vendor { .. }, Lift::AsWritten) => {}
            (Region::Unclear, _) => {
                stranded.push(Stranded { fix, reason: messages::undecided_branch() });
            }
            (Region::Open, Lift::AsWritten) => out.push(fix),
            (Region::Vendor { clause, chain }, Lift::Guarded) => {
                if !modes.has_target_branch(&view.index, chain) {
                    vendor.entry((chain, clause)).or_default().push(fix);
                }
            }
            (Region::Open, Lift::Guarded) => open.push(fix),
        }
    }
    for ((chain, clause), fixes) in vendor {
        out.extend(branch(view, project, modes, chain, clause, fixes));
    }
    guard_all(view, project, modes, open, &mut out, &mut stranded);
    (out, stranded)
}
