//! JSON read with a type: what the type says is a timestamp or a float becomes one.

use serde_json::Value as Json;

use crate::expr::function::{span, time};
use crate::expr::ty::{Type, TypeTable};
use crate::value::{Map, Value};

/// The value of JSON that is known to fit `ty`. Where it doesn't fit, the JSON as it is: refusing it
/// is the work of a schema. Fields of a record that are left out get their default, or null.
pub fn value_of(json: &Json, ty: &Type, types: &TypeTable) -> Value {
    match (ty, json) {
        (Type::Nullable(of), json) if !json.is_null() => value_of(json, of, types),
        (Type::Float, Json::Number(number)) => Value::Float(number.as_f64().unwrap_or(f64::NAN)),
        (Type::Timestamp, Json::String(text)) => {
            time::parse_timestamp(text).map_or_else(|_| text.as_str().into(), Value::Timestamp)
        }
        (Type::Duration, Json::String(text)) => {
            span::parse_duration(text).map_or_else(|| text.as_str().into(), Value::Duration)
        }
        (Type::List(of), Json::Array(items)) => {
            Value::List(items.iter().map(|item| value_of(item, of, types)).collect())
        }
        (Type::Map(of), Json::Object(entries)) => entries
            .iter()
            .map(|(key, value)| (key.as_str(), value_of(value, of, types)))
            .collect::<Map>()
            .into(),
        (Type::Record(id), Json::Object(entries)) => {
            let mut map = Map::new();
            let record = types.records.get(*id);
            let fields = record.map(|r| r.fields.as_slice()).unwrap_or_default();
            for field in fields {
                match entries.get(&field.name).or(field.default.as_ref()) {
                    Some(value) => map.insert(&*field.name, value_of(value, &field.ty, types)),
                    None if field.ty.admits_null() => map.insert(&*field.name, Value::Null),
                    None => {}
                }
            }
            let more = entries
                .iter()
                .filter(|(key, _)| fields.iter().all(|f| f.name != **key));
            for (key, value) in more {
                map.insert(key.as_str(), Value::from_json(value));
            }
            Value::Map(map)
        }
        (_, json) => Value::from_json(json),
    }
}
