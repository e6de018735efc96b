//! Comments in the ported files, one above each place that is left to a person, with the section that speaks of it
//! ([`Options::annotate`](crate::ported::Options)). A later port removes those that it no longer reports.

use super::plan::Plan;
use super::round::is_rejected;
use super::state::State;
use crate::messages;
use crate::place::comment_lines;
use crate::ported::{Applicability, Ported, Severity};
use crate::recipe::RecipeSet;
use crate::rope::{Provenance, Replacement};
use crate::totals::COMMENTS;
use python::lines::{LineStarts, line_start};
use python::notebook::is_cell_magic;
use python::tree::Id;
use sorting::{SortedMap, SortedSet};
use std::rc::Rc;
use training::FileView;

/// The comments that a finished port lacks, and those without a place any more, by file.
pub(super) fn annotations(
    plan: &Plan<'_>,
    recipes: &RecipeSet,
    states: &[State<'_>],
    views: &[Option<Rc<FileView<'_>>>],
    ported: &Ported,
) -> SortedMap<usize, Vec<Replacement>> {
    let comment = |recipe: &str, title: &str| {
        let said = messages::open_place(recipe, title);
        plan.settings.definitions.message(&said).0
    };
    let mark = comment("", "");
    let mark = mark.trim_end_matches([':', ' ']);
    let mut out = SortedMap::new();
    for (n, (state, file)) in states.iter().zip(&ported.files).enumerate() {
        let Some(view) = &views[n] else { continue };
        let starts = LineStarts::new(view.index.text);
        let mut wanted: SortedMap<usize, SortedSet<String>> = SortedMap::new();
        let left = file.diagnostics.iter().filter(|left| matches!(left.severity, Severity::Warning | Severity::Error));
        for left in left {
            let start = left.ported.line.checked_sub(1).and_then(|row| starts.start(row));
            let Some(at) = start.and_then(|start| above(view, start)) else { continue };
            let title = recipes.title(&ported.target, &left.recipe);
            wanted.entry(at).or_default().insert(comment(&left.recipe, &title));
        }
        let mut changes = Vec::new();
        let mut change = |range: std::ops::Range<usize>, text: String| {
            let id = format!("{COMMENTS}@{}", state.rope.origin(range.start));
            if !is_rejected(plan.options, &state.source.path, &id) {
                let by = Provenance { recipe: COMMENTS.to_owned(), applicability: Applicability::Safe, id };
                changes.push(Replacement { range, text, by });
            }
        };
        for (start, end, text) in own_comments(view, mark) {
            let stands_above = next_line(view, end);
            if !wanted.get_mut(&stands_above).is_some_and(|texts| texts.remove(text)) {
                change(start..end, String::new());
            }
        }
        for (at, texts) in wanted.into_iter().filter(|_| plan.options.annotate) {
            let line = &view.index.text[at..];
            let indent = &line[..line.len() - line.trim_start_matches([' ', '\t']).len()];
            let lines: String = texts.iter().map(|text| format!("{indent}{text}{}", view.layout.newline)).collect();
            if !lines.is_empty() {
                change(at..at, lines);
            }
        }
        if !changes.is_empty() {
            sorting::by_key(&mut changes, |change| (change.range.start, change.range.end));
            out.insert(n, changes);
        }
    }
    out
}

/// Where the line of the statement begins that contains the line which starts at an offset.
fn above(view: &FileView<'_>, start: usize) -> Option<usize> {
    let index = &view.index;
    let text = index.text;
    let at = start + text[start..].len() - text[start..].trim_start_matches([' ', '\t', '\u{feff}']).len();
    let node = index.innermost(&(at..at))?;
    let statements = std::iter::successors(view.statement_of(node), |inner| view.statement_of(index.parent(*inner)?));
    let begins = |statement: Id| {
        let start = index.item(statement).start;
        let line = line_start(text, start);
        // A byte order mark stays the first character.
        let line = line + text[line..].len() - text[line..].trim_start_matches('\u{feff}').len();
        text[line..start].trim().is_empty().then_some(line)
    };
    // In a notebook nothing stands above the first line of a cell in another language.
    statements.take_while(|statement| !is_cell_magic(index, *statement)).find_map(begins)
}

/// The lines of this port's comments: where they begin and end, and their text.
fn own_comments<'t>(view: &FileView<'t>, mark: &str) -> Vec<(usize, usize, &'t str)> {
    let text = view.index.text;
    let is_section = |words: &str| words.split_once(": ").is_some_and(|(id, _)| id.contains('#') && !id.contains(' '));
    let of_port = comment_lines(&view.index).filter(|(_, _, comment)| {
        comment.strip_prefix(mark).and_then(|c| c.strip_prefix(": ")).is_some_and(is_section)
    });
    let lines = of_port.filter_map(|(_, at, comment)| {
        let start = line_start(text, at);
        let start = start + text[start..at].len() - text[start..at].trim_start_matches('\u{feff}').len();
        let end = text[at..].find('\n').map_or(text.len(), |end| at + end + 1);
        text[start..at].trim_matches([' ', '\t']).is_empty().then_some((start, end, comment))
    });
    lines.collect()
}

/// Where the next line begins that is no comment.
fn next_line(view: &FileView<'_>, from: usize) -> usize {
    let text = view.index.text;
    let mut at = from;
    for line in text[from..].split_inclusive('\n') {
        if !line.trim_start().starts_with('#') {
            break;
        }
        at += line.len();
    }
    at
}
