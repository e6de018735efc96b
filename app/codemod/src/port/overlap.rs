//! Overlapping fixes: which of them a round applies.

use super::plan::Plan;
use crate::fix::Fix;
use python::edit::Change;
use python::tree::{Id, kinds};
use sorting::{SortedMap, SortedSet};
use std::ops::{Bound, Range};
use training::FileView;

/// A matched expression belongs to its rule for the round, with everything inside; for a method call only the call, not
/// its receiver.
pub(super) fn own(view: &FileView<'_>, node: Id) -> Range<usize> {
    let k = kinds();
    let index = &view.index;
    let receiver = index
        .callee(node)
        .filter(|function| index.kind(*function) == k.attribute && view.names.qualify(index, *function).is_none())
        .and_then(|function| index.owner(function));
    let end = index.item(node).end;
    receiver.map_or(index.item(node).start, |r| index.item(r).end)..end
}

/// The order in which overlapping fixes are resolved: the one that changes more text first, because it has more
/// context; then the order of the guide.
pub(super) fn outermost_first(view: &FileView<'_>, fixes: &mut [Fix]) {
    sorting::by_key(fixes, |fix| {
        let extents: Vec<Range<usize>> = fix.changes.iter().flat_map(|c| c.extents(view)).collect();
        let start = extents.iter().map(|r| r.start).min().unwrap_or(0);
        let end = extents.iter().map(|r| r.end).max().unwrap_or(0);
        (std::cmp::Reverse(fix.owned.len().max(end.saturating_sub(start))), fix.rank, fix.at)
    });
}

/// Fixes that do not overlap an earlier one. The others are tried again in the next round, if they still match.
pub(super) fn without_overlaps(plan: &Plan<'_>, view: &FileView<'_>, fixes: Vec<Fix>) -> Vec<Fix> {
    let mut taken = Taken::default();
    let mut waiting: SortedSet<String> = SortedSet::new();
    let mut kept: Vec<Fix> = fixes
        .into_iter()
        .filter(|fix| {
            let ranges: Vec<Range<usize>> = if !fix.owned.is_empty() {
                std::iter::once(fix.owned.clone()).collect()
            } else {
                fix.changes.iter().flat_map(|c| c.extents(view)).collect()
            };
            // What is inserted in front of statements that are wrapped comes first: the header would otherwise part from them.
            if fix.wraps() && ranges.iter().any(|r| taken.points.contains_key(&r.start)) {
                return false;
            }
            if let Some((range, other, recipe)) = ranges.iter().find_map(|r| taken.meeting(r)) {
                let nested = (other.start <= range.start && range.end <= other.end)
                    || (range.start <= other.start && other.end <= range.end);
                if !nested {
                    let text = &view.index.text[range.start.max(other.start)..range.end.min(other.end)];
                    let clash = format!("{recipe} and {} both change `{text}`", fix.recipe);
                    plan.trace.borrow_mut().clashes.push(clash);
                }
                if fix.atomic && recipe != fix.recipe {
                    waiting.insert(fix.recipe.clone());
                }
                return false;
            }
            ranges.into_iter().for_each(|r| taken.take(r, &fix.recipe));
            plan.trace.borrow_mut().fired.insert((fix.recipe.clone(), fix.rule));
            true
        })
        .collect();
    kept.retain(|fix| !fix.atomic || !waiting.contains(&fix.recipe));
    kept
}

/// Ranges of accepted fixes; none of them overlap.
#[derive(Default)]
struct Taken {
    ranges: SortedMap<usize, (usize, String)>,
    points: SortedMap<usize, String>,
}

impl Taken {
    /// The accepted range that a range overlaps: the range, the accepted one and its recipe. Two insertions at one
    /// place don't overlap.
    fn meeting(&self, range: &Range<usize>) -> Option<(Range<usize>, Range<usize>, String)> {
        let before = if range.is_empty() { range.start } else { range.end };
        if let Some((start, (end, recipe))) = self.ranges.range(..before).next_back()
            && *end > range.start
        {
            return Some((range.clone(), *start..*end, recipe.clone()));
        }
        let point = self
            .points
            .range((Bound::Excluded(range.start), Bound::Unbounded))
            .next()
            .filter(|(at, _)| **at < range.end);
        point.map(|(at, recipe)| (range.clone(), *at..*at, recipe.clone()))
    }

    fn take(&mut self, range: Range<usize>, recipe: &str) {
        if range.is_empty() {
            self.points.insert(range.start, recipe.to_owned());
        } else {
            self.ranges.insert(range.start, (range.end, recipe.to_owned()));
        }
    }
}

/// A block that would lose its last statement keeps `pass`, even if several changes empty it together.
pub(super) fn keep_blocks(view: &FileView<'_>, changes: &mut [&mut Change]) {
    let index = &view.index;
    let deletes = |change: &Change| match change {
        Change::Replace { first, last, text } if text.is_empty() => Some((*first, *last)),
        _ => None,
    };
    // Deleted statements by block, each with the first statement of its change.
    let mut gone: SortedMap<Id, SortedMap<Id, Id>> = SortedMap::new();
    for (first, last) in changes.iter().filter_map(|change| deletes(change)) {
        let Some(block) = index.parent(first).filter(|b| index.kind(*b) == kinds().block) else { continue };
        let statements = gone.entry(block).or_default();
        statements.extend(index.parts_from(first).take_while(|s| *s <= last).map(|s| (s, first)));
    }
    let stay: SortedSet<Id> = gone
        .iter()
        .filter(|(block, statements)| index.parts(**block).count() == statements.len())
        .filter_map(|(_, statements)| statements.values().next_back().copied())
        .collect();
    for change in changes {
        if let Some((first, _)) = deletes(change)
            && stay.contains(&first)
            && let Change::Replace { text, .. } = &mut **change
        {
            "pass".clone_into(text);
        }
    }
}
