//! A persistent list.

use rpds::VectorSync;

use super::Value;

/// An immutable list; appending shares the old elements (O(log n)).
#[derive(Debug, Clone, Default)]
pub struct List(VectorSync<Value>);

impl List {
    /// An empty list.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many elements.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The element at `index`, from 0.
    pub fn get(&self, index: usize) -> Option<&Value> {
        self.0.get(index)
    }

    /// The elements in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Value> + DoubleEndedIterator {
        self.0.iter()
    }

    /// Appends in place; other clones of this list keep what they had.
    pub fn push(&mut self, value: Value) {
        self.0.push_back_mut(value);
    }

    /// Replaces the element at `index`; `false` where there is none.
    pub fn put(&mut self, index: usize, value: Value) -> bool {
        self.0.set_mut(index, value)
    }
}

impl FromIterator<Value> for List {
    fn from_iter<I: IntoIterator<Item = Value>>(iter: I) -> Self {
        Self(iter.into_iter().collect())
    }
}

impl From<Vec<Value>> for Value {
    fn from(items: Vec<Value>) -> Self {
        Value::List(items.into_iter().collect())
    }
}
