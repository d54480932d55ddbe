//! Functions of maps and records.

use crate::value::{Key, Map, Value};

use super::args::{self, Computed};
use super::{Carries, Row, Rule};

pub(super) const FUNCTIONS: &[Row] = &[
    Row::method(
        "keys",
        &["(map<T>) -> list<string>"],
        keys,
        "The keys, in order.",
        r#"{"b": 1, "a": 2}.keys() == ["a", "b"]"#,
    )
    .carries(Carries::Keys),
    Row::method(
        "values",
        &["(map<T>) -> list<T>"],
        values,
        "The values, in the order of their keys.",
        r#"{"b": 1, "a": 2}.values() == [2, 1]"#,
    )
    .carries(Carries::Values),
    Row::method(
        "merge",
        &["(map<T>, map<T>) -> map<T>"],
        merge,
        "Both maps in one; where both have a key, the argument's value counts.",
        r#"{"a": 1, "b": 1}.merge({"b": 2}) == {"a": 1, "b": 2}"#,
    )
    .carries(Carries::Either),
    Row::method(
        "with",
        &["(T, map<json>) -> T"],
        merge,
        "A record or map with some fields replaced.",
        r#"{"id": 1, "title": "a"}.with({"title": "b"}) == {"id": 1, "title": "b"}"#,
    )
    .carries(Carries::Either)
    .rule(Rule::Update)
    .quick(),
    Row::method(
        "without",
        &[
            "(map<T>, string) -> map<T>",
            "(map<T>, list<string>) -> map<T>",
        ],
        without,
        "The map without a key, or without several; keys that it doesn't have are no error.",
        r#"{"a": 1, "b": 2}.without("a") == {"b": 2}"#,
    )
    .carries(Carries::Elements),
];

fn keys(args: &[Value]) -> Computed {
    let map = args::map(args, 0)?;
    Ok(Value::List(map.keys().map(Key::value).collect()))
}

fn values(args: &[Value]) -> Computed {
    let map = args::map(args, 0)?;
    Ok(Value::List(map.values().cloned().collect()))
}

fn merge(args: &[Value]) -> Computed {
    let mut merged: Map = args::map(args, 0)?.clone();
    for (key, value) in args::map(args, 1)?.iter() {
        merged.insert(key.clone(), value.clone());
    }
    Ok(Value::Map(merged))
}

fn without(args: &[Value]) -> Computed {
    let mut map = args::map(args, 0)?.clone();
    let mut remove = |key: &Value| match Key::of(key) {
        Some(key) => {
            map.remove(&key);
            Ok(())
        }
        None => Err(args::expected("a key", key)),
    };
    match args::any(args, 1)? {
        Value::List(keys) => keys.iter().try_for_each(&mut remove)?,
        key => remove(key)?,
    }
    Ok(Value::Map(map))
}
