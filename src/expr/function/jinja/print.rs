//! How a value prints.

use std::borrow::Cow;

use crate::value::{Value, show_duration};

/// What a value prints as: null as nothing, what has parts as JSON.
///
/// # Errors
/// Where it is, or holds, a number that is infinite or none.
pub fn printed(value: &Value) -> Result<Cow<'_, str>, String> {
    value.check_finite()?;
    Ok(match value {
        Value::Null | Value::Optional(None) => Cow::Borrowed(""),
        Value::Optional(Some(inner)) => return printed(inner),
        Value::Bool(true) => Cow::Borrowed("true"),
        Value::Bool(false) => Cow::Borrowed("false"),
        Value::Int(int) => Cow::Owned(int.to_string()),
        Value::Uint(uint) => Cow::Owned(uint.to_string()),
        Value::Float(float) => Cow::Owned(number(*float)),
        Value::String(text) | Value::Type(text) => Cow::Borrowed(text),
        Value::Timestamp(time) => Cow::Owned(time.to_string()),
        Value::Duration(span) => Cow::Owned(show_duration(*span)),
        Value::Bytes(_) | Value::List(_) | Value::Map(_) => match value.to_json() {
            serde_json::Value::String(text) => Cow::Owned(text),
            json => Cow::Owned(json.to_string()),
        },
    })
}

/// A value as Jinja's functions take it: a time is the text that it prints as.
pub fn plain(value: Value) -> Value {
    match value {
        Value::Timestamp(time) => time.to_string().into(),
        Value::Duration(span) => show_duration(span).into(),
        value => value,
    }
}

/// A float always has a point.
fn number(float: f64) -> String {
    let text = float.to_string();
    match text.contains('.') {
        true => text,
        false => text + ".0",
    }
}
