//! Statements of the target's branch that still need the source vendor's card: the branch is a copy of the vendor's, and a
//! program that runs without that card also runs without them.

use super::finish::reports;
use super::plan::Plan;
use super::state::State;
use super::{NAME_LEFT, VENDORS_SOFTWARE};
use crate::guards::Guards;
use crate::lift::vendors_names;
use crate::messages;
use crate::place::Remark;
use crate::ported::{Severity, Style};
use crate::reached::means_cuda;
use crate::residue::{Reach, residue};
use crate::rope::Replacement;
use python::edit::{Change, splices};
use python::tree::{Id, kinds};
use sorting::{SortedMap, SortedSet};
use std::rc::Rc;
use training::modes::Region;
use training::{FileView, ProjectFacts};

/// The port's copy of a branch or an arm, and what it was copied from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Copy {
    chain: Id,
    code: Id,
    given: Id,
}

/// Leaves such statements to the vendor's branch, with their messages; one of which nothing would be left is not copied at
/// all. Whether there are any.
pub(super) fn leave_to_vendor(
    plan: &mut Plan<'_>,
    states: &mut [State<'_>],
    views: &[Option<Rc<FileView<'_>>>],
    facts: &ProjectFacts<'_, '_>,
) -> bool {
    let mut is_any = false;
    for (n, state) in states.iter_mut().enumerate() {
        let Some(view) = views[n].as_deref().filter(|_| plan.style == Style::Agnostic && state.is_changed()) else {
            continue;
        };
        let (copies, told) = copies(plan, state, view, facts);
        let (mut gone, mut kept, mut said) = (Vec::new(), Vec::new(), Vec::new());
        for (copy, found) in copies {
            let lines = plan.guards(facts).and_then(|guards| without(view, guards, copy, &found));
            let Some(lines) = lines else { continue };
            let is_whole = view.index.kind(copy.code) != kinds().block
                || view.index.parts(copy.code).all(|statement| lines.contains(&statement));
            if is_whole {
                let range = view.index.range(copy.given);
                kept.push(state.rope.origin(range.start)..state.rope.origin(range.end));
            } else {
                gone.extend(lines.iter().copied());
            }
            let is_here = |remark: &&Remark| {
                let within = |id: &Id| view.index.range(*id).contains(&remark.range.start);
                if is_whole { within(&copy.code) } else { lines.iter().any(within) }
            };
            said.extend(told.iter().filter(is_here).cloned());
        }
        for remark in said {
            let at = state.rope.original_of(&state.text, &remark.range).start;
            plan.left_out(n, Remark { range: at..at, ..remark });
        }
        is_any |= !gone.is_empty() || !kept.is_empty();
        if kept.is_empty() {
            let edits = gone.iter().filter_map(|statement| {
                let by = state.rope.author(view.index.item(*statement).start)?.clone();
                Some((splices(view, &Change::Replace { first: *statement, last: *statement, text: String::new() }), by))
            });
            let edits: Vec<Replacement> = edits
                .flat_map(|(splices, by)| {
                    splices.into_iter().map(move |s| Replacement { range: s.range, text: s.text, by: by.clone() })
                })
                .collect();
            state.apply(&edits);
        } else {
            plan.origins[n].guards.extend(kept);
            state.restart();
        }
    }
    is_any
}

/// The copies with code that needs the vendor's card, and the messages about all such code.
fn copies(
    plan: &Plan<'_>,
    state: &State<'_>,
    view: &FileView<'_>,
    facts: &ProjectFacts<'_, '_>,
) -> (SortedMap<Copy, Vec<Id>>, Vec<Remark>) {
    let (k, index) = (kinds(), &view.index);
    let mut copies: SortedMap<Copy, Vec<Id>> = SortedMap::new();
    let Some(guards) = plan.guards(facts) else { return (copies, Vec::new()) };
    let reach = Reach { view, is_settled: &|_| false, guards: Some(guards) };
    let foreign = &plan.settings.target.foreign_modules;
    let found = residue(&reach, facts, plan.settings.definitions, foreign, None);
    let needs_vendor = |name: &str| name == NAME_LEFT || VENDORS_SOFTWARE.contains(&name);
    let found = found.into_iter().filter(|f| f.severity == Severity::Warning && needs_vendor(f.message.name));
    let mut told = Vec::new();
    for found in found {
        let Some(node) = index.innermost(&found.range) else { continue };
        let Some(copy) = copy_around(view, guards, state, node) else { continue };
        copies.entry(copy).or_default().push(node);
        told.push(Remark::of_engine(found.range, found.severity, found.message));
    }
    let clauses = index.of_kind(k.elif_clause).iter().chain(index.of_kind(k.conditional_expression));
    let codes = clauses.filter_map(|clause| index.consequence(*clause).or_else(|| index.parts(*clause).next()));
    for copy in codes.filter_map(|code| copy_around(view, guards, state, code)) {
        for name in vendors_names(view, facts, guards, plan.settings.definitions, copy.code) {
            copies.entry(copy).or_default().push(name);
            let message = messages::bound_for_cuda_alone(index.text_of(name));
            told.push(Remark::of_engine(index.range(name), Severity::Info, message));
        }
    }
    if !copies.is_empty() {
        let by_rules = reports(plan, view, facts, false, &mut SortedSet::new());
        told.retain(|of_engine| {
            let speaks = |of_rule: &Remark| of_rule.range.contains(&of_engine.range.start);
            !by_rules.iter().any(speaks)
        });
        told.extend(by_rules);
    }
    (copies, told)
}

/// The port's copy for the target that contains a node.
fn copy_around(view: &FileView<'_>, guards: &dyn Guards, state: &State<'_>, node: Id) -> Option<Copy> {
    let (k, index) = (kinds(), &view.index);
    if guards.region(view, node) != Region::Target {
        return None;
    }
    let copy = index.ancestors(node).find_map(|clause| {
        let (chain, code, given) = if index.kind(clause) == k.elif_clause {
            let chain = index.parent(clause)?;
            (chain, index.consequence(clause)?, index.consequence(chain)?)
        } else {
            let chain = index.parent(clause).filter(|_| index.kind(clause) == k.conditional_expression)?;
            let is_chain = index.kind(chain) == k.conditional_expression;
            (chain, index.parts(clause).next()?, index.parts(chain).next().filter(|_| is_chain)?)
        };
        let test = index.condition(chain).or_else(|| index.parts(chain).nth(1))?;
        let is_copy = index.is_within(node, code) && means_cuda(view, test, 1);
        is_copy.then_some(Copy { chain, code, given })
    })?;
    state.rope.author(index.item(copy.code).start).map(|_| copy)
}

/// The statements of a copy that can go: those with such code, and those that read what only they bind. None if others read
/// that too, or if other code would go with them.
fn without(view: &FileView<'_>, guards: &dyn Guards, copy: Copy, found: &[Id]) -> Option<SortedSet<Id>> {
    let index = &view.index;
    if index.kind(copy.code) != kinds().block {
        return Some(SortedSet::new());
    }
    let is_simple = |statement: Id| index.children(statement).all(|part| index.kind(part) != kinds().block);
    let mut out: SortedSet<Id> = SortedSet::new();
    let mut next: Vec<Id> = found.iter().map(|node| view.statement_of(*node)).collect::<Option<_>>()?;
    while let Some(statement) = next.pop() {
        if !is_simple(statement) {
            return None;
        }
        if !out.insert(statement) {
            continue;
        }
        let names = index.of_kind_in(kinds().identifier, statement).iter();
        for bound in names.filter(|id| index.is_stored(**id)) {
            // What is read in other code for one of the two devices is for that to answer.
            let is_shared = |id: &Id| {
                index.is_within(*id, copy.chain)
                    || !matches!(guards.region(view, *id), Region::Target | Region::Vendor { .. })
            };
            let all = view.identifiers(index.text_of(*bound)).iter().copied().filter(is_shared);
            if all.clone().any(|id| id < copy.chain && !index.is_label(id)) {
                continue;
            }
            for read in all.filter(|id| !index.is_stored(*id) && !index.is_label(*id)) {
                if index.is_within(read, copy.code) {
                    next.extend(view.statement_of(read));
                } else if !index.is_within(read, copy.chain) {
                    return None;
                }
            }
        }
    }
    Some(out)
}
