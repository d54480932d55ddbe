//! Filters of lists, and of what a loop can go over; and what values count as, for all filters.

use std::sync::Arc;

use crate::value::{Key, List, Map, Value};

use super::super::Row;
use super::super::args;
use super::filter;

pub(super) const FILTERS: &[Row] = &[
    filter(
        "|bool",
        &["(K?) -> bool"],
        |args| Ok(Value::Bool(is_true(args::any(args, 0)?))),
        "Whether a condition would hold of the value.",
    ),
    filter(
        "|default",
        &["(K?, K?, bool?) -> json"],
        |args| {
            let value = args::any(args, 0)?;
            let replaced = value.is_null() || (flag(args, 2) && !is_true(value));
            Ok(if replaced { args::any(args, 1)? } else { value }.clone())
        },
        "Another value in place of null; with `boolean=true` also of what is empty.",
    )
    .named(&["default_value", "boolean"]),
    filter(
        "|first",
        &[
            "(list<T>) -> T?",
            "(map<K>) -> string?",
            "(string) -> string?",
        ],
        |args| {
            Ok(elements(args::any(args, 0)?)?
                .first()
                .cloned()
                .unwrap_or_default())
        },
        "The first element; null of an empty list.",
    ),
    filter(
        "|last",
        &["(list<T>) -> T?", "(string) -> string?"],
        |args| {
            Ok(elements(args::any(args, 0)?)?
                .last()
                .cloned()
                .unwrap_or_default())
        },
        "The last element; null of an empty list.",
    ),
    filter(
        "|length",
        &["(list<K>) -> int", "(map<K>) -> int", "(string) -> int"],
        super::super::size::size,
        "How many elements, entries or characters; `count` is the same.",
    ),
    filter(
        "|list",
        &[
            "(list<T>) -> list<T>",
            "(map<K>) -> list<string>",
            "(string) -> list<string>",
        ],
        |args| Ok(Value::List(elements(args::any(args, 0)?)?)),
        "What a loop would go through: of a map its keys, of a text its characters.",
    ),
    filter(
        "|reverse",
        &["(list<T>) -> list<T>", "(string) -> string"],
        super::super::list::reverse,
        "The elements or characters from last to first.",
    ),
    filter(
        "|items",
        &["(map<K>) -> list<list<json>>"],
        |args| Ok(pairs(args::map(args, 0)?)),
        "Keys with values: `{% for k, v in m | items %}`.",
    ),
];

/// The elements of what a loop goes over: of a list, of a map its keys, of a text its characters, of null none.
///
/// # Errors
/// Where it is none of these.
pub fn elements(value: &Value) -> Result<List, String> {
    Ok(match value {
        Value::List(list) => list.clone(),
        Value::Map(map) => map.keys().map(|key| key.value()).collect(),
        Value::String(text) => {
            let letters = text
                .chars()
                .map(|c| Value::String(Arc::from(c.to_string())));
            letters.collect()
        }
        Value::Null => List::new(),
        other => return Err(format!("`{}` has no elements to go through", other.kind())),
    })
}

/// Whether a value counts as true: all but null, false, zero and what is empty.
pub fn is_true(value: &Value) -> bool {
    match value {
        Value::Null | Value::Optional(None) => false,
        Value::Bool(value) => *value,
        Value::Int(number) => *number != 0,
        Value::Uint(number) => *number != 0,
        Value::Float(number) => *number != 0.0,
        Value::String(text) => !text.is_empty(),
        Value::Bytes(bytes) => !bytes.is_empty(),
        Value::List(list) => !list.is_empty(),
        Value::Map(map) => !map.is_empty(),
        _ => true,
    }
}

pub(super) fn flag(args: &[Value], at: usize) -> bool {
    args.get(at).is_some_and(is_true)
}

pub(super) fn text_or<'a>(args: &'a [Value], at: usize, other: &'a str) -> Result<&'a str, String> {
    match args.get(at) {
        None | Some(Value::Null) => Ok(other),
        _ => args::text(args, at).map(|text| &**text),
    }
}

/// A text of so many bytes may be made.
pub(super) fn bounded(length: usize) -> Result<(), String> {
    match length > crate::value::MAX_TEXT {
        true => Err(crate::value::TEXT_TOO_LONG.to_owned()),
        false => Ok(()),
    }
}

/// A key in small letters.
pub(super) fn folded(key: &Value) -> Value {
    match key {
        Value::String(text) => text.to_lowercase().into(),
        Value::List(parts) => Value::List(parts.iter().map(folded).collect()),
        other => other.clone(),
    }
}

/// Keys with values.
pub(super) fn pairs(map: &Map) -> Value {
    let pair = |(key, value): (&Key, &Value)| Value::from(vec![key.value(), value.clone()]);
    map.iter().map(pair).collect::<Vec<_>>().into()
}
