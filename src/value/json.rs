//! Values as JSON, in two forms.
//!
//! - [`Value::to_json`] is for people and programs outside: a timestamp is its RFC 3339 text, so a
//!   reader needs the declared type to get it back.
//! - [`Value::to_stored`] is for stores: every value comes back as it was, without types. What JSON
//!   lacks is an object with one key that begins with `$`; a map with such a key is escaped.

use serde::{Deserialize, Deserializer};
use serde_json::{Value as Json, json};

use super::{Key, List, Map, Value};

impl Value {
    /// The value as plain JSON. Keys that aren't text become text; NaN and infinities become null.
    pub fn to_json(&self) -> Json {
        match self {
            Value::Null => Json::Null,
            Value::Bool(b) => Json::Bool(*b),
            Value::Int(i) => json!(i),
            Value::Uint(u) => json!(u),
            Value::Float(f) => json!(f),
            Value::String(s) => Json::String(s.to_string()),
            Value::Bytes(bytes) => Json::String(String::from_utf8_lossy(bytes).into_owned()),
            Value::Timestamp(t) => Json::String(t.to_string()),
            Value::Duration(d) => Json::String(show_duration(*d)),
            Value::List(list) => Json::Array(list.iter().map(Value::to_json).collect()),
            Value::Map(map) => Json::Object(
                map.iter()
                    .map(|(k, v)| (show_key(k), v.to_json()))
                    .collect(),
            ),
            Value::Optional(inner) => inner.as_deref().map_or(Json::Null, Value::to_json),
            Value::Type(name) => Json::String(name.to_string()),
        }
    }

    /// A value of plain JSON: a number without fraction and exponent is an `Int` where it fits.
    pub fn from_json(json: &Json) -> Value {
        match json {
            Json::Null => Value::Null,
            Json::Bool(b) => Value::Bool(*b),
            Json::Number(n) => n
                .as_i64()
                .map_or_else(|| Value::Float(n.as_f64().unwrap_or(f64::NAN)), Value::Int),
            Json::String(s) => Value::text(s.as_str()),
            Json::Array(items) => Value::List(items.iter().map(Value::from_json).collect()),
            Json::Object(entries) => Value::Map(
                entries
                    .iter()
                    .map(|(k, v)| (Key::from(k.as_str()), Value::from_json(v)))
                    .collect(),
            ),
        }
    }

    /// The value as JSON that [`Value::from_stored`] turns back into the same value.
    pub fn to_stored(&self) -> Json {
        match self {
            Value::Uint(u) => json!({ "$uint": u }),
            Value::Float(f) if !f.is_finite() => json!({ "$float": f.to_string() }),
            Value::Bytes(bytes) => json!({ "$bytes": bytes.to_vec() }),
            Value::Timestamp(t) => json!({ "$timestamp": t.to_string() }),
            Value::Duration(d) => json!({ "$duration": [d.as_secs(), d.subsec_nanos()] }),
            Value::Optional(inner) => {
                json!({ "$optional": inner.iter().map(|v| v.to_stored()).collect::<Vec<_>>() })
            }
            Value::Type(name) => json!({ "$type": name.to_string() }),
            Value::List(list) => Json::Array(list.iter().map(Value::to_stored).collect()),
            Value::Map(map)
                if map
                    .iter()
                    .all(|(k, _)| k.as_str().is_some_and(|k| !k.starts_with('$'))) =>
            {
                Json::Object(
                    map.iter()
                        .map(|(k, v)| (show_key(k), v.to_stored()))
                        .collect(),
                )
            }
            Value::Map(map) => {
                let pairs = map
                    .iter()
                    .map(|(k, v)| json!([stored_key(k), v.to_stored()]));
                json!({ "$map": pairs.collect::<Vec<_>>() })
            }
            plain => plain.to_json(),
        }
    }

    /// The value that [`Value::to_stored`] made this of; `None` where it is no such JSON.
    pub fn from_stored(json: &Json) -> Option<Value> {
        match json {
            Json::Array(items) => Some(Value::List(
                items
                    .iter()
                    .map(Value::from_stored)
                    .collect::<Option<List>>()?,
            )),
            Json::Object(entries) => match entries.iter().next() {
                Some((tag, inner)) if tag.starts_with('$') => from_tagged(tag, inner),
                _ => {
                    let mut map = Map::new();
                    for (key, value) in entries {
                        map.insert(key.as_str(), Value::from_stored(value)?);
                    }
                    Some(Value::Map(map))
                }
            },
            plain => Some(Value::from_json(plain)),
        }
    }
}

fn from_tagged(tag: &str, inner: &Json) -> Option<Value> {
    Some(match tag {
        "$uint" => Value::Uint(inner.as_u64()?),
        "$float" => Value::Float(inner.as_str()?.parse().ok()?),
        "$bytes" => {
            let bytes: Option<Vec<u8>> = inner
                .as_array()?
                .iter()
                .map(|b| u8::try_from(b.as_u64()?).ok())
                .collect();
            Value::Bytes(bytes?.into())
        }
        "$timestamp" => Value::Timestamp(inner.as_str()?.parse().ok()?),
        "$duration" => {
            let part = |i: usize| inner.get(i).and_then(Json::as_i64);
            Value::Duration(jiff::SignedDuration::new(
                part(0)?,
                i32::try_from(part(1)?).ok()?,
            ))
        }
        "$optional" => match inner.as_array()?.first() {
            None => Value::Optional(None),
            Some(value) => Value::Optional(Some(Value::from_stored(value)?.into())),
        },
        "$type" => Value::Type(inner.as_str()?.into()),
        "$map" => {
            let mut map = Map::new();
            for pair in inner.as_array()? {
                map.insert(
                    key_from_stored(pair.get(0)?)?,
                    Value::from_stored(pair.get(1)?)?,
                );
            }
            Value::Map(map)
        }
        _ => return None,
    })
}

fn stored_key(key: &Key) -> Json {
    match key {
        Key::Bool(b) => Json::Bool(*b),
        Key::Int(i) => json!(i),
        Key::Uint(u) => json!(u),
        Key::String(s) => Json::String(s.to_string()),
    }
}

fn key_from_stored(json: &Json) -> Option<Key> {
    Some(match json {
        Json::Bool(b) => Key::Bool(*b),
        Json::Number(n) => n
            .as_i64()
            .map(Key::Int)
            .or_else(|| n.as_u64().map(Key::Uint))?,
        Json::String(s) => Key::from(s.as_str()),
        _ => return None,
    })
}

fn show_key(key: &Key) -> String {
    match key {
        Key::Bool(b) => b.to_string(),
        Key::Int(i) => i.to_string(),
        Key::Uint(u) => u.to_string(),
        Key::String(s) => s.to_string(),
    }
}

/// Reads a JSON value that is there, which `null` is too: by itself serde takes it for one that is left out.
///
/// # Errors
/// Where it is no JSON value.
pub fn written<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Json>, D::Error> {
    Json::deserialize(from).map(Some)
}

/// CEL's text of a duration: seconds with up to nine digits, such as `1.5s`.
pub fn show_duration(d: jiff::SignedDuration) -> String {
    let nanos = d.as_nanos();
    let sign = if nanos < 0 { "-" } else { "" };
    let (secs, rest) = (
        nanos.unsigned_abs() / 1_000_000_000,
        nanos.unsigned_abs() % 1_000_000_000,
    );
    let fraction = format!("{rest:09}");
    match fraction.trim_end_matches('0') {
        "" => format!("{sign}{secs}s"),
        digits => format!("{sign}{secs}.{digits}s"),
    }
}
