//! Sorting, and maps and sets in the order of their keys.
//!
//! The standard library compiles its sorts and its trees anew for every type and every comparison. The engine orders
//! some forty types, and that was a fifth of the module a browser downloads. Here the work is done on places, the
//! numbers of the things to order, once for all types; what is compiled anew is one comparison.

mod map;
mod places;
mod set;

pub use map::Map;
pub(crate) use set::Set;

use std::cmp::Ordering;

/// Sorts; equal items stay as they stand.
pub(crate) fn sort_by<T>(items: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    if let Some(places) = sorted_places(items.len(), &|a, b| compare(&items[a], &items[b])) {
        settle(places, &mut |a, b| items.swap(a, b));
    }
}

/// Sorts; of equal items nobody can tell which is which.
pub(crate) fn sort<T: Ord>(items: &mut [T]) {
    sort_by(items, T::cmp);
}

/// Sorts by a key that is cheap to make; equal items stay as they stand.
pub(crate) fn sort_by_key<T, K: Ord>(items: &mut [T], key: impl Fn(&T) -> K) {
    sort_by(items, |a, b| key(a).cmp(&key(b)));
}

/// Sorts by a key that is made once for each item; equal items stay as they stand.
pub(crate) fn sort_by_cached_key<T, K: Ord>(items: &mut [T], key: impl Fn(&T) -> K) {
    let keys: Vec<K> = items.iter().map(key).collect();
    if let Some(places) = sorted_places(keys.len(), &|a, b| keys[a].cmp(&keys[b])) {
        settle(places, &mut |a, b| items.swap(a, b));
    }
}

/// The places of so many things in the order of the things; none when they are in order already.
fn sorted_places(len: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Option<Vec<usize>> {
    if (1..len).all(|at| compare(at - 1, at).is_le()) {
        return None;
    }
    let mut places: Vec<usize> = (0..len).collect();
    places.sort_by(|a, b| compare(*a, *b));
    Some(places)
}

/// Brings things into an order by swapping: at each place comes to stand what stood at the place named there.
fn settle(mut places: Vec<usize>, swap: &mut dyn FnMut(usize, usize)) {
    for first in 0..places.len() {
        // A cycle: each swap puts one thing where it belongs, and the first thing one place on.
        let mut at = first;
        while places[at] != first {
            let next = places[at];
            swap(at, next);
            places[at] = at;
            at = next;
        }
        places[at] = at;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers without an obvious order, some of them several times.
    fn scattered(len: usize) -> Vec<(usize, usize)> {
        (0..len).map(|n| (n * 7919 % 613 % (len / 2 + 1), n)).collect()
    }

    #[test]
    fn sorts_as_the_standard_library_does() {
        for len in [0, 1, 2, 3, 10, 100, 3000] {
            let mut ours = scattered(len);
            let mut theirs = ours.clone();
            sort_by_key(&mut ours, |item| item.0);
            theirs.sort_by_key(|item| item.0);
            assert_eq!(ours, theirs, "{len} items");
            sort_by_cached_key(&mut ours, |item| std::cmp::Reverse(item.0));
            theirs.sort_by_key(|item| std::cmp::Reverse(item.0));
            assert_eq!(ours, theirs, "{len} items, the other way round");
        }
    }
}
