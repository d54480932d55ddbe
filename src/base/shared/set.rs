//! Sets.

use std::borrow::Borrow;
use std::fmt;
use std::hash::Hash;

use super::map::SharedMap;
use super::tree::{self, Iter};

/// An ordered set that is cheap to clone.
pub struct SharedSet<K>(SharedMap<K, ()>);

impl<K: Ord + Hash + Clone> SharedSet<K> {
    /// The empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a key is in it.
    pub fn contains<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.0.get(key).is_some()
    }

    /// Adds a key; whether it was not there.
    pub fn insert(&mut self, key: K) -> bool {
        let more = self.0.get(&key).is_none();
        if more {
            self.0.insert(key, ());
        }
        more
    }

    /// Takes a key out; whether it was there.
    pub fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.0.remove(key)
    }

    /// Adds all of another set; whether that added something.
    pub fn join(&mut self, other: &Self) -> bool {
        let all = tree::union(&self.0.0, &other.0.0);
        let more = !tree::same(&all, &self.0.0);
        self.0 = SharedMap(all);
        more
    }

    /// Keeps what another set has too; whether that took something away.
    pub fn keep(&mut self, other: &Self) -> bool {
        let both = tree::intersection(&self.0.0, &other.0.0);
        let less = !tree::same(&both, &self.0.0);
        self.0 = SharedMap(both);
        less
    }

    /// What both have.
    pub fn intersection(&self, other: &Self) -> Self {
        Self(SharedMap(tree::intersection(&self.0.0, &other.0.0)))
    }

    /// What either has.
    pub fn union(&self, other: &Self) -> Self {
        Self(SharedMap(tree::union(&self.0.0, &other.0.0)))
    }

    /// What this has and the other has not.
    pub fn difference(&self, other: &Self) -> Self {
        Self(SharedMap(tree::difference(&self.0.0, &other.0.0)))
    }

    /// Whether the other has all that this has.
    pub fn is_subset(&self, other: &Self) -> bool {
        self.difference(other).is_empty()
    }

    /// Takes out what another set has.
    pub fn without(&mut self, other: &Self) {
        self.0 = SharedMap(tree::difference(&self.0.0, &other.0.0));
    }

    /// The keys, in order.
    pub fn iter(&self) -> Keys<'_, K> {
        Keys(self.0.iter())
    }

    /// The keys that are not less than `first`, in order.
    pub fn starting_at<Q: Ord + ?Sized>(&self, first: &Q) -> Keys<'_, K>
    where
        K: Borrow<Q>,
    {
        Keys(self.0.starting_at(first))
    }
}

/// Goes through the keys of a set in order.
pub struct Keys<'a, K>(Iter<'a, K, ()>);

impl<'a, K> Iterator for Keys<'a, K> {
    type Item = &'a K;

    fn next(&mut self) -> Option<&'a K> {
        self.0.next().map(|(key, ())| key)
    }
}

impl<'a, K: Ord + Hash + Clone> IntoIterator for &'a SharedSet<K> {
    type Item = &'a K;
    type IntoIter = Keys<'a, K>;

    fn into_iter(self) -> Keys<'a, K> {
        self.iter()
    }
}

impl<K: Ord + Hash + Clone> FromIterator<K> for SharedSet<K> {
    fn from_iter<I: IntoIterator<Item = K>>(keys: I) -> Self {
        let mut set = Self::new();
        set.extend(keys);
        set
    }
}

impl<K: Ord + Hash + Clone, const N: usize> From<[K; N]> for SharedSet<K> {
    fn from(keys: [K; N]) -> Self {
        keys.into_iter().collect()
    }
}

impl<K: Ord + Hash + Clone> Extend<K> for SharedSet<K> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        for key in keys {
            self.insert(key);
        }
    }
}

impl<K> Clone for SharedSet<K> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<K> Default for SharedSet<K> {
    fn default() -> Self {
        Self(SharedMap::default())
    }
}

impl<K: Ord> PartialEq for SharedSet<K> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<K: Ord> Eq for SharedSet<K> {}

impl<K: Ord + Hash + Clone + fmt::Debug> fmt::Debug for SharedSet<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self).finish()
    }
}
