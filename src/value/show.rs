//! Values as text for messages and debugging: the way an expression would write them.

use std::fmt;

use super::json::show_duration;
use super::{Key, List, Map, Value};

impl Value {
    /// The kind in a flow's words: `int`, `list`, ...
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "bool",
            Value::Int(_) => "int",
            Value::Uint(_) => "uint",
            Value::Float(_) => "float",
            Value::String(_) => "string",
            Value::Bytes(_) => "bytes",
            Value::Timestamp(_) => "timestamp",
            Value::Duration(_) => "duration",
            Value::List(_) => "list",
            Value::Map(_) => "map",
            Value::Optional(_) => "optional",
            Value::Type(_) => "type",
        }
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => f.write_str("null"),
            Value::Bool(b) => write!(f, "{b}"),
            Value::Int(i) => write!(f, "{i}"),
            Value::Uint(u) => write!(f, "{u}u"),
            Value::Float(x) => write!(f, "{x:?}"),
            Value::String(s) => write!(f, "{s:?}"),
            Value::Bytes(bytes) => write!(f, "b\"{}\"", bytes.escape_ascii()),
            Value::Timestamp(t) => write!(f, "timestamp(\"{t}\")"),
            Value::Duration(d) => write!(f, "duration(\"{}\")", show_duration(*d)),
            Value::List(list) => fmt::Debug::fmt(list, f),
            Value::Map(map) => fmt::Debug::fmt(map, f),
            Value::Optional(None) => f.write_str("optional.none()"),
            Value::Optional(Some(inner)) => write!(f, "optional.of({inner:?})"),
            Value::Type(name) => f.write_str(name),
        }
    }
}

impl fmt::Debug for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl fmt::Debug for Map {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

/// As a value would be written: `"a"`, `1`, `1u`, `true`.
impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.value(), f)
    }
}
