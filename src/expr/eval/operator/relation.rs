//! `< <= > >=` and `in`.

use std::cmp::Ordering;

use crate::value::{Key, Value};

use super::{Computed, Refusal};

/// NaN is below, above and equal to nothing; values without an order are refused.
pub(super) fn order(left: &Value, right: &Value, holds: fn(Ordering) -> bool) -> Computed {
    match left.compare(right) {
        Some(order) => Ok(Value::Bool(holds(order))),
        None if left.is_number() && right.is_number() => Ok(Value::Bool(false)),
        None => Err(Refusal::Kinds),
    }
}

/// An element of a list, or a key of a map.
pub(super) fn contains(element: &Value, container: &Value) -> Computed {
    match container {
        Value::List(list) => Ok(Value::Bool(list.iter().any(|other| other == element))),
        Value::Map(map) => {
            let found = match element {
                Value::String(text) => map.get(text).is_some(),
                other => Key::of(other).is_some_and(|key| map.get_key(&key).is_some()),
            };
            Ok(Value::Bool(found))
        }
        _ => Err(Refusal::Kinds),
    }
}
