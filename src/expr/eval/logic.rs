//! `&&`, `||`, `c ? a : b`.
//!
//! `&&` and `||` don't depend on the order of their operands: an operand that decides wins over
//! an operand that fails, also over one to its left.

use crate::ast::expr::{Expr, LogicalOp};
use crate::base::Span;
use crate::value::Value;

use super::compiler::Compiler;
use super::machine::{Eval, Evaluated, Machine, Node};
use super::{CompileError, EvalError};

pub(super) fn compile(
    compiler: &mut Compiler<'_>,
    op: LogicalOp,
    operands: &[Expr],
) -> Result<Node, CompileError> {
    let operands = operands
        .iter()
        .map(|operand| Ok((compiler.node(operand)?, operand.span)))
        .collect::<Result<_, CompileError>>()?;
    let (decides, sign) = match op {
        LogicalOp::And => (false, "&&"),
        LogicalOp::Or => (true, "||"),
    };
    Ok(Box::new(Logical {
        decides,
        sign,
        operands,
    }))
}

struct Logical {
    /// The operand's value that settles the whole.
    decides: bool,
    sign: &'static str,
    operands: Vec<(Node, Span)>,
}

impl Eval for Logical {
    fn eval(&self, machine: &mut Machine<'_>) -> Evaluated {
        let mut failed = None;
        for (operand, span) in &self.operands {
            let error = match operand.eval(machine) {
                Ok(Value::Bool(value)) if value == self.decides => return Ok(Value::Bool(value)),
                Ok(Value::Bool(_)) => continue,
                Ok(other) => EvalError::wrong_kind(
                    *span,
                    format!("`{}` takes `bool`s, found `{}`", self.sign, other.kind()),
                ),
                Err(error) if error.kind.is_fatal() => return Err(error),
                Err(error) => error,
            };
            failed.get_or_insert(error);
        }
        match failed {
            Some(error) => Err(error),
            None => Ok(Value::Bool(!self.decides)),
        }
    }
}

pub(super) fn compile_conditional(
    compiler: &mut Compiler<'_>,
    condition: &Expr,
    yes: &Expr,
    no: &Expr,
) -> Result<Node, CompileError> {
    Ok(Box::new(Conditional {
        span: condition.span,
        condition: compiler.node(condition)?,
        yes: compiler.node(yes)?,
        no: compiler.node(no)?,
    }))
}

struct Conditional {
    condition: Node,
    yes: Node,
    no: Node,
    /// Of the condition.
    span: Span,
}

impl Eval for Conditional {
    fn eval(&self, machine: &mut Machine<'_>) -> Evaluated {
        match self.condition.eval(machine)? {
            Value::Bool(true) => self.yes.eval(machine),
            Value::Bool(false) => self.no.eval(machine),
            other => Err(EvalError::wrong_kind(
                self.span,
                format!("a condition is a `bool`, found `{}`", other.kind()),
            )),
        }
    }
}
