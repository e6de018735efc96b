//! Which removed line became which added line.

use super::sequence::sequence_diff;
use super::words::{Bag, changed_words};
use super::{Hunk, Pair, number};
use rustc_hash::FxHashMap;
use similar::DiffOp;
use std::ops::Range;

/// Lines less similar than this (of 1000) are a removal and an addition, not a change.
const ALIKE: u32 = 400;
/// Up to this many comparisons the best pairing of a run is computed, otherwise an approximation.
const CELLS: usize = 10_000;
/// The lookahead of the approximation.
const WINDOW: usize = 12;

/// Pairs of a hunk, in order.
pub(super) fn pairs(hunk: &Hunk, old: &[&str], new: &[&str]) -> Vec<Pair> {
    let (o, n) = (hunk.old_start as usize..hunk.old_end as usize, hunk.new_start as usize..hunk.new_end as usize);
    if o.is_empty() || n.is_empty() {
        return Vec::new();
    }
    let mut found = Vec::new();
    if o.len() * n.len() <= CELLS {
        best(&old[o.clone()], &new[n.clone()], (o.start, n.start), &mut found);
    } else {
        by_trimmed_lines(old, new, o, n, &mut found);
    }
    found
        .into_iter()
        .map(|(o, n)| {
            let (old_words, new_words) = changed_words(old[o], new[n]);
            Pair { old: o as u32, new: n as u32, old_words, new_words }
        })
        .collect()
}

/// In a long run, lines that were only indented are paired first, then the lines between them.
fn by_trimmed_lines(old: &[&str], new: &[&str], o: Range<usize>, n: Range<usize>, found: &mut Vec<(usize, usize)>) {
    let old_trimmed: Vec<&str> = old[o.clone()].iter().map(|line| line.trim()).collect();
    let new_trimmed: Vec<&str> = new[n.clone()].iter().map(|line| line.trim()).collect();
    let (old_ids, known) = number(&old_trimmed, FxHashMap::default());
    let (new_ids, _) = number(&new_trimmed, known);
    for op in sequence_diff(&old_ids, &new_ids) {
        let (a, b) = (op.old_range(), op.new_range());
        let (a, b) = (a.start + o.start..a.end + o.start, b.start + n.start..b.end + n.start);
        if matches!(op, DiffOp::Equal { .. }) {
            found.extend(a.zip(b));
        } else if a.len() * b.len() <= CELLS {
            best(&old[a.clone()], &new[b.clone()], (a.start, b.start), found);
        } else {
            good(&old[a.clone()], &new[b.clone()], (a.start, b.start), found);
        }
    }
}

/// The order-preserving pairing with the greatest total similarity.
fn best(old: &[&str], new: &[&str], base: (usize, usize), found: &mut Vec<(usize, usize)>) {
    let old_bags: Vec<Bag> = old.iter().map(|line| Bag::of(line)).collect();
    let new_bags: Vec<Bag> = new.iter().map(|line| Bag::of(line)).collect();
    let width = new.len() + 1;
    // `score[i * width + j]`: the best score for the lines from `i` and from `j` on.
    let mut score = vec![0u32; (old.len() + 1) * width];
    let mut alike = vec![0u32; old.len() * width];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            let both = old_bags[i].likeness(&new_bags[j]);
            let skip = score[(i + 1) * width + j].max(score[i * width + j + 1]);
            let pair = if both >= ALIKE { both + score[(i + 1) * width + j + 1] } else { 0 };
            alike[i * width + j] = both;
            score[i * width + j] = skip.max(pair);
        }
    }
    let (mut i, mut j) = (0, 0);
    while i < old.len() && j < new.len() {
        let here = score[i * width + j];
        let both = alike[i * width + j];
        if both >= ALIKE && here == both + score[(i + 1) * width + j + 1] {
            found.push((base.0 + i, base.1 + j));
            (i, j) = (i + 1, j + 1);
        } else if here == score[i * width + j + 1] {
            j += 1;
        } else {
            i += 1;
        }
    }
}

/// Selects for every removed line the best of the next few added ones.
fn good(old: &[&str], new: &[&str], base: (usize, usize), found: &mut Vec<(usize, usize)>) {
    let new_bags: Vec<Bag> = new.iter().map(|line| Bag::of(line)).collect();
    let mut next = 0;
    for (i, line) in old.iter().enumerate() {
        let bag = Bag::of(line);
        let mut chosen = (ALIKE - 1, 0);
        for (j, other) in new_bags.iter().enumerate().skip(next).take(WINDOW) {
            let alike = bag.likeness(other);
            if alike > chosen.0 {
                chosen = (alike, j);
            }
            if alike == 1000 {
                break;
            }
        }
        if chosen.0 >= ALIKE {
            found.push((base.0 + i, base.1 + chosen.1));
            next = chosen.1 + 1;
        }
    }
}
