//! Stable sorting, and maps and sets in the order of their keys, for programs that are downloaded.
//!
//! `slice::sort` is compiled anew for each type and comparison, 4 KB each time. Here the indices are sorted, by one
//! routine for all, and then the items are put in that order. The standard library's ordered maps are compiled anew for
//! each key and value, 3 KB without what sorts them; these are lists.

mod map;
mod set;

pub use map::{Entry, SortedMap};
pub use set::SortedSet;

use std::cmp::Ordering;
use std::ops::{Bound, Range, RangeBounds};

/// Sorts as `slice::sort` does.
pub fn plain<T: Ord>(items: &mut [T]) {
    by(items, T::cmp);
}

/// Sorts as `slice::sort_by_cached_key` does.
pub fn by_key<T, K: Ord>(items: &mut [T], key: impl FnMut(&T) -> K) {
    let keys: Vec<K> = items.iter().map(key).collect();
    permute(items, sorted_indices(keys.len(), &|a, b| keys[a].cmp(&keys[b])));
}

/// Sorts as `slice::sort_by` does.
pub fn by<T>(items: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    let sources = sorted_indices(items.len(), &|a, b| compare(&items[a], &items[b]));
    permute(items, sources);
}

fn sorted_indices(length: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut indices: Vec<usize> = (0..length).collect();
    indices.sort_by(|a, b| compare(*a, *b));
    indices
}

/// Sorts, and of equal items keeps the last.
fn distinct<T>(items: &mut Vec<T>, compare: impl Fn(&T, &T) -> Ordering) {
    let (sources, kept) = distinct_indices(items.len(), &|a, b| compare(&items[a], &items[b]));
    permute(items, sources);
    items.truncate(kept);
}

/// The last one of each set of equal items, in order; then the others. With the number of the former.
fn distinct_indices(length: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> (Vec<usize>, usize) {
    let sorted = sorted_indices(length, compare);
    let is_last =
        |place: usize| sorted.get(place + 1).is_none_or(|next| compare(sorted[place], *next) != Ordering::Equal);
    let (places, others): (Vec<usize>, Vec<usize>) = (0..length).partition(|place| is_last(*place));
    let sources = places.iter().chain(&others).map(|place| sorted[*place]).collect();
    (sources, places.len())
}

/// Where an item is in a sorted list, or would be. `compare` compares the item of an index with the one that is looked
/// for. What comes after all others, as when a list is filled in order, is found at once.
fn place(length: usize, compare: &dyn Fn(usize) -> Ordering) -> Result<usize, usize> {
    let (mut start, mut end) = (0, length);
    let mut middle = length.saturating_sub(1);
    while start < end {
        match compare(middle) {
            Ordering::Less => start = middle + 1,
            Ordering::Equal => return Ok(middle),
            Ordering::Greater => end = middle,
        }
        middle = start + (end - start) / 2;
    }
    Err(start)
}

/// The indices of what is within bounds in a sorted list of this length, where `place` finds a key.
fn within<Q: ?Sized>(
    range: &impl RangeBounds<Q>,
    length: usize,
    place: &dyn Fn(&Q) -> Result<usize, usize>,
) -> Range<usize> {
    let before = |key: &Q| place(key).unwrap_or_else(|place| place);
    let after = |key: &Q| place(key).map_or_else(|place| place, |place| place + 1);
    let start = match range.start_bound() {
        Bound::Included(key) => before(key),
        Bound::Excluded(key) => after(key),
        Bound::Unbounded => 0,
    };
    let end = match range.end_bound() {
        Bound::Included(key) => after(key),
        Bound::Excluded(key) => before(key),
        Bound::Unbounded => length,
    };
    start..end
}

/// Puts the item of the n-th source at place n.
fn permute<T>(items: &mut [T], mut sources: Vec<usize>) {
    for first in 0..items.len() {
        // One cycle of the permutation.
        let mut at = first;
        loop {
            let source = std::mem::replace(&mut sources[at], at);
            if source == first {
                break;
            }
            items.swap(at, source);
            at = source;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All lists of up to six items with three different keys; equal ones are told apart by their place.
    #[test]
    fn the_order_is_that_of_the_standard_library() {
        for length in 0..=6_u32 {
            for list in 0..3_usize.pow(length) {
                let mut items: Vec<(usize, u32)> =
                    (0..length).map(|place| (list / 3_usize.pow(place) % 3, place)).collect();
                let mut expected = items.clone();
                expected.sort_by_key(|(key, _)| *key);
                by_key(&mut items, |(key, _)| *key);
                assert_eq!(items, expected);
            }
        }
    }

    #[test]
    fn long_lists_and_other_comparisons() {
        let mut items: Vec<u64> = (0..1000).map(|n| n * 7919 % 1009).collect();
        plain(&mut items);
        assert!(items.is_sorted());
        by(&mut items, |a, b| b.cmp(a));
        assert!(items.is_sorted_by(|a, b| a >= b));
    }
}
