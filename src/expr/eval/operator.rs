//! Operators that evaluate all of their operands: arithmetic, comparison, `in`, `!`, `-`.

mod arithmetic;
mod relation;

use crate::ast::expr::{BinaryOp, Expr, UnaryOp};
use crate::base::{Span, Spanned};
use crate::value::Value;

use super::compiler::Compiler;
use super::machine::{Node, node};
use super::{CompileError, ErrorKind, EvalError, brief};

/// Why an operator has no value.
pub(in crate::expr) enum Refusal {
    /// It has no meaning for operands of these kinds.
    Kinds,
    /// The result is out of range, or division by zero.
    Arithmetic(&'static str),
    /// The result would take too much room.
    TooLong(&'static str),
}

pub(in crate::expr) type Computed = Result<Value, Refusal>;

/// The value of `left op right`. This and [`unary`] are all that is known of operators: what the checker takes,
/// [`operator`](crate::expr::operator) asks them.
pub(in crate::expr) fn binary(op: BinaryOp) -> fn(&Value, &Value) -> Computed {
    match op {
        BinaryOp::Add => arithmetic::add,
        BinaryOp::Subtract => arithmetic::subtract,
        BinaryOp::Multiply => arithmetic::multiply,
        BinaryOp::Divide => arithmetic::divide,
        BinaryOp::Modulo => arithmetic::modulo,
        BinaryOp::Equal => |a, b| Ok(Value::Bool(a == b)),
        BinaryOp::NotEqual => |a, b| Ok(Value::Bool(a != b)),
        BinaryOp::Less => |a, b| relation::order(a, b, |o| o.is_lt()),
        BinaryOp::LessEqual => |a, b| relation::order(a, b, |o| o.is_le()),
        BinaryOp::Greater => |a, b| relation::order(a, b, |o| o.is_gt()),
        BinaryOp::GreaterEqual => |a, b| relation::order(a, b, |o| o.is_ge()),
        BinaryOp::In => relation::contains,
    }
}

/// The value of `op operand`.
pub(in crate::expr) fn unary(op: UnaryOp) -> fn(&Value) -> Computed {
    match op {
        UnaryOp::Not => |value| match value {
            Value::Bool(value) => Ok(Value::Bool(!value)),
            _ => Err(Refusal::Kinds),
        },
        UnaryOp::Negate => arithmetic::negate,
    }
}

pub(super) fn compile_binary(
    compiler: &mut Compiler<'_>,
    span: Span,
    op: &Spanned<BinaryOp>,
    left: &Expr,
    right: &Expr,
) -> Result<Node, CompileError> {
    let (left, right) = (compiler.node(left)?, compiler.node(right)?);
    let (op, compute) = (op.node, binary(op.node));
    node(move |machine| {
        let left = left.eval(machine)?;
        let right = right.eval(machine)?;
        match compute(&left, &right) {
            Ok(value @ (Value::Int(_) | Value::Float(_))) => Ok(value),
            Ok(value) => {
                machine.spend(cost(&value, &left, &right), span)?;
                machine.made(value, span)
            }
            Err(refusal) => Err(refused(refusal, op, (&left, &right), span)),
        }
    })
}

/// What it took: a text is written anew, of a list the right side is; a comparison may look at all
/// of both sides.
fn cost(result: &Value, left: &Value, right: &Value) -> usize {
    match (result, left, right) {
        (Value::String(_), ..) => result.weight() / 8,
        (_, _, Value::List(list)) => list.len() / 4 + left.weight().min(right.weight()) / 16,
        _ => left.weight().min(right.weight()) / 16,
    }
}

fn refused(
    refusal: Refusal,
    op: BinaryOp,
    (left, right): (&Value, &Value),
    span: Span,
) -> Box<EvalError> {
    let kinds = match refusal {
        Refusal::TooLong(message) => {
            return EvalError::boxed(span, ErrorKind::Arithmetic, message);
        }
        Refusal::Arithmetic(message) => {
            let values = format!("`{} {} {}`", brief(left), op.sign(), brief(right));
            return EvalError::about(span, ErrorKind::Arithmetic, message, values);
        }
        Refusal::Kinds => (left.kind(), right.kind()),
    };
    let help = match kinds {
        ("int", "float") | ("float", "int") => "; convert one, as in `float(x)`",
        _ => "",
    };
    let (sign, (left, right)) = (op.sign(), kinds);
    EvalError::wrong_kind(
        span,
        format!("`{sign}` has no meaning for `{left}` and `{right}`{help}"),
    )
}

pub(super) fn compile_unary(
    compiler: &mut Compiler<'_>,
    span: Span,
    op: UnaryOp,
    operand: &Expr,
) -> Result<Node, CompileError> {
    let (operand, compute) = (compiler.node(operand)?, unary(op));
    node(move |machine| {
        let value = operand.eval(machine)?;
        compute(&value).map_err(|refusal| match refusal {
            Refusal::Arithmetic(message) | Refusal::TooLong(message) => {
                let values = format!("`-({})`", brief(&value));
                EvalError::about(span, ErrorKind::Arithmetic, message, values)
            }
            Refusal::Kinds => {
                let wanted = match op {
                    UnaryOp::Not => "`!` takes a `bool`",
                    UnaryOp::Negate => "`-` takes an `int`, a `float` or a `duration`",
                };
                EvalError::wrong_kind(span, format!("{wanted}, found `{}`", value.kind()))
            }
        })
    })
}
