//! Operators that evaluate all of their operands: arithmetic, comparison, `in`, `!`, `-`.

mod arithmetic;
mod relation;

use crate::ast::expr::{BinaryOp, Expr, UnaryOp};
use crate::base::{Span, Spanned};
use crate::value::Value;

use super::compiler::Compiler;
use super::machine::{Eval, Evaluated, Machine, Node};
use super::{CompileError, ErrorKind, EvalError, brief};

/// Why an operator has no value.
enum Refusal {
    /// It has no meaning for operands of these kinds.
    Kinds,
    /// The result is out of range, or division by zero.
    Arithmetic(&'static str),
    /// The result would take too much room.
    TooLong(&'static str),
}

type Computed = Result<Value, Refusal>;

pub(super) fn compile_binary(
    compiler: &mut Compiler<'_>,
    span: Span,
    op: &Spanned<BinaryOp>,
    left: &Expr,
    right: &Expr,
) -> Result<Node, CompileError> {
    let (sign, compute) = binary(op.node);
    Ok(Box::new(Binary {
        left: compiler.node(left)?,
        right: compiler.node(right)?,
        sign,
        compute,
        span,
    }))
}

type Compute = fn(&Value, &Value) -> Computed;

fn binary(op: BinaryOp) -> (&'static str, Compute) {
    match op {
        BinaryOp::Add => ("+", arithmetic::add),
        BinaryOp::Subtract => ("-", arithmetic::subtract),
        BinaryOp::Multiply => ("*", arithmetic::multiply),
        BinaryOp::Divide => ("/", arithmetic::divide),
        BinaryOp::Modulo => ("%", arithmetic::modulo),
        BinaryOp::Equal => ("==", |a, b| Ok(Value::Bool(a == b))),
        BinaryOp::NotEqual => ("!=", |a, b| Ok(Value::Bool(a != b))),
        BinaryOp::Less => ("<", |a, b| relation::order(a, b, |o| o.is_lt())),
        BinaryOp::LessEqual => ("<=", |a, b| relation::order(a, b, |o| o.is_le())),
        BinaryOp::Greater => (">", |a, b| relation::order(a, b, |o| o.is_gt())),
        BinaryOp::GreaterEqual => (">=", |a, b| relation::order(a, b, |o| o.is_ge())),
        BinaryOp::In => ("in", relation::contains),
    }
}

struct Binary {
    left: Node,
    right: Node,
    sign: &'static str,
    compute: Compute,
    span: Span,
}

impl Eval for Binary {
    fn eval(&self, machine: &mut Machine<'_>) -> Evaluated {
        let left = self.left.eval(machine)?;
        let right = self.right.eval(machine)?;
        match (self.compute)(&left, &right) {
            Ok(value @ (Value::Int(_) | Value::Float(_))) => Ok(value),
            Ok(value) => {
                machine.spend(cost(&value, &left, &right), self.span)?;
                machine.made(value, self.span)
            }
            Err(refusal) => Err(self.refused(refusal, &left, &right)),
        }
    }
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

impl Binary {
    fn refused(&self, refusal: Refusal, left: &Value, right: &Value) -> Box<EvalError> {
        let kinds = match refusal {
            Refusal::TooLong(message) => {
                return EvalError::boxed(self.span, ErrorKind::Arithmetic, message);
            }
            Refusal::Arithmetic(message) => {
                let (left, right) = (brief(left), brief(right));
                let values = format!("`{left} {} {right}`", self.sign);
                return EvalError::about(self.span, ErrorKind::Arithmetic, message, values);
            }
            Refusal::Kinds => (left.kind(), right.kind()),
        };
        let help = match kinds {
            ("int", "float") | ("float", "int") => "; convert one, as in `float(x)`",
            _ => "",
        };
        let (sign, (left, right)) = (self.sign, kinds);
        EvalError::wrong_kind(
            self.span,
            format!("`{sign}` has no meaning for `{left}` and `{right}`{help}"),
        )
    }
}

pub(super) fn compile_unary(
    compiler: &mut Compiler<'_>,
    span: Span,
    op: UnaryOp,
    operand: &Expr,
) -> Result<Node, CompileError> {
    let operand = compiler.node(operand)?;
    Ok(match op {
        UnaryOp::Not => Box::new(Not { operand, span }),
        UnaryOp::Negate => Box::new(Negate { operand, span }),
    })
}

struct Not {
    operand: Node,
    span: Span,
}

impl Eval for Not {
    fn eval(&self, machine: &mut Machine<'_>) -> Evaluated {
        match self.operand.eval(machine)? {
            Value::Bool(value) => Ok(Value::Bool(!value)),
            other => Err(EvalError::wrong_kind(
                self.span,
                format!("`!` takes a `bool`, found `{}`", other.kind()),
            )),
        }
    }
}

struct Negate {
    operand: Node,
    span: Span,
}

impl Eval for Negate {
    fn eval(&self, machine: &mut Machine<'_>) -> Evaluated {
        match self.operand.eval(machine)? {
            Value::Float(value) => Ok(Value::Float(-value)),
            Value::Int(value) => value.checked_neg().map(Value::Int).ok_or_else(|| {
                let values = format!("`-({value})`");
                EvalError::about(self.span, ErrorKind::Arithmetic, "`int` overflow", values)
            }),
            other => Err(EvalError::wrong_kind(
                self.span,
                format!("`-` takes an `int` or a `float`, found `{}`", other.kind()),
            )),
        }
    }
}
