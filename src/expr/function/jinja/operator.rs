//! Operators whose meaning for some values is Jinja's: `1 / 2` is a half, `1 + 1.5` goes, `~` joins texts. And functions.

use crate::ast::expr::BinaryOp;
use crate::expr::eval::operator::{Refusal, binary};
use crate::value::{List, MAX_TEXT, Map, TEXT_TOO_LONG, Value};

use super::super::args::Computed;
use super::super::{BuiltinKind, Compute, Row};
use super::print::printed;

/// Longest list that `range` makes, as in an expression.
const MOST_NUMBERS: i64 = 1_000_000;

const NUMBERS: &[&str] = &["(int, int) -> int", "(int | float, int | float) -> float"];

pub(super) const OPERATORS: &[Row] = &[
    sign(
        "+",
        &[
            "(int, int) -> int",
            "(int | float, int | float) -> float",
            "(string, string) -> string",
            "(list<T>, list<T>) -> list<T>",
            "(list<K>, list<K>) -> list<json>",
            "(timestamp, duration) -> timestamp",
            "(duration, timestamp) -> timestamp",
            "(duration, duration) -> duration",
        ],
        add,
    ),
    sign(
        "-",
        &[
            "(int) -> int",
            "(float) -> float",
            "(int, int) -> int",
            "(int | float, int | float) -> float",
            "(timestamp, timestamp) -> duration",
            "(timestamp, duration) -> timestamp",
            "(duration, duration) -> duration",
        ],
        subtract,
    ),
    sign(
        "*",
        &[
            "(int, int) -> int",
            "(int | float, int | float) -> float",
            "(string, int) -> string",
        ],
        multiply,
    ),
    sign("/", &["(int | float, int | float) -> float"], divide),
    sign("//", NUMBERS, |args| {
        numbers(args, |a, b| Some(floor(a, b)?.0), |a, b| (a / b).floor())
    }),
    sign("%", NUMBERS, |args| {
        numbers(
            args,
            |a, b| Some(floor(a, b)?.1),
            |a, b| a - b * (a / b).floor(),
        )
    }),
    sign("**", NUMBERS, power),
    sign("~", &["(K...) -> string"], |args| {
        let texts: Vec<_> = args.iter().map(printed).collect::<Result<_, _>>()?;
        Ok(texts.concat().into())
    }),
    sign(
        "[:]",
        &[
            "(string, int?, int?, int?) -> string",
            "(list<T>, int?, int?, int?) -> list<T>",
        ],
        slice,
    ),
    sign(
        "range()",
        &[
            "(int) -> list<int>",
            "(int, int) -> list<int>",
            "(int, int, int) -> list<int>",
        ],
        range,
    ),
    sign("namespace()", &["(K) -> json"], |args| {
        Ok(args.first().cloned().unwrap_or(Value::Map(Map::new())))
    }),
];

const fn sign(name: &'static str, signatures: &'static [&'static str], compute: Compute) -> Row {
    Row::new(name, BuiltinKind::Function(compute), signatures, "", "")
}

fn two(args: &[Value]) -> Result<(&Value, &Value), String> {
    match args {
        [a, b] => Ok((a, b)),
        _ => Err("two values are expected".to_owned()),
    }
}

fn no_meaning(args: &[Value]) -> String {
    let kinds: Vec<String> = args.iter().map(|v| format!("`{}`", v.kind())).collect();
    format!("it has no meaning for {}", kinds.join(" and "))
}

fn float(value: &Value) -> Option<f64> {
    match value {
        Value::Int(i) => Some(*i as f64),
        Value::Uint(u) => Some(*u as f64),
        Value::Float(f) => Some(*f),
        Value::Bool(b) => Some(f64::from(*b)),
        _ => None,
    }
}

/// A whole number; a bool counts as one, as in Jinja.
pub(super) fn whole(value: &Value) -> Option<i64> {
    match value {
        Value::Int(i) => Some(*i),
        Value::Uint(u) => i64::try_from(*u).ok(),
        Value::Bool(b) => Some(i64::from(*b)),
        _ => None,
    }
}

/// Of whole numbers a whole one, of others a float.
fn numbers(
    args: &[Value],
    int: fn(i64, i64) -> Option<i64>,
    other: fn(f64, f64) -> f64,
) -> Computed {
    let (a, b) = two(args)?;
    if let (Some(a), Some(b)) = (whole(a), whole(b)) {
        let none = || "the number is too large, or a division by zero".to_owned();
        return int(a, b).map(Value::Int).ok_or_else(none);
    }
    match (float(a), float(b)) {
        (Some(a), Some(b)) => Ok(Value::Float(other(a, b))),
        _ => Err(no_meaning(args)),
    }
}

/// What the language's own operator makes of values that Jinja's says nothing of.
fn of_language(args: &[Value], op: BinaryOp) -> Computed {
    let (a, b) = two(args)?;
    binary(op)(a, b).map_err(|refusal| match refusal {
        Refusal::Kinds => no_meaning(args),
        Refusal::Arithmetic(why) | Refusal::TooLong(why) => why.to_owned(),
    })
}

fn add(args: &[Value]) -> Computed {
    match args {
        [Value::String(_), _]
        | [Value::List(_), _]
        | [Value::Timestamp(_) | Value::Duration(_), _] => of_language(args, BinaryOp::Add),
        _ => numbers(args, i64::checked_add, |a, b| a + b),
    }
}

fn subtract(args: &[Value]) -> Computed {
    match args {
        [Value::Float(f)] => Ok(Value::Float(-f)),
        [value] => {
            let negative = whole(value).and_then(i64::checked_neg);
            negative.map(Value::Int).ok_or_else(|| no_meaning(args))
        }
        [Value::Timestamp(_) | Value::Duration(_), _] => of_language(args, BinaryOp::Subtract),
        _ => numbers(args, i64::checked_sub, |a, b| a - b),
    }
}

fn multiply(args: &[Value]) -> Computed {
    match args {
        [Value::String(text), Value::Int(times)] | [Value::Int(times), Value::String(text)] => {
            let times = usize::try_from(*times).unwrap_or(0);
            match text.len().saturating_mul(times) > MAX_TEXT {
                true => Err(TEXT_TOO_LONG.to_owned()),
                false => Ok(text.repeat(times).into()),
            }
        }
        _ => numbers(args, i64::checked_mul, |a, b| a * b),
    }
}

fn divide(args: &[Value]) -> Computed {
    let (a, b) = two(args)?;
    match (float(a), float(b)) {
        (Some(_), Some(0.0)) => Err("division by zero".to_owned()),
        (Some(a), Some(b)) => Ok(Value::Float(a / b)),
        _ => Err(no_meaning(args)),
    }
}

/// Quotient and remainder, rounded down: the remainder has the sign of the divisor.
fn floor(a: i64, b: i64) -> Option<(i64, i64)> {
    let (quotient, remainder) = (a.checked_div(b)?, a.checked_rem(b)?);
    match remainder != 0 && (remainder < 0) != (b < 0) {
        true => Some((quotient.checked_sub(1)?, remainder.checked_add(b)?)),
        false => Some((quotient, remainder)),
    }
}

fn power(args: &[Value]) -> Computed {
    let (a, b) = two(args)?;
    match (whole(a), whole(b)) {
        (Some(a), Some(b)) if b < 0 => match a {
            0 => Err("division by zero".to_owned()),
            a => Ok(Value::Float((a as f64).powf(b as f64))),
        },
        _ => numbers(
            args,
            |a, b| a.checked_pow(u32::try_from(b).ok()?),
            f64::powf,
        ),
    }
}

fn slice(args: &[Value]) -> Computed {
    let bound = |at: usize| match args.get(at) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => whole(value)
            .map(Some)
            .ok_or_else(|| format!("a bound is a whole number, found `{}`", value.kind())),
    };
    let (start, stop, step) = (bound(1)?, bound(2)?, bound(3)?.unwrap_or(1));
    let places = |len: usize| places(len, start, stop, step);
    match args.first() {
        Some(Value::String(text)) => {
            let chars: Vec<char> = text.chars().collect();
            let part = places(chars.len())?.into_iter();
            let part: String = part.filter_map(|at| chars.get(at)).collect();
            Ok(part.into())
        }
        Some(Value::List(list)) => {
            let part = places(list.len())?.into_iter();
            Ok(Value::List(
                part.filter_map(|at| list.get(at).cloned()).collect(),
            ))
        }
        None | Some(Value::Null) => Ok(Value::List(List::new())),
        Some(other) => Err(format!("`{}` has no parts to take", other.kind())),
    }
}

/// The positions of a part, as Python has them.
fn places(
    len: usize,
    start: Option<i64>,
    stop: Option<i64>,
    step: i64,
) -> Result<Vec<usize>, String> {
    let len = len as i64;
    let (least, most) = if step > 0 { (0, len) } else { (-1, len - 1) };
    let bound = |at: i64| if at < 0 { at + len } else { at }.clamp(least, most);
    let (first, last) = match step > 0 {
        true => (0, len),
        false => (len - 1, -1),
    };
    let (mut at, end) = (start.map_or(first, bound), stop.map_or(last, bound));
    if step == 0 {
        return Err("the step of a part is 0".to_owned());
    }
    let mut all = Vec::new();
    while (step > 0 && at < end) || (step < 0 && at > end) {
        all.extend(usize::try_from(at));
        at = at.saturating_add(step);
    }
    Ok(all)
}

fn range(args: &[Value]) -> Computed {
    let numbers: Option<Vec<i64>> = args.iter().map(whole).collect();
    let (from, to, step) = match numbers.as_deref() {
        Some([to]) => (0, *to, 1),
        Some([from, to]) => (*from, *to, 1),
        Some([from, to, step]) => (*from, *to, *step),
        _ => return Err("whole numbers are expected".to_owned()),
    };
    if step == 0 {
        return Err("the step of `range` is 0".to_owned());
    }
    let distance = if step > 0 {
        to.saturating_sub(from)
    } else {
        from.saturating_sub(to)
    };
    let count = (distance.max(0) as u64).div_ceil(step.unsigned_abs());
    if count > MOST_NUMBERS as u64 {
        return Err(format!("`range` gives at most {MOST_NUMBERS} numbers"));
    }
    let all = (0..count as i64).map(|at| Value::Int(from + at * step));
    Ok(Value::List(all.collect()))
}
