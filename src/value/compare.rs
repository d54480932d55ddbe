//! Equality and order as CEL has them: numbers of all kinds lie on one line.

use std::cmp::Ordering;

use super::{List, Map, Value};

/// Values of different kinds are unequal, numbers apart: `1 == 1u` and `1 == 1.0` hold, NaN equals
/// nothing. Numbers are compared exactly: `9007199254740993` is not `9007199254740992.0`.
impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Value::Null, Value::Null) => true,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::String(a), Value::String(b)) => a == b,
            (Value::Bytes(a), Value::Bytes(b)) => a == b,
            (Value::Timestamp(a), Value::Timestamp(b)) => a == b,
            (Value::Duration(a), Value::Duration(b)) => a == b,
            (Value::List(a), Value::List(b)) => a == b,
            (Value::Map(a), Value::Map(b)) => a == b,
            (Value::Optional(a), Value::Optional(b)) => a == b,
            (Value::Type(a), Value::Type(b)) => a == b,
            (a, b) => {
                a.is_number() && b.is_number() && compare_exact(a, b) == Some(Ordering::Equal)
            }
        }
    }
}

impl PartialEq for List {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

/// Keys are compared as keys: `{1: "a"} == {1u: "a"}`.
impl PartialEq for Map {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

impl Value {
    /// Order as by CEL's `<`: of two numbers, texts, bytes, bools, timestamps or durations.
    /// `None` for other pairs, and where a number is NaN.
    pub fn compare(&self, other: &Value) -> Option<Ordering> {
        match (self, other) {
            (Value::Bool(a), Value::Bool(b)) => Some(a.cmp(b)),
            (Value::String(a), Value::String(b)) => Some(a.cmp(b)),
            (Value::Bytes(a), Value::Bytes(b)) => Some(a.cmp(b)),
            (Value::Timestamp(a), Value::Timestamp(b)) => Some(a.cmp(b)),
            (Value::Duration(a), Value::Duration(b)) => Some(a.cmp(b)),
            (a, b) if a.is_number() && b.is_number() => compare_numbers(a, b),
            _ => None,
        }
    }

    /// A total order of all values: numbers by what they are exactly, NaN after them, everything else
    /// as by `<` and `==`. What comes first of two kinds means nothing. This is what to sort by.
    pub fn compare_any(&self, other: &Value) -> Ordering {
        match (self, other) {
            (Value::List(a), Value::List(b)) => {
                let length = a.len().cmp(&b.len());
                let pairs = a.iter().zip(b.iter());
                length.then_with(|| first_unequal(pairs.map(|(a, b)| a.compare_any(b))))
            }
            (Value::Map(a), Value::Map(b)) => {
                let length = a.len().cmp(&b.len());
                let pairs = a.iter().zip(b.iter());
                let orders = pairs.map(|(a, b)| a.0.cmp(b.0).then_with(|| a.1.compare_any(b.1)));
                length.then_with(|| first_unequal(orders))
            }
            (Value::Optional(Some(a)), Value::Optional(Some(b))) => a.compare_any(b),
            (Value::Optional(a), Value::Optional(b)) => a.is_some().cmp(&b.is_some()),
            (Value::Type(a), Value::Type(b)) => a.cmp(b),
            (a, b) if a.is_number() && b.is_number() => {
                compare_exact(a, b).unwrap_or_else(|| a.rank().cmp(&b.rank()))
            }
            (a, b) => a.compare(b).unwrap_or_else(|| a.rank().cmp(&b.rank())),
        }
    }

    /// Position of the kind in [`Value::compare_any`].
    fn rank(&self) -> u8 {
        match self {
            Value::Null => 0,
            Value::Bool(_) => 1,
            Value::Float(f) if f.is_nan() => 3,
            Value::Int(_) | Value::Uint(_) | Value::Float(_) => 2,
            Value::String(_) => 4,
            Value::Bytes(_) => 5,
            Value::Timestamp(_) => 6,
            Value::Duration(_) => 7,
            Value::List(_) => 8,
            Value::Map(_) => 9,
            Value::Optional(_) => 10,
            Value::Type(_) => 11,
        }
    }

    /// Whether it is an `int`, `uint` or `float`.
    pub fn is_number(&self) -> bool {
        matches!(self, Value::Int(_) | Value::Uint(_) | Value::Float(_))
    }
}

/// Exact, but for floats beyond the integers of the other side's kind: there CEL's cases compare as floats,
/// so that `9223372036854775807 < 9223372036854775808.0` does not hold.
fn compare_numbers(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
        (Value::Float(float), other) if is_beyond(*float, other) => {
            float.partial_cmp(&as_float(other)?)
        }
        (other, Value::Float(float)) if is_beyond(*float, other) => {
            as_float(other)?.partial_cmp(float)
        }
        (a, b) => compare_exact(a, b),
    }
}

/// Whether no number of the integer's kind is as great as the float.
fn is_beyond(float: f64, integer: &Value) -> bool {
    match integer {
        Value::Int(_) => float >= i64::MAX as f64,
        Value::Uint(_) => float >= u64::MAX as f64,
        _ => false,
    }
}

/// Exact, so that it is transitive. `None` where one is NaN.
fn compare_exact(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::Float(a), Value::Float(b)) => a.partial_cmp(b),
        (Value::Float(a), b) => compare_float(*a, integer(b)?),
        (a, Value::Float(b)) => compare_float(*b, integer(a)?).map(Ordering::reverse),
        (a, b) => Some(integer(a)?.cmp(&integer(b)?)),
    }
}

fn as_float(integer: &Value) -> Option<f64> {
    match integer {
        Value::Int(i) => Some(*i as f64),
        Value::Uint(u) => Some(*u as f64),
        _ => None,
    }
}

fn integer(value: &Value) -> Option<i128> {
    match value {
        Value::Int(i) => Some(i128::from(*i)),
        Value::Uint(u) => Some(i128::from(*u)),
        _ => None,
    }
}

/// Exact, also where the integer has no float of its own: the float's whole part is compared as
/// an integer (infinities saturate beyond every int and uint), then its fraction decides.
fn compare_float(float: f64, integer: i128) -> Option<Ordering> {
    if float.is_nan() {
        return None;
    }
    let whole = float.trunc();
    let fraction = float - whole;
    Some(match (whole as i128).cmp(&integer) {
        Ordering::Equal if fraction > 0.0 => Ordering::Greater,
        Ordering::Equal if fraction < 0.0 => Ordering::Less,
        order => order,
    })
}

fn first_unequal(mut orders: impl Iterator<Item = Ordering>) -> Ordering {
    orders
        .find(|order| order.is_ne())
        .unwrap_or(Ordering::Equal)
}
