//! A persistent list.

use std::sync::Arc;

use rpds::VectorSync;

use super::{Size, Value};

/// Up to this many elements a list is one flat vector, which a change copies: cheaper than a tree.
const FLAT: usize = 32;

/// An immutable list; appending to a long one shares the old elements (O(log n)).
#[derive(Clone, Default)]
pub struct List(Arc<Inner>);

#[derive(Clone, Default)]
struct Inner {
    items: Items,
    size: Size,
}

#[derive(Clone)]
enum Items {
    Flat(Vec<Value>),
    Tree(VectorSync<Value>),
}

impl Default for Items {
    fn default() -> Self {
        Items::Flat(Vec::new())
    }
}

impl List {
    /// An empty list.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many elements.
    pub fn len(&self) -> usize {
        match &self.0.items {
            Items::Flat(items) => items.len(),
            Items::Tree(items) => items.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The element at `index`, from 0.
    pub fn get(&self, index: usize) -> Option<&Value> {
        match &self.0.items {
            Items::Flat(items) => items.get(index),
            Items::Tree(items) => items.get(index),
        }
    }

    /// The first element.
    pub fn first(&self) -> Option<&Value> {
        self.get(0)
    }

    /// The last element.
    pub fn last(&self) -> Option<&Value> {
        self.get(self.len().checked_sub(1)?)
    }

    /// The elements in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Value> + DoubleEndedIterator {
        match &self.0.items {
            Items::Flat(items) => Iter::Flat(items.iter()),
            Items::Tree(items) => Iter::Tree(items.iter()),
        }
    }

    /// Appends in place; other clones of this list keep what they had.
    pub fn push(&mut self, value: Value) {
        let inner = Arc::make_mut(&mut self.0);
        inner.size.add(&value);
        match &mut inner.items {
            Items::Flat(items) if items.len() < FLAT => items.push(value),
            Items::Flat(items) => {
                let mut tree: VectorSync<Value> = items.drain(..).collect();
                tree.push_back_mut(value);
                inner.items = Items::Tree(tree);
            }
            Items::Tree(items) => items.push_back_mut(value),
        }
    }

    /// Replaces the element at `index`; `false` where there is none.
    pub fn put(&mut self, index: usize, value: Value) -> bool {
        if index >= self.len() {
            return false;
        }
        let inner = Arc::make_mut(&mut self.0);
        inner.size.add(&value);
        match &mut inner.items {
            Items::Flat(items) => {
                if let Some(place) = items.get_mut(index) {
                    inner.size.take(place);
                    *place = value;
                }
            }
            Items::Tree(items) => {
                if let Some(old) = items.get(index) {
                    inner.size.take(old);
                }
                items.set_mut(index, value);
            }
        }
        true
    }

    /// Depth and weight.
    pub(super) fn size(&self) -> Size {
        self.0.size
    }
}

impl FromIterator<Value> for List {
    fn from_iter<I: IntoIterator<Item = Value>>(iter: I) -> Self {
        let items: Vec<Value> = iter.into_iter().collect();
        let mut size = Size::default();
        for item in &items {
            size.add(item);
        }
        let items = match items.len() > FLAT {
            true => Items::Tree(items.into_iter().collect()),
            false => Items::Flat(items),
        };
        Self(Arc::new(Inner { items, size }))
    }
}

impl Extend<Value> for List {
    fn extend<I: IntoIterator<Item = Value>>(&mut self, iter: I) {
        for value in iter {
            self.push(value);
        }
    }
}

impl From<Vec<Value>> for Value {
    fn from(items: Vec<Value>) -> Self {
        Value::List(items.into_iter().collect())
    }
}

enum Iter<F, T> {
    Flat(F),
    Tree(T),
}

impl<'a, F, T> Iterator for Iter<F, T>
where
    F: Iterator<Item = &'a Value>,
    T: Iterator<Item = &'a Value>,
{
    type Item = &'a Value;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Iter::Flat(items) => items.next(),
            Iter::Tree(items) => items.next(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match self {
            Iter::Flat(items) => items.size_hint(),
            Iter::Tree(items) => items.size_hint(),
        }
    }
}

impl<'a, F, T> DoubleEndedIterator for Iter<F, T>
where
    F: DoubleEndedIterator<Item = &'a Value>,
    T: DoubleEndedIterator<Item = &'a Value>,
{
    fn next_back(&mut self) -> Option<Self::Item> {
        match self {
            Iter::Flat(items) => items.next_back(),
            Iter::Tree(items) => items.next_back(),
        }
    }
}

impl<'a, F, T> ExactSizeIterator for Iter<F, T>
where
    F: ExactSizeIterator<Item = &'a Value>,
    T: ExactSizeIterator<Item = &'a Value>,
{
}
