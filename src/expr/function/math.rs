//! `math.*` of one number: rounding, sign, what kind of float it is. CEL's math extension.

use crate::value::Value;

use super::Row;
use super::args::{self, Computed};

pub(super) const FUNCTIONS: &[Row] = &[
    Row::global(
        "math.ceil",
        FLOAT,
        |args| rounded(args, f64::ceil),
        "The least whole number that is not below the given one, as a `float`.",
        "math.ceil(1.2) == 2.0",
    )
    .quick(),
    Row::global(
        "math.floor",
        FLOAT,
        |args| rounded(args, f64::floor),
        "The greatest whole number that is not above the given one, as a `float`.",
        "math.floor(-1.2) == -2.0",
    )
    .quick(),
    Row::global(
        "math.round",
        FLOAT,
        |args| rounded(args, f64::round),
        "The nearest whole number, as a `float`; a half goes away from zero.",
        "math.round(-1.5) == -2.0",
    )
    .quick(),
    Row::global(
        "math.trunc",
        FLOAT,
        |args| rounded(args, f64::trunc),
        "The number without its fraction, as a `float`.",
        "math.trunc(-1.7) == -1.0",
    )
    .quick(),
    Row::global(
        "math.sqrt",
        &["(float) -> float", "(int) -> float", "(uint) -> float"],
        square_root,
        "The square root; NaN of a negative number.",
        "math.sqrt(81) == 9.0",
    )
    .quick(),
    Row::global(
        "math.abs",
        SAME,
        magnitude,
        "The number without its sign; an error where there is no such `int`.",
        "math.abs(-3) == 3",
    )
    .quick(),
    Row::global(
        "math.sign",
        SAME,
        sign,
        "-1, 0 or 1, of the number's type.",
        "math.sign(-32.5) == -1.0",
    )
    .quick(),
    Row::global(
        "math.isNaN",
        TEST,
        |args| test(args, f64::is_nan),
        "Whether the `float` is not a number, as `0.0 / 0.0` is.",
        "math.isNaN(0.0 / 0.0)",
    )
    .quick(),
    Row::global(
        "math.isInf",
        TEST,
        |args| test(args, f64::is_infinite),
        "Whether the `float` is infinite.",
        "math.isInf(-1.0 / 0.0)",
    )
    .quick(),
    Row::global(
        "math.isFinite",
        TEST,
        |args| test(args, f64::is_finite),
        "Whether the `float` is a number and not infinite.",
        "math.isFinite(1.5)",
    )
    .quick(),
];

const FLOAT: &[&str] = &["(float) -> float"];
const SAME: &[&str] = &["(int) -> int", "(float) -> float", "(uint) -> uint"];
const TEST: &[&str] = &["(float) -> bool"];

fn float(args: &[Value]) -> Result<f64, String> {
    match args::any(args, 0)? {
        Value::Float(float) => Ok(*float),
        other => Err(args::expected("a `float`", other)),
    }
}

fn rounded(args: &[Value], round: fn(f64) -> f64) -> Computed {
    float(args).map(|float| Value::Float(round(float)))
}

fn test(args: &[Value], holds: fn(f64) -> bool) -> Computed {
    float(args).map(|float| Value::Bool(holds(float)))
}

fn square_root(args: &[Value]) -> Computed {
    let number = match args::any(args, 0)? {
        Value::Float(float) => *float,
        Value::Int(int) => *int as f64,
        Value::Uint(uint) => *uint as f64,
        other => return Err(args::expected("a number", other)),
    };
    Ok(Value::Float(number.sqrt()))
}

fn magnitude(args: &[Value]) -> Computed {
    match args::any(args, 0)? {
        Value::Float(float) => Ok(Value::Float(float.abs())),
        Value::Int(int) => int
            .checked_abs()
            .map(Value::Int)
            .ok_or_else(|| format!("`{int}` has no `int` without its sign")),
        Value::Uint(uint) => Ok(Value::Uint(*uint)),
        other => Err(args::expected("a number", other)),
    }
}

fn sign(args: &[Value]) -> Computed {
    match args::any(args, 0)? {
        // Zero has a sign of its own, and NaN has none.
        Value::Float(float) if *float == 0.0 || float.is_nan() => Ok(Value::Float(*float)),
        Value::Float(float) => Ok(Value::Float(float.signum())),
        Value::Int(int) => Ok(Value::Int(int.signum())),
        Value::Uint(uint) => Ok(Value::Uint((*uint).min(1))),
        other => Err(args::expected("a number", other)),
    }
}
