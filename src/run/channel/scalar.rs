//! Channels of single values: `add`, `min`, `max`, `and`, `or`.

use std::cmp::Ordering;

use crate::value::Value;

use super::kind;

/// Sum of numbers of one type; durations too.
pub fn add(old: Option<&Value>, value: &Value) -> Result<Value, String> {
    match (old, value) {
        (None | Some(Value::Null), value) => Ok(value.clone()),
        (Some(Value::Int(a)), Value::Int(b)) => a
            .checked_add(*b)
            .map(Value::Int)
            .ok_or_else(|| "the sum is out of the range of int".to_owned()),
        (Some(Value::Float(a)), Value::Float(b)) if (a + b).is_finite() => Ok(Value::Float(a + b)),
        (Some(Value::Float(_)), Value::Float(_)) => {
            Err("the sum is out of the range of float".to_owned())
        }
        (Some(Value::Duration(a)), Value::Duration(b)) => a
            .checked_add(*b)
            .map(Value::Duration)
            .ok_or_else(|| "the sum is out of the range of duration".to_owned()),
        (Some(old), value) => Err(format!("{} can't be added to {}", kind(value), kind(old))),
    }
}

/// The one of both that is `wanted` of the other: least for `Less`, greatest for `Greater`.
pub fn least(old: Option<&Value>, value: &Value, wanted: Ordering) -> Result<Value, String> {
    let Some(old) = old.filter(|old| !old.is_null()) else {
        return Ok(value.clone());
    };
    match order(value, old) {
        Some(order) if order == wanted => Ok(value.clone()),
        Some(_) => Ok(old.clone()),
        None => Err(format!(
            "{} can't be compared with {}",
            kind(value),
            kind(old)
        )),
    }
}

/// `and`, `or`
pub fn logical(
    old: Option<&Value>,
    value: &Value,
    combine: fn(bool, bool) -> bool,
) -> Result<Value, String> {
    match (old, value) {
        (None | Some(Value::Null), Value::Bool(_)) => Ok(value.clone()),
        (Some(Value::Bool(a)), Value::Bool(b)) => Ok(Value::Bool(combine(*a, *b))),
        (_, value) => Err(format!("the value is {}, expected a bool", kind(value))),
    }
}

fn order(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
        (Value::Float(a), Value::Float(b)) => a.partial_cmp(b),
        (Value::String(a), Value::String(b)) => Some(a.cmp(b)),
        (Value::Timestamp(a), Value::Timestamp(b)) => Some(a.cmp(b)),
        (Value::Duration(a), Value::Duration(b)) => Some(a.cmp(b)),
        _ => None,
    }
}
