//! A persistent map ordered by key.

use std::sync::Arc;

use rpds::RedBlackTreeMapSync;

use super::key::Probe;
use super::{Key, Size, Value};

/// Up to this many entries a map is one sorted vector, which a change copies: cheaper than a tree.
const FLAT: usize = 16;

/// An immutable map ordered by key; a change of a large one shares all but a path (O(log n)).
#[derive(Clone, Default)]
pub struct Map(Arc<Inner>);

#[derive(Clone, Default)]
struct Inner {
    entries: Entries,
    size: Size,
}

/// Invariant: `Flat` is sorted by key, without repeats (`tests/value.rs`, against a `BTreeMap`).
#[derive(Clone)]
enum Entries {
    Flat(Vec<(Key, Value)>),
    Tree(RedBlackTreeMapSync<Key, Value>),
}

impl Default for Entries {
    fn default() -> Self {
        Entries::Flat(Vec::new())
    }
}

fn search(entries: &[(Key, Value)], probe: &dyn Probe) -> Result<usize, usize> {
    let wanted = probe.view();
    entries.binary_search_by(|(key, _)| Probe::view(key).cmp(&wanted))
}

impl Map {
    /// An empty map.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many entries.
    pub fn len(&self) -> usize {
        match &self.0.entries {
            Entries::Flat(entries) => entries.len(),
            Entries::Tree(entries) => entries.size(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value under a text key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.probe(&key)
    }

    /// The value under any key.
    pub fn get_key(&self, key: &Key) -> Option<&Value> {
        self.probe(key)
    }

    fn probe(&self, probe: &dyn Probe) -> Option<&Value> {
        match &self.0.entries {
            Entries::Flat(entries) => {
                let at = search(entries, probe).ok()?;
                entries.get(at).map(|(_, value)| value)
            }
            Entries::Tree(entries) => entries.get(probe),
        }
    }

    /// Puts an entry in place; other clones of this map keep what they had.
    pub fn insert(&mut self, key: impl Into<Key>, value: Value) {
        let key = key.into();
        self.take_size(&key);
        let inner = Arc::make_mut(&mut self.0);
        inner.size.add_key(&key);
        inner.size.add(&value);
        match &mut inner.entries {
            Entries::Flat(entries) => match search(entries, &key) {
                Ok(at) => {
                    if let Some(entry) = entries.get_mut(at) {
                        entry.1 = value;
                    }
                }
                Err(at) if entries.len() < FLAT => entries.insert(at, (key, value)),
                Err(_) => {
                    let mut tree: RedBlackTreeMapSync<Key, Value> = entries.drain(..).collect();
                    tree.insert_mut(key, value);
                    inner.entries = Entries::Tree(tree);
                }
            },
            Entries::Tree(entries) => entries.insert_mut(key, value),
        }
    }

    /// Takes an entry out; `false` where there was none.
    pub fn remove(&mut self, key: &Key) -> bool {
        if !self.take_size(key) {
            return false;
        }
        match &mut Arc::make_mut(&mut self.0).entries {
            Entries::Flat(entries) => {
                if let Ok(at) = search(entries, key) {
                    entries.remove(at);
                }
            }
            Entries::Tree(entries) => {
                entries.remove_mut(key);
            }
        }
        true
    }

    /// Counts the entry of that key out, where there is one.
    fn take_size(&mut self, key: &Key) -> bool {
        let Some(old) = self.get_key(key).cloned() else {
            return false;
        };
        let size = &mut Arc::make_mut(&mut self.0).size;
        size.take_key(key);
        size.take(&old);
        true
    }

    /// Entries in the order of their keys: false and true, numbers, text by code points.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Key, &Value)> + DoubleEndedIterator {
        match &self.0.entries {
            Entries::Flat(entries) => Iter::Flat(entries.iter()),
            Entries::Tree(entries) => Iter::Tree(entries.iter()),
        }
    }

    /// The keys in order.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &Key> {
        self.iter().map(|(key, _)| key)
    }

    /// The values in the order of their keys.
    pub fn values(&self) -> impl ExactSizeIterator<Item = &Value> {
        self.iter().map(|(_, value)| value)
    }

    /// Depth and weight.
    pub(super) fn size(&self) -> Size {
        self.0.size
    }
}

impl<K: Into<Key>> FromIterator<(K, Value)> for Map {
    fn from_iter<I: IntoIterator<Item = (K, Value)>>(iter: I) -> Self {
        let mut map = Map::new();
        for (key, value) in iter {
            map.insert(key, value);
        }
        map
    }
}

enum Iter<'a, T> {
    Flat(std::slice::Iter<'a, (Key, Value)>),
    Tree(T),
}

impl<'a, T: Iterator<Item = (&'a Key, &'a Value)>> Iterator for Iter<'a, T> {
    type Item = (&'a Key, &'a Value);

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Iter::Flat(entries) => entries.next().map(|(key, value)| (key, value)),
            Iter::Tree(entries) => entries.next(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match self {
            Iter::Flat(entries) => entries.size_hint(),
            Iter::Tree(entries) => entries.size_hint(),
        }
    }
}

impl<'a, T: DoubleEndedIterator<Item = (&'a Key, &'a Value)>> DoubleEndedIterator for Iter<'a, T> {
    fn next_back(&mut self) -> Option<Self::Item> {
        match self {
            Iter::Flat(entries) => entries.next_back().map(|(key, value)| (key, value)),
            Iter::Tree(entries) => entries.next_back(),
        }
    }
}

impl<'a, T: ExactSizeIterator<Item = (&'a Key, &'a Value)>> ExactSizeIterator for Iter<'a, T> {}
