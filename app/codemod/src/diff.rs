//! The difference between a file and its port, as shown by the page and the patch.
//!
//! A [`FileDiff`] contains no text: it has line ranges of the two texts, and byte ranges inside those lines. A renderer
//! keeps both texts and splits them with `split_inclusive('\n')`, the only line ending here, as in git: a `\r` before
//! it belongs to the line. Lines between two hunks are equal, so the old line `i` after a hunk is the new line
//! `i + new_end - old_end`.
//!
//! The parts are [`sequence`] (which lines are equal), [`pairing`] (which removed line became which added one),
//! [`words`] (what changed inside such a pair) and [`slide`] (where a hunk starts if several places are equally short).
//! Nothing here depends on time: effort is bounded by sizes, so the page and the command print the same diff.

mod pairing;
mod sequence;
mod slide;
mod words;

use crate::Edit;
use rustc_hash::FxHashMap;
use sequence::sequence_diff;
use serde::{Deserialize, Serialize};
use similar::DiffOp;
use std::ops::Range;

/// What changed between two texts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileDiff {
    /// Number of lines of the old text.
    pub old_lines: u32,
    /// Number of lines of the new text.
    pub new_lines: u32,
    /// The changed places in order. Between two of them is at least one unchanged line.
    pub hunks: Vec<Hunk>,
}

impl FileDiff {
    /// The number of changes as displayed everywhere: changed places, of which one edit may produce several and several
    /// edits one.
    #[must_use]
    pub fn changes(&self) -> usize {
        self.hunks.len()
    }
}

/// A maximal run of changed lines: no context inside. Lines count from 0, ends are exclusive.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hunk {
    /// First removed line; for a pure insertion the line of the old text before which it is inserted.
    pub old_start: u32,
    /// One past the last removed line.
    pub old_end: u32,
    /// First added line; for a pure removal the line of the new text before which the lines were.
    pub new_start: u32,
    /// One past the last added line.
    pub new_end: u32,
    /// Removed lines that were changed, with the resulting lines; both columns ascend.
    pub pairs: Vec<Pair>,
    /// Ids of the edits that made this hunk, in the order of the file.
    pub edits: Vec<String>,
}

/// A removed line and the added line that replaced it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pair {
    /// Line of the old text.
    pub old: u32,
    /// Line of the new text.
    pub new: u32,
    /// Removed words: start and end in bytes (UTF-8) from the start of the old line, in order, not adjacent.
    pub old_words: Vec<(u32, u32)>,
    /// Added words, likewise in the new line.
    pub new_words: Vec<(u32, u32)>,
}

/// One row of a side-by-side view. At least one side is present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row<'a> {
    /// Line of the old text on the left.
    pub old: Option<u32>,
    /// Line of the new text on the right.
    pub new: Option<u32>,
    /// The pair, if both sides are present and belong together.
    pub pair: Option<&'a Pair>,
}

impl Hunk {
    /// Rows of a side-by-side view: the lines of a pair are next to each other; lines between two pairs are shown side
    /// by side as long as both sides have some.
    pub fn rows(&self) -> Vec<Row<'_>> {
        let mut rows = Vec::new();
        let (mut old, mut new) = (self.old_start, self.new_start);
        let fill = |old: &mut u32, new: &mut u32, old_end: u32, new_end: u32, rows: &mut Vec<Row<'_>>| {
            while *old < old_end || *new < new_end {
                let left = (*old < old_end).then_some(*old);
                let right = (*new < new_end).then_some(*new);
                rows.push(Row { old: left, new: right, pair: None });
                *old += u32::from(left.is_some());
                *new += u32::from(right.is_some());
            }
        };
        for pair in &self.pairs {
            fill(&mut old, &mut new, pair.old, pair.new, &mut rows);
            rows.push(Row { old: Some(pair.old), new: Some(pair.new), pair: Some(pair) });
            (old, new) = (pair.old + 1, pair.new + 1);
        }
        fill(&mut old, &mut new, self.old_end, self.new_end, &mut rows);
        rows
    }
}

/// Compares two texts. `edits` are those from `old` to `new`, sorted, as in
/// [`PortedFile::edits`](crate::PortedFile::edits); every one of them is assigned to its hunks. Empty for texts that
/// are not a file and its port.
pub fn diff_texts(old: &str, new: &str, edits: &[Edit]) -> FileDiff {
    let old_lines: Vec<&str> = old.split_inclusive('\n').collect();
    let new_lines: Vec<&str> = new.split_inclusive('\n').collect();
    let mut hunks = changed_runs(&old_lines, &new_lines);
    for hunk in &mut hunks {
        hunk.pairs = pairing::pairs(hunk, &old_lines, &new_lines);
    }
    if !edits.is_empty() && !hunks.is_empty() {
        assign_edits(&mut hunks, &old_lines, &new_lines, edits);
    }
    FileDiff { old_lines: old_lines.len() as u32, new_lines: new_lines.len() as u32, hunks }
}

/// Runs of changed lines, without pairs and edits.
pub(crate) fn changed_runs(old: &[&str], new: &[&str]) -> Vec<Hunk> {
    let prefix = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let rest = old.len().min(new.len()) - prefix;
    let suffix = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(a, b)| a == b).count();
    let middle_old = number(&old[prefix..old.len() - suffix], FxHashMap::default());
    let middle_new = number(&new[prefix..new.len() - suffix], middle_old.1);
    let ops = sequence_diff(&middle_old.0, &middle_new.0);

    let mut hunks: Vec<Hunk> = Vec::new();
    for op in ops {
        if matches!(op, DiffOp::Equal { .. }) {
            continue;
        }
        let (o, n) = (op.old_range(), op.new_range());
        let hunk = Hunk {
            old_start: (o.start + prefix) as u32,
            old_end: (o.end + prefix) as u32,
            new_start: (n.start + prefix) as u32,
            new_end: (n.end + prefix) as u32,
            ..Hunk::default()
        };
        match hunks.last_mut() {
            Some(last) if last.old_end == hunk.old_start && last.new_end == hunk.new_start => {
                (last.old_end, last.new_end) = (hunk.old_end, hunk.new_end);
            }
            _ => hunks.push(hunk),
        }
    }
    slide::settle(&mut hunks, old, new);
    hunks
}

/// Gives equal lines equal numbers, so that the comparison handles integers.
fn number<'a>(lines: &[&'a str], mut known: FxHashMap<&'a str, u32>) -> (Vec<u32>, FxHashMap<&'a str, u32>) {
    let ids = lines
        .iter()
        .map(|line| {
            let next = known.len() as u32;
            *known.entry(line).or_insert(next)
        })
        .collect();
    (ids, known)
}

/// Byte offset at which every line starts, and the length of the text at the end.
fn line_starts(lines: &[&str]) -> Vec<usize> {
    let mut starts = Vec::with_capacity(lines.len() + 1);
    let mut at = 0;
    for line in lines {
        starts.push(at);
        at += line.len();
    }
    starts.push(at);
    starts
}

/// Adds the id of every edit to the hunks that it overlaps, in the old text or in the new one. An edit that overlaps
/// none (a hunk may have been moved along equal lines) is added to the nearest.
fn assign_edits(hunks: &mut [Hunk], old_lines: &[&str], new_lines: &[&str], edits: &[Edit]) {
    let (old_starts, new_starts) = (line_starts(old_lines), line_starts(new_lines));
    let bytes = |starts: &[usize], from: u32, to: u32| starts[from as usize]..starts[to as usize];
    let old_ranges: Vec<_> = hunks.iter().map(|h| bytes(&old_starts, h.old_start, h.old_end)).collect();
    let new_ranges: Vec<_> = hunks.iter().map(|h| bytes(&new_starts, h.new_start, h.new_end)).collect();

    let mut shift = 0isize;
    for edit in edits {
        let start = edit.start.saturating_add_signed(shift);
        let in_old = touched(&old_ranges, &(edit.start..edit.end));
        let in_new = touched(&new_ranges, &(start..start + edit.text.len()));
        shift += edit.text.len() as isize - (edit.end.saturating_sub(edit.start)) as isize;
        let mut hit: Vec<usize> = in_old.chain(in_new).collect();
        sorting::plain(&mut hit);
        hit.dedup();
        if hit.is_empty() {
            hit.push(nearest(&old_ranges, edit.start));
        }
        for index in hit {
            hunks[index].edits.push(edit.id.clone());
        }
    }
}

/// Indices of the sorted `ranges` that overlap `range` or touch it at an end.
fn touched(ranges: &[Range<usize>], range: &Range<usize>) -> Range<usize> {
    let from = ranges.partition_point(|r| r.end < range.start);
    let to = ranges.partition_point(|r| r.start <= range.end);
    from..to.max(from)
}

fn nearest(ranges: &[Range<usize>], at: usize) -> usize {
    let after = ranges.partition_point(|r| r.end < at);
    let distance = |r: &Range<usize>| r.start.saturating_sub(at).max(at.saturating_sub(r.end));
    match (after.checked_sub(1), ranges.get(after)) {
        (Some(before), Some(next)) if distance(&ranges[before]) < distance(next) => before,
        (Some(before), None) => before,
        _ => after,
    }
}

#[cfg(test)]
mod tests;
