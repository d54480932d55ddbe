//! Filters of numbers.

use crate::value::Value;

use super::super::args::{self, Computed};
use super::list::text_or;
use super::operator::whole;
use super::{Filter, filter};

pub(super) const FILTERS: &[Filter] = &[
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
        &["(int | float | bool | string, int?, int?) -> int"],
        |args| converted(args, int),
        "A whole number; `default` is for a text that is none.",
    )
    .params(0, &["default", "base"]),
    filter(
        "|float",
        &["(int | float | bool | string, int | float?) -> float"],
        |args| converted(args, float),
        "A number with a fraction; `default` is for a text that is none.",
    )
    .params(0, &["default"]),
    filter(
        "|round",
        &[
            "(int, int?, string?) -> int",
            "(float, int?, string?) -> float",
        ],
        round,
        "Rounded to so many digits; `method` may be `\"ceil\"` or `\"floor\"`.",
    )
    .params(0, &["precision", "method"]),
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
        Value::String(text) => {
            let base = match args.get(2) {
                None | Some(Value::Null) => 10,
                Some(_) => u32::try_from(args::count(args, 2)?).unwrap_or(0),
            };
            if !(2..=36).contains(&base) {
                return Err("a base is a number from 2 to 36".to_owned());
            }
            let prefix = match base {
                2 => "0b",
                8 => "0o",
                16 => "0x",
                _ => "",
            };
            let (sign, digits) = match text.strip_prefix('-') {
                Some(digits) => ("-", digits),
                None => ("", text.strip_prefix('+').unwrap_or(text)),
            };
            let digits = digits.strip_prefix(prefix).unwrap_or(digits);
            match i64::from_str_radix(&format!("{sign}{digits}"), base) {
                Ok(int) => Ok(Value::Int(int)),
                Err(_) => match text.parse() {
                    Ok(float) => truncated(float),
                    Err(_) => Err("the text is no number".to_owned()),
                },
            }
        }
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
