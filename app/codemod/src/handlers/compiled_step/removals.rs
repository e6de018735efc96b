//! Statements on one line that are removed together: each alone would take the semicolon next to it, and two that take the same
//! one exclude each other.

use super::Wish;
use python::edit::{Change, owns_its_lines};
use python::tree::Id;
use training::FileView;

/// The edits, with one removal for neighbours on a line.
pub(super) fn joined(view: &FileView<'_>, edits: Vec<Wish>) -> Vec<Wish> {
    let index = &view.index;
    let removed = |wish: &Wish| match wish.changes.as_slice() {
        [Change::Replace { first, last, text }] if first == last && text.is_empty() => Some(*first),
        _ => None,
    };
    let shares_line = |id: &Id| !owns_its_lines(view, *id, *id);
    let mut gone: Vec<Id> = edits.iter().filter_map(removed).filter(shares_line).collect();
    sorting::plain(&mut gone);
    gone.dedup();
    let mut runs: Vec<(Id, Id)> = Vec::new();
    for id in gone.iter().copied() {
        let follows = |last: Id| {
            let between = index.item(last).end..index.item(id).start;
            index.parent(last) == index.parent(id) && index.text[between].chars().all(|c| c == ';' || c == ' ')
        };
        match runs.last_mut().filter(|run| follows(run.1)) {
            Some(run) => run.1 = id,
            None => runs.push((id, id)),
        }
    }
    let kept = edits.into_iter().filter(|wish| removed(wish).is_none_or(|id| gone.binary_search(&id).is_err()));
    let removals = runs
        .into_iter()
        .map(|(first, last)| Wish::new(view, first, vec![Change::Replace { first, last, text: String::new() }]));
    kept.chain(removals).collect()
}
