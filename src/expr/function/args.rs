//! Reading arguments: each reader gives the argument at a position as one kind of value, or says
//! which kind is expected and which is there.

use crate::value::{List, Map, Str, Value};

pub(super) type Computed = Result<Value, String>;

fn at(args: &[Value], index: usize) -> Result<&Value, String> {
    args.get(index)
        .ok_or_else(|| format!("argument {} is missing", index + 1))
}

pub(super) fn any(args: &[Value], index: usize) -> Result<&Value, String> {
    at(args, index)
}

pub(super) fn text(args: &[Value], index: usize) -> Result<&Str, String> {
    match at(args, index)? {
        Value::String(text) => Ok(text),
        other => Err(expected("a `string`", other)),
    }
}

pub(super) fn list(args: &[Value], index: usize) -> Result<&List, String> {
    match at(args, index)? {
        Value::List(list) => Ok(list),
        other => Err(expected("a list", other)),
    }
}

pub(super) fn map(args: &[Value], index: usize) -> Result<&Map, String> {
    match at(args, index)? {
        Value::Map(map) => Ok(map),
        other => Err(expected("a map", other)),
    }
}

pub(super) fn int(args: &[Value], index: usize) -> Result<i64, String> {
    match at(args, index)? {
        Value::Int(int) => Ok(*int),
        Value::Uint(uint) => i64::try_from(*uint).map_err(|_| "the number is too large".into()),
        other => Err(expected("an `int`", other)),
    }
}

/// A count or position: an `int` of at least 0.
pub(super) fn count(args: &[Value], index: usize) -> Result<usize, String> {
    let int = int(args, index)?;
    usize::try_from(int).map_err(|_| format!("`{int}` is negative"))
}

pub(super) fn expected(what: &str, found: &Value) -> String {
    format!("{what} is expected, found `{}`", found.kind())
}
