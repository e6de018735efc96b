//! Styles that keep the code for others: recipes are written as if the file were only for the target; here their changes
//! are put under a test for it, the project's own for a compute mode or one of the device that the program chose.

mod arm;
mod branch;
mod flags;
mod guard;
mod insertions;
mod joined;
mod served;
mod tested;
mod vendors_names;

pub(crate) use guard::negated;
pub(crate) use insertions::{drop_present, hoist};
pub(crate) use joined::is_target_import;
pub(crate) use vendors_names::{is_ported_function, vendors_names};

use crate::definitions::Said;
use crate::fix::{BroughtBlock, Fix, Lift};
use crate::guards::Guards;
use crate::messages;
use crate::place::Remark;
use crate::ported::Severity;
use crate::reached::means_cuda;
use arm::arm;
use branch::branch;
use flags::Decided;
use guard::guard_all;
use python::edit::{Change, Splice, splices};
use python::source::words;
use python::strings::requote;
use python::tree::{Id, kinds};
use sorting::{SortedMap, SortedSet};
use std::ops::Range;
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
            (_, Lift::Shared | Lift::Neutral) | (Region::Target, _) => kept.push(fix),
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

/// The fixes of one file under the guard.
#[derive(Default)]
pub(crate) struct Lifted {
    pub(crate) fixes: Vec<Fix>,
    pub(crate) stranded: Vec<Stranded>,
    /// What they would remove and every device keeps.
    pub(crate) stays: Vec<Range<usize>>,
}

/// What is for the source vendor's device.
pub(crate) struct Vendors<'a> {
    /// Whether code is for that device alone.
    pub(crate) is_alone: &'a dyn Fn(Id) -> bool,
    /// Whether code reads names that are there for it alone.
    pub(crate) names: &'a dyn Fn(Id) -> bool,
    /// Whether a function of the project runs on any device once it is ported, whatever its name says.
    pub(crate) is_ported: &'a dyn Fn(&str) -> bool,
}

/// Puts the fixes of one file under the guard. With `keeps_tests` the file has tests for the target of its own, and those for the
/// vendor's device mean that one. Code for the vendor's device that no fix changes is shared with the target, unless
/// [`Vendors::is_alone`] says that it is for that device alone.
pub(crate) fn lift(
    view: &FileView<'_>,
    project: &ProjectFacts<'_, '_>,
    guards: &dyn Guards,
    keeps_tests: bool,
    vendors: &Vendors<'_>,
    fixes: Vec<Fix>,
) -> Lifted {
    let Lifted { fixes: mut out, mut stranded, mut stays } = Lifted::default();
    let mut open: Vec<Fix> = Vec::new();
    let mut vendor: SortedMap<(Id, Id), Vec<Fix>> = SortedMap::new();
    let mut tested: SortedMap<(Id, Id), Vec<Fix>> = SortedMap::new();
    let edited: Vec<Splice> =
        fixes.iter().flat_map(|fix| fix.changes.iter().flat_map(|change| splices(view, change))).collect();
    for fix in fixes {
        let Some(node) = fix.changes.first().and_then(Change::node) else {
            out.push(fix);
            continue;
        };
        match (guards.region(view, node), fix.lift) {
            (_, Lift::Shared) => out.push(fix),
            // In the target's branch it is false, as it was.
            (Region::Target | Region::Vendor { .. }, Lift::AsWritten) if tested::guards_cuda(view, node, &edited) => {}
            (Region::Target, _) => out.push(guard::in_target_branch(view, project, guards, node, fix)),
            (Region::Vendor { .. }, Lift::AsWritten) if !guards.is_agnostic() => {}
            (Region::Foreign, _) => {
                if let Some(test) = guards.vendor_test(view, node).filter(|_| !keeps_tests) {
                    tested.entry(test).or_default().push(fix);
                }
            }
            (Region::Open | Region::Unclear, Lift::Neutral) => {
                let removes = |change: &Change| matches!(change, Change::Replace { text, .. } if text.is_empty());
                if fix.changes.iter().all(removes) {
                    stays.extend(fix.changes.iter().flat_map(|change| change.extents(view)));
                } else {
                    out.push(fix);
                }
            }
            (Region::Unclear, _) => {
                stranded.push(Stranded { fix, reason: messages::undecided_branch() });
            }
            (Region::Open, Lift::AsWritten)
                if keeps_tests && means_cuda(view, node, 1) && {
                    let is_for_target =
                        |decided: Decided| decided.is_ported(view, &edited) && !decided.is_vendors(vendors);
                    guards.has_own_flag(view) || !Decided::by(view, project, node).is_some_and(is_for_target)
                } => {}
            (Region::Open, Lift::AsWritten) if tested::guards_cuda(view, node, &edited) => {
                out.extend(tested::beside(view, guards, project, node, &edited, fix));
            }
            (Region::Open, Lift::AsWritten) if tested::turns_vendors_off(view, node, vendors, &edited) => {}
            (Region::Open, Lift::AsWritten) => {
                let is_vendors = |decided: Decided| decided.is_vendors(vendors) && !decided.is_ported(view, &edited);
                if !means_cuda(view, node, 1) || !Decided::by(view, project, node).is_some_and(is_vendors) {
                    out.push(fix);
                }
            }
            (Region::Vendor { clause, chain }, Lift::Guarded | Lift::Neutral | Lift::AsWritten) => {
                if !guards.has_target_branch(view, chain) {
                    vendor.entry((chain, clause)).or_default().push(fix);
                }
            }
            (Region::Open, Lift::Guarded) => open.push(fix),
        }
    }
    for ((_, clause), fixes) in tested.iter().filter(|(test, _)| !vendor.contains_key(test)) {
        out.extend(tested::for_either(view, guards, *clause, fixes, vendors));
    }
    for ((chain, clause), fixes) in vendor {
        if fixes.iter().all(|fix| fix.lift == Lift::Neutral) {
            continue;
        }
        let is_served = || served::by_else(view, clause, vendors.is_alone) || served::only_checks(view, clause);
        if arm::is_in_else(view, project, guards, clause, &fixes) || guards.is_agnostic() && is_served() {
            continue;
        }
        // A copy would declare a name behind its first use.
        let may_copy = !declares_names(view, clause);
        if let Some(common) = in_common(view, guards, (clause, may_copy), vendors.names, &fixes) {
            out.push(common);
            open.extend(fixes.into_iter().filter(|fix| fix.lift == Lift::Guarded));
            continue;
        }
        let asked = tested.get(&(chain, clause)).map_or(&[][..], Vec::as_slice);
        let Some(asked) = tested::for_target(view, guards, clause, asked) else {
            if guards.is_agnostic() {
                stranded.extend(fixes.into_iter().map(|fix| Stranded { fix, reason: messages::undecided_branch() }));
            }
            continue;
        };
        let is_choice = view.index.kind(clause) == kinds().conditional_expression;
        out.extend(if is_choice {
            arm(view, guards, (clause, &asked), &fixes)
        } else {
            branch(view, project, guards, chain, (clause, &asked), fixes)
        });
    }
    guard_all(view, project, guards, open, &mut out, &mut stranded);
    if guards.is_agnostic() && !view.binds_at_top("torch", view.index.text.len(), true) {
        // The tests ask PyTorch, which a file that only calls methods of tensors may not import.
        for fix in out.iter_mut().filter(|fix| fix.changes.iter().any(|change| asks_torch(view, change))) {
            fix.imports.push("import torch".to_owned());
        }
    }
    if let Some(switch) = project.modes.as_ref().and_then(Modes::switch)
        && !view.binds_at_top(&switch.name, view.index.text.len(), true)
    {
        let asks = |change: &Change| {
            splices(view, change).iter().any(|splice| words(&splice.text, &switch.name).next().is_some())
        };
        // Above what other fixes define.
        if out.iter().any(|fix| fix.changes.iter().any(asks))
            && let Some(first) = out.iter_mut().min_by_key(|fix| fix.rank)
        {
            // Below the program's own imports: what stands above them may have to run before PyTorch is loaded.
            let missing = |import: &&String| {
                let name = import.rsplit(' ').next().unwrap_or(import);
                !view.binds_at_top(name, view.index.text.len(), true)
            };
            let mut text: String = switch.imports.iter().filter(missing).map(|import| format!("{import}\n")).collect();
            text += &format!("\n{}", requote(&switch.definition, view.layout.quote));
            first.blocks.insert(0, BroughtBlock { name: switch.name.clone(), text: text.trim_start().to_owned() });
        }
    }
    Lifted { fixes: out, stranded, stays }
}

fn asks_torch(view: &FileView<'_>, change: &Change) -> bool {
    splices(view, change).iter().any(|splice| words(&splice.text, "torch").next().is_some())
}

/// Whether a branch has a `global` or `nonlocal` of the function around it.
fn declares_names(view: &FileView<'_>, clause: Id) -> bool {
    let (k, index) = (kinds(), &view.index);
    let within = |kind| index.consequence(clause).into_iter().flat_map(move |body| index.of_kind_in(kind, body));
    let mut declared = within(k.global_statement).chain(within(k.nonlocal_statement));
    declared.any(|declared| view.function_of(*declared) == view.function_of(clause))
}

/// The vendor's code for both, below a test for either of the two, if all of its changes suit both, or if it can't be
/// copied: then the others are under tests of their own.
fn in_common(
    view: &FileView<'_>,
    guards: &dyn Guards,
    (clause, may_copy): (Id, bool),
    names_vendors: &dyn Fn(Id) -> bool,
    fixes: &[Fix],
) -> Option<Fix> {
    let index = &view.index;
    let code = index.consequence(clause).or_else(|| index.parts(clause).next())?;
    if may_copy && (fixes.iter().any(|fix| fix.lift == Lift::Guarded) || names_vendors(code)) {
        return None;
    }
    let test = index.condition(clause)?;
    let either = Change::Raw { range: index.range(test), text: guards.either(view, test)? };
    let kept: Vec<&Fix> = fixes.iter().filter(|fix| fix.lift == Lift::AsWritten).collect();
    let mut fix = joined::first_of(fixes);
    fix.changes = kept.iter().flat_map(|fix| fix.changes.iter().cloned()).chain([either]).collect();
    fix.imports = kept.iter().flat_map(|fix| fix.imports.iter().cloned()).collect();
    Some(fix)
}
