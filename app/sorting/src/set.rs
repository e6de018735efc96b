//! A set in the order of its items.

use crate::{distinct, place, within};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Borrow;
use std::fmt;
use std::ops::RangeBounds;

/// What `std::collections::BTreeSet` is, with its methods, as one sorted list: see [`SortedMap`](crate::SortedMap).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SortedSet<T> {
    items: Vec<T>,
}

impl<T> SortedSet<T> {
    /// An empty set.
    pub const fn new() -> Self {
        Self { items: Vec::new() }
    }

    /// The number of items.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Without an item.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Removes all items.
    pub fn clear(&mut self) {
        self.items.clear();
    }

    /// The items.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.items.iter()
    }

    /// The smallest item.
    pub fn first(&self) -> Option<&T> {
        self.items.first()
    }

    /// The largest item.
    pub fn last(&self) -> Option<&T> {
        self.items.last()
    }

    /// Removes the smallest item; that item.
    pub fn pop_first(&mut self) -> Option<T> {
        (!self.items.is_empty()).then(|| self.items.remove(0))
    }

    /// Removes the largest item; that item.
    pub fn pop_last(&mut self) -> Option<T> {
        self.items.pop()
    }

    /// Removes what does not fulfil the condition.
    pub fn retain(&mut self, keeps: impl FnMut(&T) -> bool) {
        self.items.retain(keeps);
    }
}

impl<T: Ord> SortedSet<T> {
    /// Where the item is, or would be.
    fn place<Q: Ord + ?Sized>(&self, item: &Q) -> Result<usize, usize>
    where
        T: Borrow<Q>,
    {
        place(self.items.len(), &|index| self.items[index].borrow().cmp(item))
    }

    /// Whether the item is in the set.
    pub fn contains<Q: Ord + ?Sized>(&self, item: &Q) -> bool
    where
        T: Borrow<Q>,
    {
        self.place(item).is_ok()
    }

    /// The item as it is in the set.
    pub fn get<Q: Ord + ?Sized>(&self, item: &Q) -> Option<&T>
    where
        T: Borrow<Q>,
    {
        self.place(item).ok().map(|place| &self.items[place])
    }

    /// Adds an item; whether it is new.
    pub fn insert(&mut self, item: T) -> bool {
        let place = self.place(&item);
        if let Err(place) = place {
            self.items.insert(place, item);
        }
        place.is_err()
    }

    /// Removes an item; whether it was there.
    pub fn remove<Q: Ord + ?Sized>(&mut self, item: &Q) -> bool
    where
        T: Borrow<Q>,
    {
        let place = self.place(item);
        if let Ok(place) = place {
            self.items.remove(place);
        }
        place.is_ok()
    }

    /// Moves the items of another set here.
    pub fn append(&mut self, other: &mut Self) {
        self.extend(std::mem::take(other));
    }

    /// The items within bounds.
    ///
    /// # Panics
    ///
    /// If the range's start is greater than its end.
    pub fn range<Q: Ord + ?Sized>(&self, range: impl RangeBounds<Q>) -> std::slice::Iter<'_, T>
    where
        T: Borrow<Q>,
    {
        self.items[within(&range, self.items.len(), &|item| self.place(item))].iter()
    }

    /// The items that another set does not have.
    pub fn difference<'s>(&'s self, other: &'s Self) -> impl Iterator<Item = &'s T> {
        self.items.iter().filter(|item| !other.contains(*item))
    }

    /// The items that another set has, too.
    pub fn intersection<'s>(&'s self, other: &'s Self) -> impl Iterator<Item = &'s T> {
        self.items.iter().filter(|item| other.contains(*item))
    }

    /// Whether another set has all items.
    pub fn is_subset(&self, other: &Self) -> bool {
        self.difference(other).next().is_none()
    }

    /// Whether all items of another set are here.
    pub fn is_superset(&self, other: &Self) -> bool {
        other.is_subset(self)
    }

    /// Whether another set has none of the items.
    pub fn is_disjoint(&self, other: &Self) -> bool {
        self.intersection(other).next().is_none()
    }
}

impl<T> Default for SortedSet<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: fmt::Debug> fmt::Debug for SortedSet<T> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_set().entries(self).finish()
    }
}

impl<T: Ord> FromIterator<T> for SortedSet<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut items: Vec<T> = items.into_iter().collect();
        distinct(&mut items, T::cmp);
        Self { items }
    }
}

impl<T: Ord, const N: usize> From<[T; N]> for SortedSet<T> {
    fn from(items: [T; N]) -> Self {
        Self::from_iter(items)
    }
}

impl<T: Ord> Extend<T> for SortedSet<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        for item in items {
            self.insert(item);
        }
    }
}

impl<'a, T: Ord + Copy + 'a> Extend<&'a T> for SortedSet<T> {
    fn extend<I: IntoIterator<Item = &'a T>>(&mut self, items: I) {
        self.extend(items.into_iter().copied());
    }
}

impl<T> IntoIterator for SortedSet<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.into_iter()
    }
}

impl<'s, T> IntoIterator for &'s SortedSet<T> {
    type Item = &'s T;
    type IntoIter = std::slice::Iter<'s, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<T: Serialize> Serialize for SortedSet<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.items.serialize(to)
    }
}

impl<'de, T: Deserialize<'de> + Ord> Deserialize<'de> for SortedSet<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(Vec::deserialize(from)?.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn it_does_what_the_standard_set_does() {
        let (mut ours, mut theirs) = (SortedSet::new(), BTreeSet::new());
        for (turn, item) in (0..400_u32).map(|n| n * 7919 % 1009 % 101).enumerate() {
            match turn % 3 {
                0 | 1 => assert_eq!(ours.insert(item), theirs.insert(item)),
                _ => assert_eq!(ours.remove(&item), theirs.remove(&item)),
            }
            assert!(ours.iter().eq(&theirs));
        }
        assert_eq!(format!("{ours:?}"), format!("{theirs:?}"));
        assert!(ours.range(20..60).eq(theirs.range(20..60)));
        let other = SortedSet::from([1, 5, 20, 21, 22, 23, 60]);
        let others = other.iter().copied().collect();
        assert!(ours.difference(&other).eq(theirs.difference(&others)));
        assert!(ours.intersection(&other).eq(theirs.intersection(&others)));
        assert_eq!(ours.is_subset(&other), theirs.is_subset(&others));
        assert_eq!(ours.is_disjoint(&other), theirs.is_disjoint(&others));
        assert_eq!((ours.pop_first(), ours.pop_last()), (theirs.pop_first(), theirs.pop_last()));
        ours.append(&mut other.clone());
        theirs.extend(others);
        assert!(ours.into_iter().eq(theirs));
    }

    #[test]
    fn as_text_it_is_a_list() {
        let set: SortedSet<u32> = serde_json::from_str("[3, 1, 3]").unwrap();
        assert_eq!(serde_json::to_string(&set).unwrap(), "[1,3]");
    }
}
