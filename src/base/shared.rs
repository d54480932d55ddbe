//! Sets and maps that share what they have in common.
//!
//! What is known at one place of a flow is mostly what was known at the place before. A [`SharedSet`] is cloned in no time, and
//! a change of one costs in proportion to the change: its parts are shared with what it was cloned from. Putting two together
//! or comparing them looks only at where they differ.
//!
//! Both are treaps whose ranks are hashes of the keys, so that the same keys always have the same shape, however they came
//! together.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// An ordered set that is cheap to clone.
pub struct SharedSet<K>(SharedMap<K, ()>);

/// An ordered map that is cheap to clone.
pub struct SharedMap<K, V>(Link<K, V>);

type Link<K, V> = Option<Arc<Node<K, V>>>;

/// A key with all that are less, and all that are greater. Its rank is the highest among them.
#[derive(Clone)]
struct Node<K, V> {
    rank: u64,
    key: K,
    value: V,
    less: Link<K, V>,
    greater: Link<K, V>,
}

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
        let all = union(&self.0.0, &other.0.0);
        let more = !same(&all, &self.0.0);
        self.0 = SharedMap(all);
        more
    }

    /// Keeps what another set has too; whether that took something away.
    pub fn keep(&mut self, other: &Self) -> bool {
        let both = intersection(&self.0.0, &other.0.0);
        let less = !same(&both, &self.0.0);
        self.0 = SharedMap(both);
        less
    }

    /// Those keys that are wanted. What was found of parts that sets share is noted, and must be noted with the same wish.
    pub fn chosen(&self, noted: &mut Noted<K>, wanted: &impl Fn(&K) -> bool) -> Self {
        Self(SharedMap(chosen(&self.0.0, noted, wanted)))
    }

    /// What both have.
    pub fn intersection(&self, other: &Self) -> Self {
        Self(SharedMap(intersection(&self.0.0, &other.0.0)))
    }

    /// What either has.
    pub fn union(&self, other: &Self) -> Self {
        Self(SharedMap(union(&self.0.0, &other.0.0)))
    }

    /// What this has and the other has not.
    pub fn difference(&self, other: &Self) -> Self {
        Self(SharedMap(difference(&self.0.0, &other.0.0)))
    }

    /// Whether the other has all that this has.
    pub fn is_subset(&self, other: &Self) -> bool {
        self.difference(other).is_empty()
    }

    /// Takes out what another set has.
    pub fn without(&mut self, other: &Self) {
        self.0 = SharedMap(difference(&self.0.0, &other.0.0));
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

    fn starting_at<Q: Ord + ?Sized>(&self, first: &Q) -> Iter<'_, K, V>
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

impl<K: Ord, V> Node<K, V> {
    /// Whether it stands below a key in the one shape that the keys have.
    fn below(&self, rank: u64, key: &K) -> bool {
        (self.rank, &self.key) < (rank, key)
    }
}

fn rank<K: Hash>(key: &K) -> u64 {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    hasher.finish()
}

fn put<K: Ord + Clone, V: Clone>(at: &mut Link<K, V>, rank: u64, key: K, value: V) {
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
fn same<K, V>(a: &Link<K, V>, b: &Link<K, V>) -> bool {
    match (a, b) {
        (None, None) => true,
        (Some(a), Some(b)) => Arc::ptr_eq(a, b),
        _ => false,
    }
}

/// The node with other parts below it; itself where they are the same.
fn with<K: Clone, V: Clone>(
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
fn split<K: Ord + Clone, V: Clone>(at: &Link<K, V>, key: &K) -> (Link<K, V>, bool, Link<K, V>) {
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
fn joined<K: Ord + Clone, V: Clone>(less: Link<K, V>, greater: Link<K, V>) -> Link<K, V> {
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
fn either<K: Clone, V: Clone>(
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

fn union<K: Ord + Clone, V: Clone>(one: &Link<K, V>, other: &Link<K, V>) -> Link<K, V> {
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

fn intersection<K: Ord + Clone, V: Clone>(one: &Link<K, V>, other: &Link<K, V>) -> Link<K, V> {
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

/// What [`SharedSet::chosen`] has found of parts that several sets share; the parts are kept, so that no other takes their place.
pub struct Noted<K>(HashMap<*const Node<K, ()>, [Link<K, ()>; 2]>);

impl<K> Default for Noted<K> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

fn chosen<K: Ord + Clone>(
    at: &Link<K, ()>,
    noted: &mut Noted<K>,
    wanted: &impl Fn(&K) -> bool,
) -> Link<K, ()> {
    let node = at.as_ref()?;
    if let Some([_, found]) = noted.0.get(&Arc::as_ptr(node)) {
        return found.clone();
    }
    let less = chosen(&node.less, noted, wanted);
    let greater = chosen(&node.greater, noted, wanted);
    let found = match wanted(&node.key) {
        true => Some(with(node, less, greater)),
        false => joined(less, greater),
    };
    noted
        .0
        .insert(Arc::as_ptr(node), [at.clone(), found.clone()]);
    found
}

fn difference<K: Ord + Clone, V: Clone>(one: &Link<K, V>, other: &Link<K, V>) -> Link<K, V> {
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

fn equal<K: Ord, V: PartialEq>(one: &Link<K, V>, other: &Link<K, V>) -> bool {
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
    open: Vec<&'a Node<K, V>>,
}

impl<'a, K, V> Iter<'a, K, V> {
    fn descend(&mut self, mut at: &'a Link<K, V>) {
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

impl<K: Ord + Hash + Clone, V: Clone> Extend<(K, V)> for SharedMap<K, V> {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, entries: I) {
        for (key, value) in entries {
            self.insert(key, value);
        }
    }
}

impl<K> Clone for SharedSet<K> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<K, V> Clone for SharedMap<K, V> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<K> Default for SharedSet<K> {
    fn default() -> Self {
        Self(SharedMap::default())
    }
}

impl<K, V> Default for SharedMap<K, V> {
    fn default() -> Self {
        Self(None)
    }
}

impl<K: Ord> PartialEq for SharedSet<K> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<K: Ord> Eq for SharedSet<K> {}

impl<K: Ord, V: PartialEq> PartialEq for SharedMap<K, V> {
    fn eq(&self, other: &Self) -> bool {
        equal(&self.0, &other.0)
    }
}

impl<K: Ord + Hash + Clone + fmt::Debug> fmt::Debug for SharedSet<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::SharedSet;

    /// Numbers that look like chance, the same each time.
    fn numbers(seed: u64) -> impl Iterator<Item = u64> {
        let mut now = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        std::iter::repeat_with(move || {
            now ^= now << 13;
            now ^= now >> 7;
            now ^= now << 17;
            now
        })
    }

    #[test]
    fn it_does_what_a_set_does() {
        let (mut shared, mut plain) = (SharedSet::new(), BTreeSet::new());
        let mut past = Vec::new();
        for n in numbers(1).take(5_000) {
            let key = n % 300;
            match n >> 32 & 1 {
                0 => assert_eq!(shared.insert(key), plain.insert(key)),
                _ => assert_eq!(shared.remove(&key), plain.remove(&key)),
            }
            assert_eq!(shared.contains(&(key + 1)), plain.contains(&(key + 1)));
            if n % 97 == 0 {
                past.push((shared.clone(), plain.clone()));
            }
        }
        past.push((shared, plain));
        for (shared, plain) in &past {
            assert!(shared.iter().eq(plain));
            for (other, plain_other) in &past {
                let mut both = shared.clone();
                assert_eq!(both.join(other), !plain_other.is_subset(plain));
                assert!(both.iter().eq(&(plain | plain_other)));
                let mut both = shared.clone();
                assert_eq!(both.keep(other), !plain.is_subset(plain_other));
                assert!(both.iter().eq(&(plain & plain_other)));
                let mut rest = shared.clone();
                rest.without(other);
                assert!(rest.iter().eq(&(plain - plain_other)));
                assert_eq!(shared == other, plain == plain_other);
            }
        }
    }

    #[test]
    fn it_can_be_read_from_a_key_on() {
        let all: SharedSet<u64> = numbers(2).take(500).map(|n| n % 1_000).collect();
        for first in 0..1_001 {
            assert!(
                all.starting_at(&first)
                    .eq(all.iter().filter(|key| **key >= first))
            );
        }
    }
}
