//! Branch style: recipes are written as if the file were the target's alone; here their changes are put under the
//! project's own test for the target, so that every other compute mode keeps the code it had.

mod branch;
mod guard;
mod insertions;
mod joined;

pub(crate) use guard::initialised;
pub(crate) use insertions::{drop_present, hoist};
pub(crate) use joined::is_target_import;

use crate::change::{Change, Fix, Lift};
use crate::facts::modes::{Modes, Region};
use crate::facts::{FileView, ProjectFacts};
use crate::order::Map;
use crate::tree::Id;
use branch::branch;
use guard::guard_all;

/// A fix that found no place under a guard, with the reason.
pub(crate) struct Stranded {
    pub(crate) fix: Fix,
    pub(crate) reason: &'static str,
}

/// Puts the fixes of one file under the guard.
pub(crate) fn lift(
    view: &FileView<'_>,
    project: &ProjectFacts,
    modes: &Modes,
    fixes: Vec<Fix>,
) -> (Vec<Fix>, Vec<Stranded>) {
    let mut out = Vec::new();
    let mut stranded = Vec::new();
    let mut open: Vec<Fix> = Vec::new();
    let mut vendor: Map<(Id, Id), Vec<Fix>> = Map::new();
    for fix in fixes {
        let Some(node) = fix.changes.first().and_then(Change::node) else {
            out.push(fix);
            continue;
        };
        match (modes.region(&view.index, node), fix.lift) {
            (_, Lift::Shared) | (Region::Target, _) => out.push(fix),
            (Region::Foreign, _) | (Region::Vendor { .. }, Lift::AsWritten) => {}
            (Region::Unclear, _) => {
                stranded.push(Stranded {
                    fix,
                    reason: "whether this mode comes here is decided in a way that is not followed",
                });
            }
            (Region::Open, Lift::AsWritten) => out.push(fix),
            (Region::Vendor { clause, chain }, Lift::Guarded) => {
                if !modes.has_target_branch(&view.index, chain) {
                    vendor.get_or_default((chain, clause)).push(fix);
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
