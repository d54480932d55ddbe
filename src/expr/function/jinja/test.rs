//! Tests: `x is odd`. What has no value fails all of them but `undefined`.

use crate::value::Value;

use super::super::args::{self, Computed};
use super::super::{Compute, Row};
use super::list::elements;
use super::operator::whole;
use super::print::printed;

pub(super) const TESTS: &[Row] = &[
    test("is boolean", |args| {
        holds(args, |v| matches!(v, Value::Bool(_)))
    }),
    test("is defined", |args| holds(args, |v| !v.is_null())),
    compared("is divisibleby", |args| {
        let (a, b) = (args::any(args, 0)?, args::any(args, 1)?);
        Ok(Value::Bool(match (whole(a), whole(b)) {
            (Some(a), Some(b)) => a.checked_rem(b) == Some(0),
            _ => false,
        }))
    }),
    compared("is endingwith", |args| texts(args, |a, b| a.ends_with(b))),
    compared("is eq", |args| Ok(Value::Bool(args.first() == args.get(1)))),
    test("is even", |args| {
        holds(args, |v| whole(v).is_some_and(|n| n % 2 == 0))
    }),
    test("is false", |args| {
        holds(args, |v| matches!(v, Value::Bool(false)))
    }),
    test("is float", |args| {
        holds(args, |v| matches!(v, Value::Float(_)))
    }),
    compared("is ge", |args| order(args, |o| o.is_ge())),
    compared("is gt", |args| order(args, |o| o.is_gt())),
    compared("is in", |args| {
        Ok(Value::Bool(
            contains(args::any(args, 1)?, args::any(args, 0)?).unwrap_or(false),
        ))
    }),
    test("is integer", |args| {
        holds(args, |v| matches!(v, Value::Int(_) | Value::Uint(_)))
    }),
    test("is iterable", |args| holds(args, |v| elements(v).is_ok())),
    compared("is le", |args| order(args, |o| o.is_le())),
    test("is lower", |args| {
        holds(args, |v| {
            cased(v, |c| c.is_lowercase(), |c| c.is_uppercase())
        })
    }),
    compared("is lt", |args| order(args, |o| o.is_lt())),
    test("is mapping", |args| {
        holds(args, |v| matches!(v, Value::Map(_)))
    }),
    compared("is ne", |args| Ok(Value::Bool(args.first() != args.get(1)))),
    test("is none", |args| holds(args, Value::is_null)),
    test("is number", |args| {
        holds(args, |v| v.is_number() || matches!(v, Value::Bool(_)))
    }),
    test("is odd", |args| {
        holds(args, |v| whole(v).is_some_and(|n| n % 2 != 0))
    }),
    compared("is sameas", |args| {
        let (a, b) = (args::any(args, 0)?, args::any(args, 1)?);
        Ok(Value::Bool(a.kind() == b.kind() && a == b))
    }),
    test("is sequence", |args| {
        holds(args, |v| matches!(v, Value::List(_)))
    }),
    compared("is startingwith", |args| {
        texts(args, |a, b| a.starts_with(b))
    }),
    test("is string", |args| {
        holds(args, |v| {
            matches!(
                v,
                Value::String(_) | Value::Timestamp(_) | Value::Duration(_)
            )
        })
    }),
    test("is true", |args| {
        holds(args, |v| matches!(v, Value::Bool(true)))
    }),
    test("is undefined", |args| holds(args, Value::is_null)),
    test("is upper", |args| {
        holds(args, |v| {
            cased(v, |c| c.is_uppercase(), |c| c.is_lowercase())
        })
    }),
];

/// Other names of tests, and what they are here.
pub const SAME: &[(&str, &str)] = &[
    ("!=", "ne"),
    ("<", "lt"),
    ("<=", "le"),
    ("==", "eq"),
    (">", "gt"),
    (">=", "ge"),
    ("equalto", "eq"),
    ("greaterthan", "gt"),
    ("int", "integer"),
    ("lessthan", "lt"),
];

const fn compared(name: &'static str, compute: Compute) -> Row {
    Row::method(name, &["(K?, K?) -> bool"], compute, "", "").quick()
}

const fn test(name: &'static str, compute: Compute) -> Row {
    Row::method(name, &["(K?) -> bool"], compute, "", "").quick()
}

fn holds(args: &[Value], holds: impl Fn(&Value) -> bool) -> Computed {
    Ok(Value::Bool(holds(args::any(args, 0)?)))
}

fn texts(args: &[Value], holds: fn(&str, &str) -> bool) -> Computed {
    let (a, b) = (printed(args::any(args, 0)?)?, printed(args::any(args, 1)?)?);
    Ok(Value::Bool(holds(&a, &b)))
}

fn order(args: &[Value], holds: fn(std::cmp::Ordering) -> bool) -> Computed {
    let (a, b) = (args::any(args, 0)?, args::any(args, 1)?);
    Ok(Value::Bool(a.compare(b).is_some_and(holds)))
}

/// Whether a value is in another: an element of a list, a key of a map, a part of a text.
///
/// # Errors
/// Where nothing can be in it.
pub fn contains(container: &Value, value: &Value) -> Result<bool, String> {
    match container {
        Value::String(text) => Ok(text.contains(&*printed(value)?)),
        Value::List(list) => Ok(list.iter().any(|other| other == value)),
        Value::Map(map) => {
            Ok(crate::value::Key::of(value).is_some_and(|key| map.get_key(&key).is_some()))
        }
        other => Err(format!("nothing is in `{}`", other.kind())),
    }
}

fn cased(value: &Value, wanted: fn(char) -> bool, other: fn(char) -> bool) -> bool {
    let text = value.as_str().unwrap_or_default();
    text.chars().any(wanted) && !text.chars().any(other)
}
