//! Maps.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::hash::Hash;
use std::sync::Arc;

use super::tree::{Iter, Link, equal, joined, put, rank};

/// An ordered map that is cheap to clone.
pub struct SharedMap<K, V>(pub(super) Link<K, V>);

impl<K: Ord + Hash + Clone, V: Clone> SharedMap<K, V> {
    /// The empty map.
    pub fn new() -> Self {
        Self(None)
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// The value of a key.
    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        let mut at = &self.0;
        while let Some(node) = at {
            at = match key.cmp(node.key.borrow()) {
                Ordering::Less => &node.less,
                Ordering::Greater => &node.greater,
                Ordering::Equal => return Some(&node.value),
            };
        }
        None
    }

    /// Gives a key a value, in place of the one that it has.
    pub fn insert(&mut self, key: K, value: V) {
        put(&mut self.0, rank(&key), key, value);
    }

    /// Takes a key out; whether it was there.
    pub fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        if self.get(key).is_none() {
            return false;
        }
        let mut at = &mut self.0;
        while let Some(order) = at.as_ref().map(|node| key.cmp(node.key.borrow())) {
            if order == Ordering::Equal {
                let both = at.take();
                *at = both.and_then(|node| joined(node.less.clone(), node.greater.clone()));
                break;
            }
            let Some(node) = at.as_mut().map(Arc::make_mut) else {
                break;
            };
            at = match order {
                Ordering::Less => &mut node.less,
                _ => &mut node.greater,
            };
        }
        true
    }

    /// The entries, in the order of their keys.
    pub fn iter(&self) -> Iter<'_, K, V> {
        let mut iter = Iter { open: Vec::new() };
        iter.descend(&self.0);
        iter
    }

    pub(super) fn starting_at<Q: Ord + ?Sized>(&self, first: &Q) -> Iter<'_, K, V>
    where
        K: Borrow<Q>,
    {
        let mut open = Vec::new();
        let mut at = &self.0;
        while let Some(node) = at {
            at = match first.cmp(node.key.borrow()) {
                Ordering::Greater => &node.greater,
                _ => {
                    open.push(&**node);
                    &node.less
                }
            };
        }
        Iter { open }
    }
}

impl<K: Ord + Hash + Clone, V: Clone> Extend<(K, V)> for SharedMap<K, V> {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, entries: I) {
        for (key, value) in entries {
            self.insert(key, value);
        }
    }
}

impl<K, V> Clone for SharedMap<K, V> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<K, V> Default for SharedMap<K, V> {
    fn default() -> Self {
        Self(None)
    }
}

impl<K: Ord, V: PartialEq> PartialEq for SharedMap<K, V> {
    fn eq(&self, other: &Self) -> bool {
        equal(&self.0, &other.0)
    }
}
