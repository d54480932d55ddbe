//! Filters of lists, and of what a loop can go over; and what values count as, for all filters.

use std::borrow::Cow;
use std::sync::Arc;

use crate::value::{Key, List, Map, Value};

use super::super::args::{self, Computed};
use super::print::printed;
use super::{Filter, filter};

/// Most parts of `slice`, and elements of `batch`.
const MOST_PARTS: usize = 100_000;

pub(super) const FILTERS: &[Filter] = &[
    filter(
        "|attr",
        &["(map<T>) -> T"],
        |args| Ok(args::any(args, 0)?.clone()),
        "A field, by its name.",
    )
    .params(1, &["_name"]),
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
    .params(0, &["default_value", "boolean"]),
    filter(
        "|batch",
        &["(list<T>, int, K?) -> list<list<T>>"],
        batch,
        "Lists of so many elements, the last filled up with the second value.",
    )
    .params(1, &["_count", "_fill"]),
    filter(
        "|chain",
        &[
            "(list<T>, list<T>...) -> list<T>",
            "(list<K>, list<K>...) -> list<json>",
            "(map<T>, map<T>...) -> map<T>",
            "(map<K>, map<K>...) -> map<json>",
        ],
        chain,
        "One list of the elements of several.",
    )
    .variadic(),
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
        |args| {
            let length = match args::any(args, 0)? {
                Value::List(list) => list.len(),
                Value::Map(map) => map.len(),
                other => text_of(other)?.chars().count(),
            };
            Ok(Value::Int(length as i64))
        },
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
        |args| match args::any(args, 0)? {
            Value::List(list) => Ok(Value::List(list.iter().rev().cloned().collect())),
            other => Ok(text_of(other)?.chars().rev().collect::<String>().into()),
        },
        "The elements or characters from last to first.",
    ),
    filter(
        "|slice",
        &["(list<T>, int, K?) -> list<list<T>>"],
        slice,
        "So many lists of the elements, of about the same length.",
    )
    .params(1, &["_count", "_fill"]),
    filter(
        "|zip",
        &["(list<K>, list<K>...) -> list<list<json>>"],
        zip,
        "Lists of the first elements, of the second ones, and so on.",
    )
    .variadic(),
    filter(
        "|items",
        &["(map<K>) -> list<list<json>>"],
        |args| Ok(pairs(args::map(args, 0)?)),
        "Keys with values: `{% for k, v in m | items %}`.",
    ),
    filter(
        "|dictsort",
        &["(map<K>, string?, bool?, bool?) -> list<list<json>>"],
        dictsort,
        "Keys with values, sorted by the keys, or `by=\"value\"`.",
    )
    .with(0, 0, &["by", "case_sensitive", "reverse"]),
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
        Value::Timestamp(_) | Value::Duration(_) => elements(&Value::from(&*printed(value)?))?,
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

/// The text of a text or a time.
fn text_of(value: &Value) -> Result<Cow<'_, str>, String> {
    match value {
        Value::String(_) | Value::Timestamp(_) | Value::Duration(_) => printed(value),
        other => Err(args::expected("a list, a map or a text", other)),
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

fn count(args: &[Value], name: &str) -> Result<usize, String> {
    match args::count(args, 1)? {
        0 => Err(format!("`{name}` takes a number above 0")),
        count if count > MOST_PARTS => Err(format!("`{name}` takes at most {MOST_PARTS}")),
        count => Ok(count),
    }
}

fn filler(args: &[Value]) -> Option<&Value> {
    args.get(2).filter(|value| !value.is_null())
}

fn batch(args: &[Value]) -> Computed {
    let items: Vec<Value> = elements(args::any(args, 0)?)?.iter().cloned().collect();
    let count = count(args, "batch")?;
    let parts = items.chunks(count).map(|part| {
        let missing = if filler(args).is_some() {
            count - part.len()
        } else {
            0
        };
        let filled = std::iter::repeat_n(filler(args).cloned().unwrap_or_default(), missing);
        Value::List(part.iter().cloned().chain(filled).collect())
    });
    Ok(parts.collect::<Vec<_>>().into())
}

fn slice(args: &[Value]) -> Computed {
    let list = elements(args::any(args, 0)?)?;
    let count = count(args, "slice")?;
    let (each, longer) = (list.len() / count, list.len() % count);
    let mut items = list.iter().cloned();
    let parts = (0..count).map(|at| {
        let fill = filler(args).filter(|_| longer > 0 && at >= longer).cloned();
        let part = items.by_ref().take(each + usize::from(at < longer));
        Value::List(part.chain(fill).collect())
    });
    Ok(parts.collect::<Vec<_>>().into())
}

fn chain(args: &[Value]) -> Computed {
    if args.iter().all(|value| value.as_map().is_some()) {
        let mut all = Map::new();
        for (key, value) in args.iter().filter_map(Value::as_map).flat_map(Map::iter) {
            all.insert(key.clone(), value.clone());
        }
        return Ok(Value::Map(all));
    }
    let lists: Vec<List> = args.iter().map(elements).collect::<Result<_, _>>()?;
    let all = lists.iter().flat_map(List::iter).cloned();
    Ok(Value::List(all.collect()))
}

fn zip(args: &[Value]) -> Computed {
    let lists: Vec<List> = args.iter().map(elements).collect::<Result<_, _>>()?;
    let length = lists.iter().map(List::len).min().unwrap_or(0);
    let row = |at| {
        let parts = lists.iter().filter_map(|list| list.get(at).cloned());
        Value::List(parts.collect())
    };
    Ok((0..length).map(row).collect::<Vec<_>>().into())
}

/// Keys with values.
pub(super) fn pairs(map: &Map) -> Value {
    let pair = |(key, value): (&Key, &Value)| Value::from(vec![key.value(), value.clone()]);
    map.iter().map(pair).collect::<Vec<_>>().into()
}

fn dictsort(args: &[Value]) -> Computed {
    let map = args::map(args, 0)?;
    let by_value = text_or(args, 1, "key")? == "value";
    let (exact, reverse) = (flag(args, 2), flag(args, 3));
    let mut all: Vec<(Value, Value)> = Vec::new();
    for (key, value) in map.iter() {
        let by = if by_value { value.clone() } else { key.value() };
        let by = if exact { by } else { folded(&by) };
        all.push((by, vec![key.value(), value.clone()].into()));
    }
    all.sort_by(|(a, _), (b, _)| match reverse {
        true => b.compare_any(a),
        false => a.compare_any(b),
    });
    Ok(all
        .into_iter()
        .map(|(_, pair)| pair)
        .collect::<Vec<_>>()
        .into())
}
