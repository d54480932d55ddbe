//! The tree under sets and maps: a treap whose parts are shared.

use std::cmp::Ordering;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

pub(super) type Link<K, V> = Option<Arc<Node<K, V>>>;

/// A key with all that are less, and all that are greater. Its rank is the highest among them.
#[derive(Clone)]
pub(super) struct Node<K, V> {
    pub(super) rank: u64,
    pub(super) key: K,
    pub(super) value: V,
    pub(super) less: Link<K, V>,
    pub(super) greater: Link<K, V>,
}

impl<K: Ord, V> Node<K, V> {
    /// Whether it stands below a key in the one shape that the keys have.
    fn below(&self, rank: u64, key: &K) -> bool {
        (self.rank, &self.key) < (rank, key)
    }
}

pub(super) fn rank<K: Hash>(key: &K) -> u64 {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    hasher.finish()
}

pub(super) fn put<K: Ord + Clone, V: Clone>(at: &mut Link<K, V>, rank: u64, key: K, value: V) {
    if let Some(node) = at
        && !node.below(rank, &key)
    {
        let node = Arc::make_mut(node);
        match key.cmp(&node.key) {
            Ordering::Less => put(&mut node.less, rank, key, value),
            Ordering::Greater => put(&mut node.greater, rank, key, value),
            Ordering::Equal => node.value = value,
        }
        return;
    }
    let (less, _, greater) = split(at, &key);
    *at = Some(Arc::new(Node {
        rank,
        key,
        value,
        less,
        greater,
    }));
}

/// Whether two parts are one and the same.
pub(super) fn same<K, V>(a: &Link<K, V>, b: &Link<K, V>) -> bool {
    match (a, b) {
        (None, None) => true,
        (Some(a), Some(b)) => Arc::ptr_eq(a, b),
        _ => false,
    }
}

/// The node with other parts below it; itself where they are the same.
pub(super) fn with<K: Clone, V: Clone>(
    node: &Arc<Node<K, V>>,
    less: Link<K, V>,
    greater: Link<K, V>,
) -> Arc<Node<K, V>> {
    if same(&node.less, &less) && same(&node.greater, &greater) {
        return node.clone();
    }
    Arc::new(Node {
        rank: node.rank,
        key: node.key.clone(),
        value: node.value.clone(),
        less,
        greater,
    })
}

/// What is less than a key, whether it is there, and what is greater.
pub(super) fn split<K: Ord + Clone, V: Clone>(
    at: &Link<K, V>,
    key: &K,
) -> (Link<K, V>, bool, Link<K, V>) {
    let Some(node) = at else {
        return (None, false, None);
    };
    match key.cmp(&node.key) {
        Ordering::Equal => (node.less.clone(), true, node.greater.clone()),
        Ordering::Less => {
            let (less, found, greater) = split(&node.less, key);
            (less, found, Some(with(node, greater, node.greater.clone())))
        }
        Ordering::Greater => {
            let (less, found, greater) = split(&node.greater, key);
            (Some(with(node, node.less.clone(), less)), found, greater)
        }
    }
}

/// Two parts, all keys of the one less than those of the other.
pub(super) fn joined<K: Ord + Clone, V: Clone>(
    less: Link<K, V>,
    greater: Link<K, V>,
) -> Link<K, V> {
    let (Some(a), Some(b)) = (&less, &greater) else {
        return less.or(greater);
    };
    Some(match b.below(a.rank, &a.key) {
        true => with(
            a,
            a.less.clone(),
            joined(a.greater.clone(), greater.clone()),
        ),
        false => with(b, joined(less.clone(), b.less.clone()), b.greater.clone()),
    })
}

/// A node that has these parts below it: one of two with the same key, or a new one.
pub(super) fn either<K: Clone, V: Clone>(
    one: &Arc<Node<K, V>>,
    other: &Arc<Node<K, V>>,
    less: Link<K, V>,
    greater: Link<K, V>,
) -> Arc<Node<K, V>> {
    let fits = |node: &Node<K, V>| same(&node.less, &less) && same(&node.greater, &greater);
    match fits(other) && !fits(one) {
        true => other.clone(),
        false => with(one, less, greater),
    }
}

pub(super) fn union<K: Ord + Clone, V: Clone>(one: &Link<K, V>, other: &Link<K, V>) -> Link<K, V> {
    let (Some(a), Some(b)) = (one, other) else {
        return one.as_ref().or(other.as_ref()).cloned();
    };
    if Arc::ptr_eq(a, b) {
        return one.clone();
    }
    if a.key == b.key {
        let (less, greater) = (union(&a.less, &b.less), union(&a.greater, &b.greater));
        return Some(either(a, b, less, greater));
    }
    Some(match a.below(b.rank, &b.key) {
        true => {
            let (less, _, greater) = split(one, &b.key);
            with(b, union(&less, &b.less), union(&greater, &b.greater))
        }
        false => {
            let (less, _, greater) = split(other, &a.key);
            with(a, union(&a.less, &less), union(&a.greater, &greater))
        }
    })
}

pub(super) fn intersection<K: Ord + Clone, V: Clone>(
    one: &Link<K, V>,
    other: &Link<K, V>,
) -> Link<K, V> {
    let (Some(a), Some(b)) = (one, other) else {
        return None;
    };
    if Arc::ptr_eq(a, b) {
        return one.clone();
    }
    if a.key == b.key {
        let less = intersection(&a.less, &b.less);
        let greater = intersection(&a.greater, &b.greater);
        return Some(either(a, b, less, greater));
    }
    let (less, found, greater) = split(other, &a.key);
    let less = intersection(&a.less, &less);
    let greater = intersection(&a.greater, &greater);
    match found {
        true => Some(with(a, less, greater)),
        false => joined(less, greater),
    }
}

pub(super) fn difference<K: Ord + Clone, V: Clone>(
    one: &Link<K, V>,
    other: &Link<K, V>,
) -> Link<K, V> {
    let (Some(a), Some(b)) = (one, other) else {
        return one.clone();
    };
    if Arc::ptr_eq(a, b) {
        return None;
    }
    let (less, found, greater) = split(other, &a.key);
    let less = difference(&a.less, &less);
    let greater = difference(&a.greater, &greater);
    match found {
        true => joined(less, greater),
        false => Some(with(a, less, greater)),
    }
}

pub(super) fn equal<K: Ord, V: PartialEq>(one: &Link<K, V>, other: &Link<K, V>) -> bool {
    match (one, other) {
        (None, None) => true,
        (Some(a), Some(b)) => {
            Arc::ptr_eq(a, b)
                || (a.key == b.key
                    && a.value == b.value
                    && equal(&a.less, &b.less)
                    && equal(&a.greater, &b.greater))
        }
        _ => false,
    }
}

/// Goes through the entries of a map in order.
pub struct Iter<'a, K, V> {
    /// Nodes whose keys and greater parts are to come, the next one last.
    pub(super) open: Vec<&'a Node<K, V>>,
}

impl<'a, K, V> Iter<'a, K, V> {
    pub(super) fn descend(&mut self, mut at: &'a Link<K, V>) {
        while let Some(node) = at {
            self.open.push(node);
            at = &node.less;
        }
    }
}

impl<'a, K, V> Iterator for Iter<'a, K, V> {
    type Item = (&'a K, &'a V);

    fn next(&mut self) -> Option<Self::Item> {
        let node = self.open.pop()?;
        self.descend(&node.greater);
        Some((&node.key, &node.value))
    }
}
