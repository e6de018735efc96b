//! A map in the order of its keys.

use super::places::{Gap, Places};
use super::settle;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::ops::Index;

/// Each key with its value, read in the order of the keys.
#[derive(Clone, Debug)]
pub struct Map<K, V> {
    // As they came; `order` has their places.
    entries: Vec<(K, V)>,
    order: Places,
}

impl<K, V> Map<K, V> {
    pub(crate) const fn new() -> Self {
        Self { entries: Vec::new(), order: Places::new() }
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Keys and values in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&K, &V)> {
        self.order.iter().map(|place| (&self.entries[place].0, &self.entries[place].1))
    }

    pub(crate) fn keys(&self) -> impl DoubleEndedIterator<Item = &K> {
        self.iter().map(|(key, _)| key)
    }

    pub(crate) fn values(&self) -> impl DoubleEndedIterator<Item = &V> {
        self.iter().map(|(_, value)| value)
    }
}

impl<K: Ord, V> Map<K, V> {
    fn find<Q: Ord + ?Sized>(&self, key: &Q) -> Result<usize, Gap>
    where
        K: Borrow<Q>,
    {
        self.order.find(&|place| self.entries[place].0.borrow().cmp(key))
    }

    pub(crate) fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.find(key).is_ok()
    }

    pub(crate) fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.find(key).ok().map(|place| &self.entries[place].1)
    }

    pub(crate) fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        let place = self.find(key).ok()?;
        Some(&mut self.entries[place].1)
    }

    /// The last entry whose key is less.
    pub(crate) fn last_below(&self, key: &K) -> Option<(&K, &V)> {
        let place = self.order.last_below(&|place| self.entries[place].0.cmp(key))?;
        Some((&self.entries[place].0, &self.entries[place].1))
    }

    /// The first entry whose key is greater.
    pub(crate) fn first_above(&self, key: &K) -> Option<(&K, &V)> {
        let place = self.order.first_above(&|place| self.entries[place].0.cmp(key))?;
        Some((&self.entries[place].0, &self.entries[place].1))
    }

    /// The value of a key, this one when it has none yet.
    pub(crate) fn get_or_insert(&mut self, key: K, value: V) -> &mut V {
        let place = match self.find(&key) {
            Ok(place) => place,
            Err(gap) => self.push(gap, key, value),
        };
        &mut self.entries[place].1
    }

    /// The value of a key, its type's default when it has none yet.
    pub(crate) fn get_or_default(&mut self, key: K) -> &mut V
    where
        V: Default,
    {
        self.get_or_insert(key, V::default())
    }

    /// Sets the value of a key; returns what it was before.
    pub(crate) fn insert(&mut self, key: K, value: V) -> Option<V> {
        match self.find(&key) {
            Ok(place) => Some(std::mem::replace(&mut self.entries[place].1, value)),
            Err(gap) => {
                self.push(gap, key, value);
                None
            }
        }
    }

    fn push(&mut self, gap: Gap, key: K, value: V) -> usize {
        let place = self.entries.len();
        self.order.insert(gap, place);
        self.entries.push((key, value));
        place
    }

    pub(crate) fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let (entries, order) = (&mut self.entries, &mut self.order);
        let place = order.remove(&|place| entries[place].0.borrow().cmp(key))?;
        // The last entry comes to stand where this one stood.
        let moved = entries.len() - 1;
        if place != moved {
            order.rename(&|other| entries[other].0.cmp(&entries[moved].0), place);
        }
        Some(entries.swap_remove(place).1)
    }

    /// Removes the entries that are not to be kept.
    pub fn retain(&mut self, mut keep: impl FnMut(&K, &V) -> bool) {
        *self = std::mem::take(self).into_iter().filter(|(key, value)| keep(key, value)).collect();
    }
}

impl<K: Ord + Borrow<Q>, Q: Ord + ?Sized, V> Index<&Q> for Map<K, V> {
    type Output = V;

    /// Panics when the key is missing.
    fn index(&self, key: &Q) -> &V {
        self.get(key).expect("a key of the map")
    }
}

impl<K, V> Default for Map<K, V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: Ord, V> Extend<(K, V)> for Map<K, V> {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, entries: I) {
        for (key, value) in entries {
            self.insert(key, value);
        }
    }
}

impl<K: Ord, V> FromIterator<(K, V)> for Map<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let mut map = Self::new();
        map.extend(entries);
        map
    }
}

impl<K, V> IntoIterator for Map<K, V> {
    type Item = (K, V);
    type IntoIter = std::vec::IntoIter<(K, V)>;

    fn into_iter(self) -> Self::IntoIter {
        let Self { mut entries, order } = self;
        settle(order.iter().collect(), &mut |a, b| entries.swap(a, b));
        entries.into_iter()
    }
}

impl<K: PartialEq, V: PartialEq> PartialEq for Map<K, V> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<K: Eq, V: Eq> Eq for Map<K, V> {}

impl<'de, K: Ord + Deserialize<'de>, V: Deserialize<'de>> Deserialize<'de> for Map<K, V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(BTreeMap::deserialize(deserializer)?.into_iter().collect())
    }
}

impl<K: Serialize, V: Serialize> Serialize for Map<K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(ours: &Map<u32, u32>, theirs: &BTreeMap<u32, u32>) {
        assert_eq!(ours.len(), theirs.len());
        assert!(ours.iter().eq(theirs.iter()), "{ours:?} is not {theirs:?}");
    }

    #[test]
    fn does_as_the_standard_library_does() {
        let (mut ours, mut theirs) = (Map::new(), BTreeMap::new());
        // A sequence that comes back to every key, setting and removing.
        let mut key = 1u32;
        for step in 0..20_000u32 {
            key = key.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let at = key >> 20;
            match step % 5 {
                0 => assert_eq!(ours.remove(&at), theirs.remove(&at)),
                1 => assert_eq!(*ours.get_or_insert(at, step), *theirs.entry(at).or_insert(step)),
                _ => assert_eq!(ours.insert(at, step), theirs.insert(at, step)),
            }
            assert_eq!(ours.get(&(at + 1)), theirs.get(&(at + 1)));
            assert_eq!(ours.last_below(&at), theirs.range(..at).next_back());
            assert_eq!(ours.first_above(&at), theirs.range(at + 1..).next());
        }
        assert!(ours.len() > 1_000);
        same(&ours, &theirs);
        ours.retain(|key, _| key % 3 == 0);
        theirs.retain(|key, _| key % 3 == 0);
        same(&ours, &theirs);
        assert!(ours.into_iter().eq(theirs));
    }
}
