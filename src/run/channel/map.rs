//! Channels of maps: `merge`, `deep_merge`.

use crate::run::store::Change;
use crate::value::{Map, Value};

use super::map_of;

/// Entries of `value` over those that are there.
pub fn merge(old: Option<&Value>, value: &Value) -> Result<(Value, Change), String> {
    let mut map = current(old)?;
    let mut entries = Vec::new();
    for (key, item) in map_of(value, "the value")?.iter() {
        map.insert(key.clone(), item.clone());
        if let Some(name) = key.as_str() {
            entries.push((name.to_owned(), item.clone()));
        }
    }
    Ok((Value::Map(map), Change::Merge(entries)))
}

/// As [`merge`], in maps of maps too.
pub fn deep_merge(old: Option<&Value>, value: &Value) -> Result<Value, String> {
    let map = current(old)?;
    Ok(Value::Map(deep(map, map_of(value, "the value")?)))
}

fn deep(mut into: Map, from: &Map) -> Map {
    for (key, item) in from.iter() {
        let merged = match (into.get_key(key), item) {
            (Some(Value::Map(inner)), Value::Map(item)) => Value::Map(deep(inner.clone(), item)),
            _ => item.clone(),
        };
        into.insert(key.clone(), merged);
    }
    into
}

fn current(old: Option<&Value>) -> Result<Map, String> {
    match old {
        None | Some(Value::Null) => Ok(Map::new()),
        Some(old) => map_of(old, "the field").cloned(),
    }
}
