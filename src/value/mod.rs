//! Values at run time: immutable, shared, cheap to clone.
//!
//! A clone is a pointer copy, an appended list shares all of its old elements, a changed map
//! shares all but a path. So a state, a checkpoint of it and a stream of it hold one copy.
//! Nothing here knows of types, graphs or I/O.

mod compare;
mod json;
mod key;
mod list;
mod map;
mod show;
mod size;

use std::sync::Arc;

pub use json::{show_duration, written};
pub use key::Key;
pub use list::List;
pub use map::Map;
use size::Size;
pub use size::{MAX_DEPTH, MAX_TEXT, MAX_WEIGHT, TEXT_TOO_LONG, is_deeper};

/// Text of a value: shared.
pub type Str = Arc<str>;

/// A value.
///
/// Enum members are their names as `String`; records are `Map`s with text keys.
#[derive(Clone, Default)]
pub enum Value {
    /// `null`
    #[default]
    Null,
    /// `true`, `false`
    Bool(bool),
    /// 64 bits, signed
    Int(i64),
    /// CEL's `uint`; only inside expressions
    Uint(u64),
    /// IEEE double
    Float(f64),
    /// Text
    String(Str),
    /// CEL's `bytes`; only inside expressions
    Bytes(Arc<[u8]>),
    /// A point in time, to the nanosecond
    Timestamp(jiff::Timestamp),
    /// A signed span of time, to the nanosecond
    Duration(jiff::SignedDuration),
    /// An ordered list
    List(List),
    /// A map ordered by key
    Map(Map),
    /// CEL's optional; only inside expressions
    Optional(Option<Arc<Value>>),
    /// A CEL type (`type(x)`) by name; only inside expressions
    Type(Str),
}

impl Value {
    /// A text value.
    pub fn text(text: impl Into<Str>) -> Value {
        Value::String(text.into())
    }

    /// The text, where it is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// The list, where it is one.
    pub fn as_list(&self) -> Option<&List> {
        match self {
            Value::List(list) => Some(list),
            _ => None,
        }
    }

    /// The map, where it is one.
    pub fn as_map(&self) -> Option<&Map> {
        match self {
            Value::Map(map) => Some(map),
            _ => None,
        }
    }

    /// Whether it is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    /// The entry of a map under a text key; `None` where there is none or it is no map.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.as_map().and_then(|map| map.get(key))
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::String(text.into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Value::String(text.into())
    }
}

impl From<bool> for Value {
    fn from(b: bool) -> Self {
        Value::Bool(b)
    }
}

impl From<i64> for Value {
    fn from(i: i64) -> Self {
        Value::Int(i)
    }
}

impl From<Map> for Value {
    fn from(map: Map) -> Self {
        Value::Map(map)
    }
}

impl From<List> for Value {
    fn from(list: List) -> Self {
        Value::List(list)
    }
}
