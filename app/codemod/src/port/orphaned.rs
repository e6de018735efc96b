//! Comments on statements that a port removed: a comment on removed code is removed, too, and the edit names it.

use crate::place::comment_lines;
use crate::rope::{Fate, Replacement, Rope};
use python::lines::{begins_cell, line_end, line_indent, line_start};
use python::tree::{Id, ROOT, kinds};
use sorting::SortedMap;
use training::FileView;
use training::words::{COMMENTS_FOR_TOOLS, COMMENTS_ON_GPUS};

/// Removes comments whose statements were removed without a replacement, and one of two empty lines that would become
/// adjacent.
pub(super) fn orphaned(original: &FileView<'_>, text: &str, rope: &Rope<'_>) -> Vec<Replacement> {
    let mut out: Vec<Replacement> = Vec::new();
    for (lines, fate) in on_what_went(original, rope).into_iter().filter(|(_, fate)| !fate.written) {
        let place = |c: &Id| rope.place(original.index.item(*c).start);
        let (Some(first), Some(last)) = (lines.first().and_then(place), lines.last().and_then(place)) else { continue };
        let start = line_start(text, first);
        let mut end = next_line(text, last);
        if !text[start..first].trim().is_empty() {
            continue;
        }
        let above = text[..start].trim_end_matches([' ', '\t']);
        if above.ends_with("\n\n") || above.ends_with("\n\r\n") || above.trim_end().ends_with(':') {
            while end < text.len() && text[end..line_end(text, end)].trim().is_empty() {
                end = next_line(text, end);
            }
        }
        out.push(Replacement { range: start..end, text: String::new(), by: fate.by.clone() });
    }
    sorting::by_key(&mut out, |r| r.range.start);
    let mut done = 0;
    out.retain(|r| {
        let free = r.range.start >= done;
        done = done.max(r.range.end);
        free
    });
    out
}

fn next_line(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |n| at + n + 1)
}

/// A comment of the original that the port does not have.
pub(super) struct Missing<'t> {
    /// Where it begins in the original.
    pub(super) at: usize,
    pub(super) text: &'t str,
    /// Whether the code that it refers to, or is in, was removed.
    pub(super) of_removed: bool,
}

/// The comments of the original that the port does not have; `after` are those of the port.
pub(super) fn missing<'t>(
    original: &FileView<'t>,
    rope: &Rope<'_>,
    after: &SortedMap<String, usize>,
) -> Vec<Missing<'t>> {
    let index = &original.index;
    let on_removed: Vec<Id> = on_what_went(original, rope).into_iter().flat_map(|(lines, _)| lines).collect();
    let is_in_removed = |id: Id| index.ancestors(id).any(|a| a != ROOT && rope.fate(&index.range(a)).is_some());
    let mut removed: SortedMap<&str, Vec<Missing<'t>>> = SortedMap::new();
    let mut given: SortedMap<&str, usize> = SortedMap::new();
    for (id, at, text) in comment_lines(index) {
        *given.entry(text).or_default() += 1;
        if rope.place(at).is_none() {
            let of_removed = on_removed.contains(&id) || is_in_removed(id);
            removed.entry(text).or_default().push(Missing { at, text, of_removed });
        }
    }
    let mut out = Vec::new();
    for (text, mut removed) in removed {
        // The port has written some of them elsewhere, with their code.
        let count = given[text].saturating_sub(after.get(text).copied().unwrap_or(0));
        sorting::by_key(&mut removed, |comment| !comment.of_removed);
        removed.truncate(count);
        out.extend(removed);
    }
    sorting::by_key(&mut out, |comment| comment.at);
    out
}

/// Comments of the original whose statements are missing from the text, with the fate of these.
///
/// Comment lines refer to the statements below them, up to an empty line, comment or end of the block; a comment after
/// a statement refers to that.
fn on_what_went<'r>(original: &FileView<'_>, rope: &'r Rope<'_>) -> Vec<(Vec<Id>, Fate<'r>)> {
    let index = &original.index;
    let is_line =
        |c: Id| index.text[line_start(index.text, index.item(c).start)..index.item(c).start].trim().is_empty();
    let comments = index.of_kind(kinds().comment);
    let mut out: Vec<(Vec<Id>, Fate<'r>)> = Vec::new();
    let mut lines: Vec<Id> = Vec::new();
    for (n, &comment) in comments.iter().enumerate() {
        if !is_line(comment) {
            let fate = statement_before(original, comment).and_then(|s| rope.fate(&index.range(s)));
            out.extend(fate.map(|fate| (vec![comment], fate)));
            continue;
        }
        if begins_cell(index.text_of(comment)) {
            continue;
        }
        lines.push(comment);
        let goes_on = comments.get(n + 1).is_some_and(|next| {
            is_line(*next)
                && index.row(*next) == index.row(comment) + 1
                && index.column(*next) == index.column(comment)
                && !begins_cell(index.text_of(*next))
        });
        if goes_on {
            continue;
        }
        let block = std::mem::take(&mut lines);
        let words = || block.iter().map(|c| index.text_of(*c));
        let for_tools = words().any(|w| COMMENTS_FOR_TOOLS.iter().any(|tool| w.contains(tool)));
        if words().any(|w| w.contains(char::is_alphanumeric)) && !for_tools {
            let group = group_below(original, comment);
            let bytes = |n: usize| index.item(group[0]).start..index.item(group[n - 1]).end;
            // All of it that was removed, from its beginning; with whether any remaining code is still referred to.
            let all = (1..=group.len()).rev().find_map(|n| Some((n, rope.fate(&bytes(n))?)));
            let fate = all.filter(|(n, _)| {
                *n == group.len()
                    || speaks_of(words(), &index.text[bytes(*n)], &index.text[bytes(group.len())][bytes(*n).len()..])
            });
            let fate = fate.map(|(_, fate)| fate);
            out.extend(fate.map(|fate| (block, fate)));
        }
    }
    out
}

/// The statement after which a comment is on its last line.
fn statement_before(original: &FileView<'_>, comment: Id) -> Option<Id> {
    let index = &original.index;
    let start = index.item(comment).start;
    let code = line_start(index.text, start) + line_indent(index.text, start).len();
    let end = index.text[..start].trim_end().len();
    let statement = index.innermost(&(code..code)).and_then(|id| original.statement_of(id))?;
    (index.item(statement).end == end).then_some(statement)
}

/// Whether comments mention GPUs, or words of the removed statements, and none of those of the remaining ones.
fn speaks_of<'c>(mut comments: impl Iterator<Item = &'c str>, went: &str, stays: &str) -> bool {
    let (went, stays) = (went.to_ascii_lowercase(), stays.to_ascii_lowercase());
    let mut found = false;
    let other = comments.any(|comment| {
        let comment = comment.to_ascii_lowercase();
        found |= COMMENTS_ON_GPUS.iter().any(|word| comment.contains(word));
        let mut words = comment.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 3);
        words.any(|word| {
            found |= went.contains(word);
            stays.contains(word)
        })
    });
    found && !other
}

/// The statements below a comment; none at the top of the file, where it refers to the whole file.
fn group_below(original: &FileView<'_>, comment: Id) -> Vec<Id> {
    let index = &original.index;
    let below = next_line(index.text, index.item(comment).end);
    let start = below + line_indent(index.text, below).len();
    let first = index.innermost(&(start..start)).and_then(|id| original.statement_of(id));
    let Some((first, block)) = first.and_then(|first| Some((first, index.parent(first)?))) else { return Vec::new() };
    let begins = index.item(first).start == start && index.column(first) == index.column(comment);
    if !begins || block == ROOT && index.parts(ROOT).next() == Some(first) {
        return Vec::new();
    }
    let mut group = vec![first];
    for next in index.children(block).filter(|c| *c > first) {
        let last = group[group.len() - 1];
        if index.kind(next) == kinds().comment && index.row(next) == index.last_row(last) {
            continue;
        }
        if index.kind(next) == kinds().comment || index.row(next) > index.last_row(last) + 1 {
            break;
        }
        group.push(next);
    }
    group
}
