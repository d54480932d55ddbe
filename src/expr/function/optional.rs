//! CEL's optionals.
//!
//! `or` and `orValue` are here for their types; the evaluator has nodes for them, which leave the
//! argument unevaluated where it isn't needed.

use std::sync::Arc;

use crate::value::{Map, Value};

use super::args::{self, Computed};
use super::{Carries, Row};

pub(super) const FUNCTIONS: &[Row] = &[
    Row::global(
        "optional.of",
        &["(T) -> optional<T>"],
        |args| Ok(present(args.first())),
        "An optional that holds a value; none of null.",
        "optional.of(1).value() == 1",
    )
    .carries(Carries::Same)
    .quick(),
    Row::global(
        "optional.none",
        &["() -> optional<T>"],
        |_| Ok(Value::Optional(None)),
        "An optional that holds nothing.",
        "!optional.none().hasValue()",
    )
    .quick(),
    Row::global(
        "optional.ofNonZeroValue",
        &["(T) -> optional<T>"],
        non_zero,
        "An optional that holds a value unless that is 0, empty, false or null.",
        r#"optional.ofNonZeroValue("") == optional.none()"#,
    )
    .carries(Carries::Same)
    .quick(),
    Row::method(
        "hasValue",
        &["(optional<T>) -> bool"],
        |args| Ok(Value::Bool(inner(args, 0)?.is_some())),
        "Whether it holds a value.",
        "[1].first().hasValue()",
    )
    .carries(Carries::Nothing)
    .quick(),
    Row::method(
        "value",
        &["(optional<T>) -> T"],
        value,
        "The value; an error where there is none.",
        "[1].first().value() == 1",
    )
    .carries(Carries::Same)
    .quick(),
    Row::method(
        "or",
        &["(optional<T>, optional<T>) -> optional<T>"],
        or,
        "Itself where it holds a value, else the argument.",
        "[].first().or([2].first()).value() == 2",
    )
    .carries(Carries::Either)
    .quick(),
    Row::method(
        "orValue",
        &["(optional<T>, T) -> T"],
        or_value,
        "The value, or the argument where there is none.",
        "[].first().orValue(3) == 3",
    )
    .carries(Carries::Either)
    .quick(),
];

/// The optional of a value that may not be there: none where there is none, or where it is null. An optional never holds null,
/// so that `.orValue(..)` gives a value.
pub(in crate::expr) fn present(value: Option<&Value>) -> Value {
    let value = value.filter(|value| !value.is_null());
    Value::Optional(value.map(|value| Arc::new(value.clone())))
}

fn inner(args: &[Value], index: usize) -> Result<Option<&Value>, String> {
    match args::any(args, index)? {
        Value::Optional(inner) => Ok(inner.as_deref()),
        other => Err(args::expected("an optional", other)),
    }
}

fn non_zero(args: &[Value]) -> Computed {
    let value = args::any(args, 0)?;
    let zero = match value {
        Value::Null => true,
        Value::Bool(b) => !b,
        Value::Int(i) => *i == 0,
        Value::Uint(u) => *u == 0,
        Value::Float(f) => *f == 0.0,
        Value::String(text) => text.is_empty(),
        Value::Bytes(bytes) => bytes.is_empty(),
        Value::List(list) => list.is_empty(),
        Value::Map(map) => Map::is_empty(map),
        Value::Duration(duration) => duration.is_zero(),
        Value::Optional(inner) => inner.is_none(),
        Value::Timestamp(_) | Value::Type(_) => false,
    };
    Ok(match zero {
        true => Value::Optional(None),
        false => present(Some(value)),
    })
}

fn value(args: &[Value]) -> Computed {
    inner(args, 0)?
        .cloned()
        .ok_or_else(|| "the optional is none".into())
}

fn or(args: &[Value]) -> Computed {
    Ok(Value::Optional(
        inner(args, 0)?
            .or(inner(args, 1)?)
            .map(|value| Arc::new(value.clone())),
    ))
}

fn or_value(args: &[Value]) -> Computed {
    match inner(args, 0)? {
        Some(value) => Ok(value.clone()),
        None => args::any(args, 1).cloned(),
    }
}
