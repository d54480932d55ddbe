//! Changes of fields as a kind and a JSON text.

use serde_json::{Value as Json, json};

use super::rules::Shape;
use crate::run::store::Change;
use crate::value::Value;

/// `writes.kind`: the field has no value any more.
const CLEAR: i64 = 0;
/// A whole value that is neither a list nor a map.
const PUT: i64 = 1;
/// A whole list.
const PUT_LIST: i64 = 2;
/// A whole map.
const PUT_MAP: i64 = 3;
/// Elements for the end of a list: a JSON list of them.
const APPEND: i64 = 4;
/// Entries for a map: a JSON list of pairs.
const MERGE: i64 = 5;

/// A change as it is kept.
pub(super) struct StoredChange {
    /// One of the numbers above.
    pub(super) kind: i64,
    /// JSON: a value as [`Value::to_stored`] writes it, or a list of those.
    pub(super) value: String,
}

impl StoredChange {
    /// Whether it adds to what the field holds.
    pub(super) fn adds(&self) -> bool {
        matches!(self.kind, APPEND | MERGE)
    }

    /// Whether it can follow a change of that kind, or be the first.
    pub(super) fn fits(&self, before: Option<i64>) -> bool {
        let change = match self.kind {
            APPEND => Change::Append(Vec::new()),
            MERGE => Change::Merge(Vec::new()),
            _ => Change::Clear,
        };
        let shape = match before {
            None | Some(CLEAR) => Shape::Nothing,
            Some(PUT_LIST | APPEND) => Shape::List,
            Some(PUT_MAP | MERGE) => Shape::Map,
            Some(_) => Shape::Other,
        };
        shape.after(&change).is_some()
    }
}

/// Whether a number stands for a whole value.
pub(super) fn is_put(kind: i64) -> bool {
    matches!(kind, PUT | PUT_LIST | PUT_MAP)
}

/// Whether a number stands for no value any more.
pub(super) fn is_clear(kind: i64) -> bool {
    kind == CLEAR
}

/// The number kept for a change.
pub(super) fn kind(change: &Change) -> i64 {
    match change {
        Change::Clear => CLEAR,
        Change::Put(Value::List(_)) => PUT_LIST,
        Change::Put(Value::Map(_)) => PUT_MAP,
        Change::Put(_) => PUT,
        Change::Append(_) => APPEND,
        Change::Merge(_) => MERGE,
    }
}

/// The JSON kept for a change.
pub(super) fn to_json(change: &Change) -> Json {
    match change {
        Change::Clear => Json::Null,
        Change::Put(value) => value.to_stored(),
        Change::Append(items) => Json::Array(items.iter().map(Value::to_stored).collect()),
        Change::Merge(entries) => entries
            .iter()
            .map(|(key, value)| json!([key, value.to_stored()]))
            .collect(),
    }
}

/// The change that was kept; `None` where it can't be one.
pub(super) fn from_stored(kind: i64, text: &str) -> Option<Change> {
    let json: Json = serde_json::from_str(text).ok()?;
    Some(match kind {
        CLEAR => Change::Clear,
        PUT | PUT_LIST | PUT_MAP => Change::Put(Value::from_stored(&json)?),
        APPEND => {
            let items = json.as_array()?.iter().map(Value::from_stored);
            Change::Append(items.collect::<Option<_>>()?)
        }
        MERGE => {
            let entries = json.as_array()?.iter().map(|pair| {
                let key = pair.get(0)?.as_str()?;
                Some((key.to_string(), Value::from_stored(pair.get(1)?)?))
            });
            Change::Merge(entries.collect::<Option<_>>()?)
        }
        _ => return None,
    })
}
