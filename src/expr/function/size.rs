//! `size`, as function and as method.

use crate::value::Value;

use super::args::{self, Computed};
use super::{Carries, Row};

const SIGNATURES: &[&str] = &[
    "(string) -> int",
    "(bytes) -> int",
    "(list<T>) -> int",
    "(map<T>) -> int",
];
const DOC: &str =
    "How many characters a text has, bytes a `bytes`, elements a list, entries a map.";

pub(super) const FUNCTIONS: &[Row] = &[
    Row::global("size", SIGNATURES, size, DOC, r#"size("naïve") == 5"#)
        .carries(Carries::Nothing)
        .quick(),
    Row::method("size", SIGNATURES, size, DOC, "[1, 2].size() == 2")
        .carries(Carries::Nothing)
        .quick(),
];

pub(super) fn size(args: &[Value]) -> Computed {
    let size = match args::any(args, 0)? {
        Value::String(text) => text.chars().count(),
        Value::Bytes(bytes) => bytes.len(),
        Value::List(list) => list.len(),
        Value::Map(map) => map.len(),
        other => return Err(args::expected("a text, list or map", other)),
    };
    Ok(Value::Int(i64::try_from(size).unwrap_or(i64::MAX)))
}
