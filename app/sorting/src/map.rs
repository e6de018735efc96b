//! A map in the order of its keys.

use crate::{distinct, place, within};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Borrow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Index, Range, RangeBounds};

/// What `std::collections::BTreeMap` is, with its methods, as one sorted list. A value is added at the end in constant
/// time, elsewhere in time proportional to the length (items are moved in memory, 20,000 in microseconds).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SortedMap<K, V> {
    items: Vec<(K, V)>,
}

/// The place of a key, whether it is there or not.
pub struct Entry<'m, K, V> {
    items: &'m mut Vec<(K, V)>,
    key: K,
    place: Result<usize, usize>,
}

impl<K, V> SortedMap<K, V> {
    /// An empty map.
    pub const fn new() -> Self {
        Self { items: Vec::new() }
    }

    /// The number of keys.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Without a key.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Removes all keys.
    pub fn clear(&mut self) {
        self.items.clear();
    }

    /// Keys with their values.
    pub fn iter(&self) -> Iter<'_, K, V> {
        Iter(self.items.iter())
    }

    /// Keys with their values, which can be changed.
    pub fn iter_mut(&mut self) -> IterMut<'_, K, V> {
        IterMut(self.items.iter_mut())
    }

    /// The keys.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &K> + ExactSizeIterator + Clone {
        self.items.iter().map(|(key, _)| key)
    }

    /// The values, in the order of their keys.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &V> + ExactSizeIterator + Clone {
        self.items.iter().map(|(_, value)| value)
    }

    /// The values, which can be changed.
    pub fn values_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut V> + ExactSizeIterator {
        self.items.iter_mut().map(|(_, value)| value)
    }

    /// The keys alone.
    pub fn into_keys(self) -> impl DoubleEndedIterator<Item = K> + ExactSizeIterator {
        self.items.into_iter().map(|(key, _)| key)
    }

    /// The values alone.
    pub fn into_values(self) -> impl DoubleEndedIterator<Item = V> + ExactSizeIterator {
        self.items.into_iter().map(|(_, value)| value)
    }

    /// The smallest key.
    pub fn first_key_value(&self) -> Option<(&K, &V)> {
        self.iter().next()
    }

    /// The largest key.
    pub fn last_key_value(&self) -> Option<(&K, &V)> {
        self.iter().next_back()
    }

    /// Removes what does not fulfil the condition.
    pub fn retain(&mut self, mut keeps: impl FnMut(&K, &mut V) -> bool) {
        self.items.retain_mut(|(key, value)| keeps(key, value));
    }
}

impl<K: Ord, V> SortedMap<K, V> {
    /// Where the key is, or would be.
    fn place<Q: Ord + ?Sized>(&self, key: &Q) -> Result<usize, usize>
    where
        K: Borrow<Q>,
    {
        place(self.items.len(), &|index| self.items[index].0.borrow().cmp(key))
    }

    /// The value of a key.
    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.get_key_value(key).map(|(_, value)| value)
    }

    /// The key as it is in the map, and its value.
    pub fn get_key_value<Q: Ord + ?Sized>(&self, key: &Q) -> Option<(&K, &V)>
    where
        K: Borrow<Q>,
    {
        let (key, value) = &self.items[self.place(key).ok()?];
        Some((key, value))
    }

    /// The value of a key, which can be changed.
    pub fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        let place = self.place(key).ok()?;
        Some(&mut self.items[place].1)
    }

    /// Whether the key is in the map.
    pub fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.place(key).is_ok()
    }

    /// Gives the key a value; its former one, if it had one.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        match self.place(&key) {
            Ok(place) => Some(std::mem::replace(&mut self.items[place].1, value)),
            Err(place) => {
                self.items.insert(place, (key, value));
                None
            }
        }
    }

    /// Removes a key; its value.
    pub fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let place = self.place(key).ok()?;
        Some(self.items.remove(place).1)
    }

    /// The place of a key, to add or to change its value.
    pub fn entry(&mut self, key: K) -> Entry<'_, K, V> {
        let place = self.place(&key);
        Entry { items: &mut self.items, key, place }
    }

    /// The keys within bounds, with their values.
    ///
    /// # Panics
    ///
    /// If the range's start is greater than its end.
    pub fn range<Q: Ord + ?Sized>(&self, range: impl RangeBounds<Q>) -> Iter<'_, K, V>
    where
        K: Borrow<Q>,
    {
        Iter(self.items[self.within(range)].iter())
    }

    /// The keys within bounds, with their values, which can be changed.
    ///
    /// # Panics
    ///
    /// If the range's start is greater than its end.
    pub fn range_mut<Q: Ord + ?Sized>(&mut self, range: impl RangeBounds<Q>) -> IterMut<'_, K, V>
    where
        K: Borrow<Q>,
    {
        let range = self.within(range);
        IterMut(self.items[range].iter_mut())
    }

    fn within<Q: Ord + ?Sized>(&self, range: impl RangeBounds<Q>) -> Range<usize>
    where
        K: Borrow<Q>,
    {
        within(&range, self.items.len(), &|key| self.place(key))
    }

    /// Removes the key and all greater ones; what was removed.
    pub fn split_off<Q: Ord + ?Sized>(&mut self, key: &Q) -> Self
    where
        K: Borrow<Q>,
    {
        let place = self.place(key).unwrap_or_else(|place| place);
        Self { items: self.items.split_off(place) }
    }
}

impl<'m, K, V> Entry<'m, K, V> {
    /// The value; the given one if the key was not there.
    pub fn or_insert(self, value: V) -> &'m mut V {
        self.or_insert_with(|| value)
    }

    /// The value; what the function gives if the key was not there.
    pub fn or_insert_with(self, value: impl FnOnce() -> V) -> &'m mut V {
        let Self { items, key, place } = self;
        let place = place.unwrap_or_else(|place| {
            items.insert(place, (key, value()));
            place
        });
        &mut items[place].1
    }

    /// The value; the default of its type if the key was not there.
    pub fn or_default(self) -> &'m mut V
    where
        V: Default,
    {
        self.or_insert_with(V::default)
    }

    /// Changes the value if the key is there.
    pub fn and_modify(self, change: impl FnOnce(&mut V)) -> Self {
        if let Ok(place) = self.place {
            change(&mut self.items[place].1);
        }
        self
    }
}

impl<K, V> Default for SortedMap<K, V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: fmt::Debug, V: fmt::Debug> fmt::Debug for SortedMap<K, V> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_map().entries(self).finish()
    }
}

impl<K: Ord + Borrow<Q>, Q: Ord + ?Sized, V> Index<&Q> for SortedMap<K, V> {
    type Output = V;

    fn index(&self, key: &Q) -> &V {
        self.get(key).expect("the key is in the map")
    }
}

impl<K: Ord, V> SortedMap<K, Vec<V>> {
    /// The values of each key, in their order.
    pub fn grouped(items: impl IntoIterator<Item = (K, V)>) -> Self {
        let mut items: Vec<(K, V)> = items.into_iter().collect();
        crate::by(&mut items, |a, b| a.0.cmp(&b.0));
        let mut groups = Self::new();
        for (key, value) in items {
            groups.entry(key).or_default().push(value);
        }
        groups
    }
}

/// Of two equal keys, the later one's value stays.
impl<K: Ord, V> FromIterator<(K, V)> for SortedMap<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(items: I) -> Self {
        let mut items: Vec<(K, V)> = items.into_iter().collect();
        distinct(&mut items, |a, b| a.0.cmp(&b.0));
        Self { items }
    }
}

impl<K: Ord, V, const N: usize> From<[(K, V); N]> for SortedMap<K, V> {
    fn from(items: [(K, V); N]) -> Self {
        Self::from_iter(items)
    }
}

impl<K: Ord, V> Extend<(K, V)> for SortedMap<K, V> {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, items: I) {
        for (key, value) in items {
            self.insert(key, value);
        }
    }
}

impl<K, V> IntoIterator for SortedMap<K, V> {
    type Item = (K, V);
    type IntoIter = std::vec::IntoIter<(K, V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.into_iter()
    }
}

impl<'m, K, V> IntoIterator for &'m SortedMap<K, V> {
    type Item = (&'m K, &'m V);
    type IntoIter = Iter<'m, K, V>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'m, K, V> IntoIterator for &'m mut SortedMap<K, V> {
    type Item = (&'m K, &'m mut V);
    type IntoIter = IterMut<'m, K, V>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

/// Keys with their values.
pub struct Iter<'m, K, V>(std::slice::Iter<'m, (K, V)>);

/// Keys with values that can be changed.
pub struct IterMut<'m, K, V>(std::slice::IterMut<'m, (K, V)>);

impl<K, V> Clone for Iter<'_, K, V> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<'m, K, V> Iterator for Iter<'m, K, V> {
    type Item = (&'m K, &'m V);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|(key, value)| (key, value))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<K, V> DoubleEndedIterator for Iter<'_, K, V> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.0.next_back().map(|(key, value)| (key, value))
    }
}

impl<K, V> ExactSizeIterator for Iter<'_, K, V> {}

impl<'m, K, V> Iterator for IterMut<'m, K, V> {
    type Item = (&'m K, &'m mut V);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|(key, value)| (&*key, value))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<K, V> DoubleEndedIterator for IterMut<'_, K, V> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.0.next_back().map(|(key, value)| (&*key, value))
    }
}

impl<K, V> ExactSizeIterator for IterMut<'_, K, V> {}

impl<K: Serialize, V: Serialize> Serialize for SortedMap<K, V> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self)
    }
}

impl<'de, K: Deserialize<'de> + Ord, V: Deserialize<'de>> Deserialize<'de> for SortedMap<K, V> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Items<K, V>(PhantomData<(K, V)>);

        impl<'de, K: Deserialize<'de> + Ord, V: Deserialize<'de>> Visitor<'de> for Items<K, V> {
            type Value = SortedMap<K, V>;

            fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
                to.write_str("a map")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Self::Value, A::Error> {
                let mut map = SortedMap::new();
                while let Some((key, value)) = from.next_entry()? {
                    map.insert(key, value);
                }
                Ok(map)
            }
        }

        from.deserialize_map(Items(PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::ops::Bound;

    /// Numbers that jump between 0 and 100.
    fn numbers() -> impl Iterator<Item = u32> {
        (0..400_u32).map(|n| n * 7919 % 1009 % 101)
    }

    #[test]
    fn it_does_what_the_standard_map_does() {
        let (mut ours, mut theirs) = (SortedMap::new(), BTreeMap::new());
        for (turn, key) in numbers().enumerate() {
            match turn % 4 {
                0 => assert_eq!(ours.insert(key, turn), theirs.insert(key, turn)),
                1 => assert_eq!(ours.remove(&key), theirs.remove(&key)),
                2 => assert_eq!(ours.entry(key).or_insert(turn), theirs.entry(key).or_insert(turn)),
                _ => assert_eq!(ours.get(&key), theirs.get(&key)),
            }
            assert!(ours.iter().eq(&theirs));
        }
        let (from, to) = (20, 60);
        assert!(ours.range(from..to).eq(theirs.range(from..to)));
        assert!(ours.range(from..=to).rev().eq(theirs.range(from..=to).rev()));
        assert!(ours.range(..from).eq(theirs.range(..from)));
        assert!(
            ours.range((Bound::Excluded(from), Bound::Unbounded))
                .eq(theirs.range((Bound::Excluded(from), Bound::Unbounded)))
        );
        assert_eq!(format!("{ours:?}"), format!("{theirs:?}"));
        assert!(ours.split_off(&from).iter().eq(&theirs.split_off(&from)));
        ours.retain(|key, value| {
            *value += 1;
            key % 2 == 0
        });
        theirs.retain(|key, value| {
            *value += 1;
            key % 2 == 0
        });
        assert!(ours.into_iter().eq(theirs));
    }

    #[test]
    fn of_equal_keys_the_last_value_stays() {
        let ours: SortedMap<u32, usize> = numbers().enumerate().map(|(turn, key)| (key, turn)).collect();
        let theirs: BTreeMap<u32, usize> = numbers().enumerate().map(|(turn, key)| (key, turn)).collect();
        assert!(ours.iter().eq(&theirs));
    }

    #[test]
    fn values_of_a_key_stay_in_their_order() {
        let ours = SortedMap::grouped([("b", 1), ("a", 2), ("b", 0), ("a", 3)]);
        assert_eq!(ours, [("a", vec![2, 3]), ("b", vec![1, 0])].into());
    }

    #[test]
    fn as_text_it_is_a_map() {
        let map: SortedMap<String, u32> = [("b".to_owned(), 1), ("a".to_owned(), 2)].into();
        assert_eq!(serde_json::to_string(&map).unwrap(), r#"{"a":2,"b":1}"#);
        assert_eq!(serde_json::from_str::<SortedMap<String, u32>>(r#"{"b":1,"a":2}"#).unwrap(), map);
    }
}
