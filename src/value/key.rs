//! Keys of maps.

use std::borrow::Borrow;
use std::cmp::Ordering;

use super::{Str, Value};

/// A key of a map. Declared maps and records have text keys only; CEL map literals may have others.
///
/// An `int` and a `uint` of the same number are one key.
#[derive(Debug, Clone)]
pub enum Key {
    /// `true`, `false`
    Bool(bool),
    /// `int`
    Int(i64),
    /// `uint`
    Uint(u64),
    /// Text
    String(Str),
}

impl Key {
    /// The key that CEL looks up for a value; `None` where no key can equal it (a list, `1.5`).
    ///
    /// A float without a fraction is the key of that number: `{1: "a"}[1.0]` is `"a"`.
    pub fn of(value: &Value) -> Option<Key> {
        match value {
            Value::Bool(b) => Some(Key::Bool(*b)),
            Value::Int(i) => Some(Key::Int(*i)),
            Value::Uint(u) => Some(Key::Uint(*u)),
            Value::String(text) => Some(Key::String(text.clone())),
            Value::Float(f) if f.fract() == 0.0 => {
                let number = *f as i128;
                i64::try_from(number)
                    .map(Key::Int)
                    .or_else(|_| u64::try_from(number).map(Key::Uint))
                    .ok()
            }
            _ => None,
        }
    }

    /// The text, where it is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Key::String(text) => Some(text),
            _ => None,
        }
    }

    /// The key as a value.
    pub fn value(&self) -> Value {
        match self {
            Key::Bool(b) => Value::Bool(*b),
            Key::Int(i) => Value::Int(*i),
            Key::Uint(u) => Value::Uint(*u),
            Key::String(s) => Value::String(s.clone()),
        }
    }

    fn view(&self) -> View<'_> {
        match self {
            Key::Bool(b) => View::Bool(*b),
            Key::Int(i) => View::Number(i128::from(*i)),
            Key::Uint(u) => View::Number(i128::from(*u)),
            Key::String(s) => View::Text(s),
        }
    }
}

/// What keys are ordered by.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum View<'a> {
    Bool(bool),
    Number(i128),
    Text(&'a str),
}

/// Whatever can be looked up in a map: a [`Key`], or a text without making a key of it.
pub(super) trait Probe {
    fn view(&self) -> View<'_>;
}

impl Probe for Key {
    fn view(&self) -> View<'_> {
        Key::view(self)
    }
}

impl Probe for &str {
    fn view(&self) -> View<'_> {
        View::Text(self)
    }
}

impl<'a> Borrow<dyn Probe + 'a> for Key {
    fn borrow(&self) -> &(dyn Probe + 'a) {
        self
    }
}

impl PartialEq for dyn Probe + '_ {
    fn eq(&self, other: &Self) -> bool {
        self.view() == other.view()
    }
}

impl Eq for dyn Probe + '_ {}

impl PartialOrd for dyn Probe + '_ {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for dyn Probe + '_ {
    fn cmp(&self, other: &Self) -> Ordering {
        self.view().cmp(&other.view())
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.view() == other.view()
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
        self.view().cmp(&other.view())
    }
}

impl From<&str> for Key {
    fn from(text: &str) -> Self {
        Key::String(text.into())
    }
}

impl From<Str> for Key {
    fn from(text: Str) -> Self {
        Key::String(text)
    }
}
