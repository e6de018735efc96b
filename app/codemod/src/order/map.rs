//! A map in the order of its keys.

use super::places::{Gap, Places};
use super::settle;
use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Borrow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
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

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
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

    /// Whether a key is there.
    pub fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.find(key).is_ok()
    }

    /// The value of a key.
    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
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
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
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

    /// Takes a key out; returns its value.
    pub fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
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

impl<K: Hash, V: Hash> Hash for Map<K, V> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.len().hash(state);
        self.iter().for_each(|entry| entry.hash(state));
    }
}

impl<'de, K: Ord + Deserialize<'de>, V: Deserialize<'de>> Deserialize<'de> for Map<K, V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Entries(PhantomData))
    }
}

/// Takes entries in as they come.
struct Entries<K, V>(PhantomData<(K, V)>);

impl<'de, K: Ord + Deserialize<'de>, V: Deserialize<'de>> Visitor<'de> for Entries<K, V> {
    type Value = Map<K, V>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Map<K, V>, A::Error> {
        let mut map = Map::new();
        while let Some((key, value)) = access.next_entry()? {
            map.insert(key, value);
        }
        Ok(map)
    }
}

impl<K: Serialize, V: Serialize> Serialize for Map<K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Formats that say lengths first ask for this one.
        let mut map = serializer.serialize_map(Some(self.len()))?;
        self.iter().try_for_each(|(key, value)| map.serialize_entry(key, value))?;
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

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

    #[test]
    fn it_is_read_as_it_was_written() {
        let map: Map<String, u32> = [("b".to_owned(), 2), ("a".to_owned(), 1)].into_iter().collect();
        let packed = postcard::to_allocvec(&map).unwrap();
        assert_eq!(packed, postcard::to_allocvec(&BTreeMap::from_iter(map.iter())).unwrap());
        assert_eq!(postcard::from_bytes::<Map<String, u32>>(&packed).unwrap(), map);
        let json = serde_json::to_string(&map).unwrap();
        assert_eq!(json, "{\"a\":1,\"b\":2}");
        assert_eq!(serde_json::from_str::<Map<String, u32>>(&json).unwrap(), map);
    }
}
