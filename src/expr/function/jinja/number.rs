//! Filters of numbers.

use crate::value::Value;

use super::super::Row;
use super::super::args::{self, Computed};
use super::filter;
use super::list::text_or;
use super::operator::whole;

pub(super) const FILTERS: &[Row] = &[
    filter(
        "|abs",
        &["(int) -> int", "(float) -> float"],
        |args| match args::any(args, 0)? {
            Value::Float(float) => Ok(Value::Float(float.abs())),
            value => {
                let int = whole(value).ok_or_else(|| args::expected("a number", value))?;
                int.checked_abs()
                    .map(Value::Int)
                    .ok_or_else(|| "the number is too large".into())
            }
        },
        "The number without its sign.",
    ),
    filter(
        "|int",
        &["(int | float | bool | string, int?) -> int"],
        |args| converted(args, int),
        "A whole number; `default` is for a text that is none.",
    )
    .named(&["default"]),
    filter(
        "|float",
        &["(int | float | bool | string, int | float?) -> float"],
        |args| converted(args, float),
        "A number with a fraction; `default` is for a text that is none.",
    )
    .named(&["default"]),
    filter(
        "|round",
        &[
            "(int, int?, string?) -> int",
            "(float, int?, string?) -> float",
        ],
        round,
        "Rounded to so many digits; `method` may be `\"ceil\"` or `\"floor\"`.",
    )
    .named(&["precision", "method"]),
];

fn converted(args: &[Value], convert: fn(&[Value]) -> Computed) -> Computed {
    let default = args.get(1).filter(|default| !default.is_null());
    match (convert(args), default) {
        (Err(_), Some(default)) => Ok(default.clone()),
        (converted, _) => converted,
    }
}

fn int(args: &[Value]) -> Computed {
    let truncated = |float: f64| match (i64::MIN as f64..i64::MAX as f64).contains(&float) {
        true => Ok(Value::Int(float as i64)),
        false => Err("the number is too large".to_owned()),
    };
    match args::any(args, 0)? {
        Value::Float(float) => truncated(*float),
        Value::String(text) => match (text.parse(), text.parse()) {
            (Ok(int), _) => Ok(Value::Int(int)),
            (_, Ok(float)) => truncated(float),
            _ => Err("the text is no number".to_owned()),
        },
        value => {
            let int = whole(value).map(Value::Int);
            int.ok_or_else(|| args::expected("a number or a text", value))
        }
    }
}

fn float(args: &[Value]) -> Computed {
    match args::any(args, 0)? {
        Value::Float(float) => Ok(Value::Float(*float)),
        Value::String(text) => {
            let float = text.parse().map(Value::Float);
            float.map_err(|_| "the text is no number".to_owned())
        }
        value => {
            let int = whole(value).map(|int| Value::Float(int as f64));
            int.ok_or_else(|| args::expected("a number or a text", value))
        }
    }
}

fn round(args: &[Value]) -> Computed {
    let precision = match args.get(1) {
        None | Some(Value::Null) => 0,
        Some(_) => args::int(args, 1)?.clamp(-400, 400),
    };
    let method = text_or(args, 2, "common")?;
    let value = args::any(args, 0)?;
    let number = match value {
        Value::Float(float) => *float,
        value => {
            let int = whole(value).ok_or_else(|| args::expected("a number", value))?;
            if precision >= 0 {
                return Ok(Value::Int(int));
            }
            int as f64
        }
    };
    let factor = 10_f64.powi(precision as i32);
    let rounded = match method {
        // Written out, half goes to the even digit, as in Python.
        "common" if precision >= 0 => {
            let written = format!("{number:.*}", precision as usize);
            written.parse().unwrap_or(number)
        }
        "common" => (number * factor).round_ties_even() / factor,
        "ceil" => (number * factor).ceil() / factor,
        "floor" => (number * factor).floor() / factor,
        _ => return Err("`method` is \"common\", \"ceil\" or \"floor\"".to_owned()),
    };
    let rounded = if rounded.is_finite() { rounded } else { number };
    Ok(match value {
        Value::Float(_) => Value::Float(rounded),
        _ => Value::Int(rounded as i64),
    })
}
