//! `+ - * / %`.
//!
//! Both operands must be of one kind: CEL has no implicit conversion between `int` and `float`.

use std::sync::Arc;

use crate::expr::function::time;
use crate::value::{MAX_TEXT, TEXT_TOO_LONG, Value};

use super::{Computed, Refusal};

const INT: Refusal = Refusal::Arithmetic("`int` overflow");
const UINT: Refusal = Refusal::Arithmetic("`uint` overflow");
const TIME: Refusal = Refusal::Arithmetic("the `timestamp` is out of range");
const SPAN: Refusal = Refusal::Arithmetic("the `duration` is out of range");

fn int(result: Option<i64>) -> Computed {
    result.map(Value::Int).ok_or(INT)
}

fn uint(result: Option<u64>) -> Computed {
    result.map(Value::Uint).ok_or(UINT)
}

fn timestamp(result: Option<jiff::Timestamp>) -> Computed {
    result
        .filter(|t| time::in_range(*t))
        .map(Value::Timestamp)
        .ok_or(TIME)
}

fn duration(result: Option<jiff::SignedDuration>) -> Computed {
    result
        .filter(|d| time::duration_in_range(*d))
        .map(Value::Duration)
        .ok_or(SPAN)
}

pub(super) fn add(left: &Value, right: &Value) -> Computed {
    match (left, right) {
        (Value::Int(a), Value::Int(b)) => int(a.checked_add(*b)),
        (Value::Uint(a), Value::Uint(b)) => uint(a.checked_add(*b)),
        (Value::Float(a), Value::Float(b)) => Ok(Value::Float(a + b)),
        (Value::String(a), Value::String(b)) => match a.len() + b.len() > MAX_TEXT {
            true => Err(Refusal::TooLong(TEXT_TOO_LONG)),
            false => Ok(Value::String([&**a, &**b].concat().into())),
        },
        (Value::Bytes(a), Value::Bytes(b)) => match a.len() + b.len() > MAX_TEXT {
            true => Err(Refusal::TooLong("there are more than 16 MiB of bytes")),
            false => Ok(Value::Bytes(Arc::from([&**a, &**b].concat()))),
        },
        (Value::List(a), Value::List(b)) if a.is_empty() => Ok(Value::List(b.clone())),
        (Value::List(a), Value::List(b)) => {
            let mut list = a.clone();
            list.extend(b.iter().cloned());
            Ok(Value::List(list))
        }
        (Value::Timestamp(t), Value::Duration(d)) | (Value::Duration(d), Value::Timestamp(t)) => {
            timestamp(t.checked_add(*d).ok())
        }
        (Value::Duration(a), Value::Duration(b)) => duration(a.checked_add(*b)),
        _ => Err(Refusal::Kinds),
    }
}

pub(super) fn subtract(left: &Value, right: &Value) -> Computed {
    match (left, right) {
        (Value::Int(a), Value::Int(b)) => int(a.checked_sub(*b)),
        (Value::Uint(a), Value::Uint(b)) => uint(a.checked_sub(*b)),
        (Value::Float(a), Value::Float(b)) => Ok(Value::Float(a - b)),
        (Value::Timestamp(a), Value::Timestamp(b)) => duration(Some(a.duration_since(*b))),
        (Value::Timestamp(t), Value::Duration(d)) => timestamp(t.checked_sub(*d).ok()),
        (Value::Duration(a), Value::Duration(b)) => duration(a.checked_sub(*b)),
        _ => Err(Refusal::Kinds),
    }
}

pub(super) fn multiply(left: &Value, right: &Value) -> Computed {
    match (left, right) {
        (Value::Int(a), Value::Int(b)) => int(a.checked_mul(*b)),
        (Value::Uint(a), Value::Uint(b)) => uint(a.checked_mul(*b)),
        (Value::Float(a), Value::Float(b)) => Ok(Value::Float(a * b)),
        _ => Err(Refusal::Kinds),
    }
}

pub(super) fn divide(left: &Value, right: &Value) -> Computed {
    match (left, right) {
        (Value::Int(_), Value::Int(0)) | (Value::Uint(_), Value::Uint(0)) => {
            Err(Refusal::Arithmetic("division by zero"))
        }
        (Value::Int(a), Value::Int(b)) => int(a.checked_div(*b)),
        (Value::Uint(a), Value::Uint(b)) => uint(a.checked_div(*b)),
        (Value::Float(a), Value::Float(b)) => Ok(Value::Float(a / b)),
        _ => Err(Refusal::Kinds),
    }
}

pub(super) fn modulo(left: &Value, right: &Value) -> Computed {
    match (left, right) {
        (Value::Int(_), Value::Int(0)) | (Value::Uint(_), Value::Uint(0)) => {
            Err(Refusal::Arithmetic("modulo by zero"))
        }
        (Value::Int(a), Value::Int(b)) => int(a.checked_rem(*b)),
        (Value::Uint(a), Value::Uint(b)) => uint(a.checked_rem(*b)),
        _ => Err(Refusal::Kinds),
    }
}

pub(super) fn negate(value: &Value) -> Computed {
    match value {
        Value::Int(a) => int(a.checked_neg()),
        Value::Float(a) => Ok(Value::Float(-a)),
        Value::Duration(a) => duration(a.checked_neg()),
        _ => Err(Refusal::Kinds),
    }
}
