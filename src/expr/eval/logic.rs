//! `&&`, `||`, `c ? a : b`.
//!
//! `&&` and `||` don't depend on the order of their operands: an operand that decides wins over
//! an operand that fails, also over one to its left.

use crate::ast::expr::{Expr, LogicalOp};
use crate::base::Span;
use crate::value::Value;

use super::compiler::Compiler;
use super::machine::{Node, node};
use super::{CompileError, EvalError};

pub(super) fn compile(
    compiler: &mut Compiler<'_>,
    op: LogicalOp,
    operands: &[Expr],
) -> Result<Node, CompileError> {
    let operands = operands.iter();
    let operands = operands.map(|operand| Ok((compiler.node(operand)?, operand.span)));
    let operands: Vec<(Node, Span)> = operands.collect::<Result<_, CompileError>>()?;
    // The operand's value that settles the whole.
    let (decides, sign) = match op {
        LogicalOp::And => (false, "&&"),
        LogicalOp::Or => (true, "||"),
    };
    node(move |machine| {
        let mut failed = None;
        for (operand, span) in &operands {
            let error = match operand.eval(machine) {
                Ok(Value::Bool(value)) if value == decides => return Ok(Value::Bool(value)),
                Ok(Value::Bool(_)) => continue,
                Ok(other) => EvalError::wrong_kind(
                    *span,
                    format!("`{sign}` takes `bool`s, found `{}`", other.kind()),
                ),
                Err(error) if error.kind.is_fatal() => return Err(error),
                Err(error) => error,
            };
            failed.get_or_insert(error);
        }
        match failed {
            Some(error) => Err(error),
            None => Ok(Value::Bool(!decides)),
        }
    })
}

pub(super) fn compile_conditional(
    compiler: &mut Compiler<'_>,
    condition: &Expr,
    yes: &Expr,
    no: &Expr,
) -> Result<Node, CompileError> {
    let span = condition.span;
    let (condition, yes, no) = (
        compiler.node(condition)?,
        compiler.node(yes)?,
        compiler.node(no)?,
    );
    node(move |machine| match condition.eval(machine)? {
        Value::Bool(true) => yes.eval(machine),
        Value::Bool(false) => no.eval(machine),
        other => Err(EvalError::wrong_kind(
            span,
            format!("a condition is a `bool`, found `{}`", other.kind()),
        )),
    })
}
