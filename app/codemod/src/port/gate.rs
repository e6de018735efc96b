//! The final check of a ported text: Python compiles it, and every name that it reads has a value. Errors in the
//! original do not count.

use super::plan::Plan;
use super::state::State;
use crate::definitions::Said;
use crate::messages;
use crate::ported::Edit;
use crate::rewrite::KNOWN_MODULES;
use crate::rope::Provenance;
use python::compiles::{Rule, refused};
use python::lines::{line_end, line_start};
use python::notebook::{changed_magic, is_notebook, lost_heading};
use python::scopes::unbound;
use python::source::words;
use python::tree::{Id, Index, ROOT, kinds};
use sorting::{SortedMap, SortedSet};
use std::ops::Range;
use training::FileView;

/// Edits of recipes that have to be reverted, with the reason; none if no edit is the cause.
pub(super) struct Fault {
    pub(super) by: Vec<Provenance>,
    pub(super) why: Said,
    /// The message if the file is unchanged.
    pub(super) or: Said,
}

/// The first error in a file that was not there before.
pub(super) fn fault(plan: &Plan<'_>, state: &State<'_>, view: &FileView<'_>, n: usize) -> Option<Fault> {
    let before = plan.origins.get(n)?.before.as_ref()?;
    if !state.is_changed() {
        return None;
    }
    if is_notebook(&state.source.path)
        && let Some(heading) = lost_heading(&state.source.text, &state.text)
    {
        let shown = state.source.text[heading.clone()].trim_end().to_owned();
        return Some(Fault {
            by: edits_at(state, &heading),
            why: messages::would_lose_a_cell(shown.clone()),
            or: messages::output_lacks_a_cell(shown),
        });
    }
    if is_notebook(&state.source.path)
        && let Some((cell, now)) = changed_magic(&state.source.text, &state.text)
    {
        let heading = state.source.text[..cell.start].lines().next_back().unwrap_or_default().to_owned();
        let by = Some(state.rope.authors(&now)).filter(|by| !by.is_empty());
        return Some(Fault {
            by: by.unwrap_or_else(|| edits_at(state, &cell)),
            why: messages::would_change_a_magic(heading.clone()),
            or: messages::output_changes_a_magic(heading),
        });
    }
    let index = &view.index;
    let mut rules: SortedMap<Rule, Vec<Range<usize>>> = SortedMap::new();
    for fault in refused(index) {
        rules.entry(fault.rule).or_default().push(fault.range);
    }
    rules.retain(|rule, places| places.len() > before.count(*rule));
    // Of several places the one that a recipe changed.
    let places = || rules.values().flatten();
    let written = places().find(|place| !around(state, index, place).is_empty());
    if let Some(place) = written.or_else(|| places().next()) {
        let line = line_start(&state.text, place.start)..line_end(&state.text, place.start);
        let shown: String = state.text[line].trim().chars().take(60).collect();
        return Some(Fault {
            by: around(state, index, place),
            why: messages::would_not_compile(shown.clone()),
            or: messages::output_does_not_compile(shown),
        });
    }
    // A name that a rule writes and the file does not contain is the project's own, unless it is a module's.
    let modules = plan.settings.target.modules.iter().map(String::as_str).chain(KNOWN_MODULES);
    let modules: SortedSet<&str> = modules.collect();
    let known = |name: &str| words(&state.source.text, name).next().is_some() || modules.contains(name);
    let missing = unbound(index).into_iter().find(|u| !before.has(u) && known(u.name))?;
    let place = index.range(missing.id);
    let mut by = state.rope.authors(&place);
    if by.is_empty() {
        by = unbinds(state, missing.name);
    }
    if by.is_empty() {
        by = around(state, index, &place);
    }
    let (why, or) = (messages::would_be_unbound(missing.name), messages::output_is_unbound(missing.name));
    Some(Fault { by, why, or })
}

/// The recipe that wrote a place, or the code around it in its statement.
fn around(state: &State<'_>, index: &Index<'_>, place: &Range<usize>) -> Vec<Provenance> {
    let own = state.rope.authors(place);
    if !own.is_empty() {
        return own;
    }
    // The header of a compound statement is not affected by its body.
    let holds_block = |id: &Id| !index.of_kind_in(kinds().block, *id).is_empty();
    let outwards = index.innermost(place).into_iter().flat_map(|id| std::iter::once(id).chain(index.ancestors(id)));
    let mut outwards = outwards.take_while(|id| *id != ROOT && !holds_block(id));
    outwards.find_map(|id| Some(state.rope.authors(&index.range(id))).filter(|by| !by.is_empty())).unwrap_or_default()
}

/// The edits that removed the places where the original contains a name.
fn unbinds(state: &State<'_>, name: &str) -> Vec<Provenance> {
    let mut by: Vec<Provenance> = Vec::new();
    for author in words(&state.source.text, name).flat_map(|word| edits_at(state, &word)) {
        by.extend((!by.contains(&author)).then_some(author));
    }
    by
}

/// The edit that removed a range of the original.
fn edits_at(state: &State<'_>, range: &Range<usize>) -> Vec<Provenance> {
    let edits = state.rope.edits();
    let touches = edits.iter().find(|edit| edit.start < range.end && range.start < edit.end);
    let author = |edit: &Edit| Provenance {
        recipe: edit.recipe.clone(),
        applicability: edit.applicability,
        id: edit.id.clone(),
    };
    touches.map(author).into_iter().collect()
}
