//! `a[i]`, `a[?i]`.

use crate::ast::expr::Expr;
use crate::base::Span;
use crate::expr::function::optional::present;
use crate::value::{Key, List, Map, Value};

use super::compiler::Compiler;
use super::machine::{Evaluated, Node, node};
use super::{CompileError, ErrorKind, EvalError, brief};

pub(super) fn compile(
    compiler: &mut Compiler<'_>,
    span: Span,
    operand: &Expr,
    index: &Expr,
    optional: bool,
) -> Result<Node, CompileError> {
    let operand = compiler.node(operand)?;
    let index = compiler.node(index)?;
    if optional {
        // None where there is no such element, as with `.?`.
        return node(move |machine| {
            let operand = operand.eval(machine)?;
            let index = index.eval(machine)?;
            lookup(Some(&operand), &index, span)
        });
    }
    node(move |machine| {
        let operand = operand.eval(machine)?;
        let index = index.eval(machine)?;
        match &operand {
            Value::Map(map) => map_entry(map, &index).cloned().ok_or_else(|| {
                let key = format!("`{}`", brief(&index));
                EvalError::about(span, ErrorKind::NoSuchKey, "no such key", key)
            }),
            Value::List(list) => {
                let place = position(&index, span)?;
                let element = list_element(list, place).cloned();
                element.ok_or_else(|| out_of_range(list, place, span))
            }
            Value::Optional(inner) => lookup(inner.as_deref(), &index, span),
            other => Err(not_indexed(other, span)),
        }
    })
}

fn lookup(operand: Option<&Value>, index: &Value, span: Span) -> Evaluated {
    match operand {
        None | Some(Value::Null) => Ok(Value::Optional(None)),
        Some(Value::Map(map)) => Ok(present(map_entry(map, index))),
        Some(Value::List(list)) => Ok(present(list_element(list, position(index, span)?))),
        Some(Value::Optional(inner)) => lookup(inner.as_deref(), index, span),
        Some(other) => Err(not_indexed(other, span)),
    }
}

fn map_entry<'a>(map: &'a Map, index: &Value) -> Option<&'a Value> {
    match index {
        Value::String(text) => map.get(text),
        other => map.get_key(&Key::of(other)?),
    }
}

fn list_element(list: &List, place: i128) -> Option<&Value> {
    list.get(usize::try_from(place).ok()?)
}

/// The position that an index stands for: an int, a uint, or a float without a fraction.
fn position(index: &Value, span: Span) -> Result<i128, Box<EvalError>> {
    match index {
        Value::Int(i) => Ok(i128::from(*i)),
        Value::Uint(u) => Ok(i128::from(*u)),
        Value::Float(f) if f.fract() == 0.0 => Ok(*f as i128),
        Value::Float(f) => Err(EvalError::wrong_kind(
            span,
            format!("a list is indexed by whole numbers, found `{f:?}`"),
        )),
        other => Err(EvalError::wrong_kind(
            span,
            format!("a list is indexed by an `int`, found `{}`", other.kind()),
        )),
    }
}

fn out_of_range(list: &List, place: i128, span: Span) -> Box<EvalError> {
    let message = match list.len() {
        0 => format!("index {place} is out of range: the list is empty"),
        1 => format!("index {place} is out of range: the list has 1 element, at 0"),
        len => format!("index {place} is out of range: the list has {len} elements, from 0"),
    };
    EvalError::boxed(span, ErrorKind::NoSuchIndex, message)
}

fn not_indexed(value: &Value, span: Span) -> Box<EvalError> {
    let message = match value {
        Value::Null => "an element is read of null".to_owned(),
        other => format!("`{}` has no elements to index", other.kind()),
    };
    EvalError::wrong_kind(span, message)
}
