//! `math.bit*`: the bits of whole numbers. CEL's math extension.

use crate::value::Value;

use super::Row;
use super::args::{self, Computed};

pub(super) const FUNCTIONS: &[Row] = &[
    Row::global(
        "math.bitAnd",
        TWO,
        |args| combined(args, |a, b| a & b),
        "The bits that both numbers have.",
        "math.bitAnd(6, 3) == 2",
    )
    .quick(),
    Row::global(
        "math.bitOr",
        TWO,
        |args| combined(args, |a, b| a | b),
        "The bits that one of the numbers has, or both.",
        "math.bitOr(6, 3) == 7",
    )
    .quick(),
    Row::global(
        "math.bitXor",
        TWO,
        |args| combined(args, |a, b| a ^ b),
        "The bits that one of the numbers has, and not both.",
        "math.bitXor(6, 3) == 5",
    )
    .quick(),
    Row::global(
        "math.bitNot",
        &["(int) -> int", "(uint) -> uint"],
        inverted,
        "All bits the other way.",
        "math.bitNot(1) == -2",
    )
    .quick(),
    Row::global(
        "math.bitShiftLeft",
        SHIFT,
        |args| shifted(args, u64::checked_shl),
        "The bits moved to the left by so many places; 0 where that is 64 or more.",
        "math.bitShiftLeft(1, 4) == 16",
    )
    .quick(),
    Row::global(
        "math.bitShiftRight",
        SHIFT,
        |args| shifted(args, u64::checked_shr),
        "The bits moved to the right by so many places, with zeros from the left, for negative numbers too.",
        "math.bitShiftRight(1024, 2) == 256",
    )
    .quick(),
];

const TWO: &[&str] = &["(int, int) -> int", "(uint, uint) -> uint"];
const SHIFT: &[&str] = &["(int, int) -> int", "(uint, int) -> uint"];

fn combined(args: &[Value], combine: fn(u64, u64) -> u64) -> Computed {
    match (args::any(args, 0)?, args::any(args, 1)?) {
        (Value::Int(a), Value::Int(b)) => Ok(Value::Int(
            combine(a.cast_unsigned(), b.cast_unsigned()).cast_signed(),
        )),
        (Value::Uint(a), Value::Uint(b)) => Ok(Value::Uint(combine(*a, *b))),
        (a, b) => Err(format!(
            "two numbers of the kind `int` or `uint` are expected, found `{}` and `{}`",
            a.kind(),
            b.kind()
        )),
    }
}

fn inverted(args: &[Value]) -> Computed {
    match args::any(args, 0)? {
        Value::Int(int) => Ok(Value::Int(!int)),
        Value::Uint(uint) => Ok(Value::Uint(!uint)),
        other => Err(args::expected("an `int` or a `uint`", other)),
    }
}

fn shifted(args: &[Value], shift: fn(u64, u32) -> Option<u64>) -> Computed {
    let places = args::int(args, 1)?;
    if places < 0 {
        return Err(format!("the bits can't be moved by `{places}` places"));
    }
    let moved = |bits: u64| {
        let places = u32::try_from(places).ok();
        places.and_then(|places| shift(bits, places)).unwrap_or(0)
    };
    match args::any(args, 0)? {
        Value::Int(int) => Ok(Value::Int(moved(int.cast_unsigned()).cast_signed())),
        Value::Uint(uint) => Ok(Value::Uint(moved(*uint))),
        other => Err(args::expected("an `int` or a `uint`", other)),
    }
}
