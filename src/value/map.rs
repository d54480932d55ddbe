//! A persistent map ordered by key.

use std::cmp::Ordering;

use rpds::RedBlackTreeMapSync;

use super::{Str, Value};

/// A key of a map. Declared maps and records have text keys only; CEL map literals may have others.
#[derive(Debug, Clone)]
pub enum Key {
    /// `true`, `false`
    Bool(bool),
    /// Also stands for a `uint` that fits
    Int(i64),
    /// A `uint` above the range of `int`
    Uint(u64),
    /// Text
    String(Str),
}

impl Key {
    fn order(&self) -> (u8, Option<&str>, i128) {
        match self {
            Key::Bool(b) => (0, None, i128::from(*b)),
            Key::Int(i) => (1, None, i128::from(*i)),
            Key::Uint(u) => (1, None, i128::from(*u)),
            Key::String(s) => (2, Some(s), 0),
        }
    }

    /// The text, where it is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Key::String(text) => Some(text),
            _ => None,
        }
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Key {}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Key {
    fn cmp(&self, other: &Self) -> Ordering {
        self.order().cmp(&other.order())
    }
}

impl From<&str> for Key {
    fn from(text: &str) -> Self {
        Key::String(text.into())
    }
}

/// An immutable map ordered by key; a change shares all but a path (O(log n)).
#[derive(Debug, Clone, Default)]
pub struct Map(RedBlackTreeMapSync<Key, Value>);

impl Map {
    /// An empty map.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many entries.
    pub fn len(&self) -> usize {
        self.0.size()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The value under a text key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.get(&Key::from(key))
    }

    /// The value under any key.
    pub fn get_key(&self, key: &Key) -> Option<&Value> {
        self.0.get(key)
    }

    /// Puts an entry in place; other clones of this map keep what they had.
    pub fn insert(&mut self, key: impl Into<Key>, value: Value) {
        self.0.insert_mut(key.into(), value);
    }

    /// Takes an entry out; `false` where there was none.
    pub fn remove(&mut self, key: &Key) -> bool {
        self.0.remove_mut(key)
    }

    /// Entries in the order of their keys.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Key, &Value)> + DoubleEndedIterator {
        self.0.iter()
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
