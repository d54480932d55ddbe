//! `xs.all(x, c)`, `xs.exists(x, c)`, `xs.exists_one(x, c)`.
//!
//! `all` and `exists` are `&&` and `||` over the elements: an element that decides wins over
//! elements that fail. `exists_one` looks at every element, so each must have an answer.

use crate::ast::expr::Expr;
use crate::value::Value;

use super::super::CompileError;
use super::super::compiler::Compiler;
use super::super::machine::{Node, node};
use super::MacroCall;
use super::each::{Each, NEXT, STOP};

/// `decides` is the answer of one element that settles the whole.
pub(super) fn quantifier(
    compiler: &mut Compiler<'_>,
    call: MacroCall<'_>,
    vars: &[Expr],
    body: &Expr,
    decides: bool,
) -> Result<Node, CompileError> {
    let vars: Vec<&Expr> = vars.iter().collect();
    let (each, condition) = Each::with_condition(compiler, call, &vars, body)?;
    node(move |machine| {
        let mut decided = false;
        let mut failed = None;
        each.run(machine, |machine, _| {
            match condition.holds(machine) {
                Ok(holds) if holds == decides => {
                    decided = true;
                    return STOP;
                }
                Ok(_) => {}
                Err(error) if error.kind.is_fatal() => return Err(error),
                Err(error) => {
                    failed.get_or_insert(error);
                }
            }
            NEXT
        })?;
        match (decided, failed) {
            (false, Some(error)) => Err(error),
            (decided, _) => Ok(Value::Bool(decided == decides)),
        }
    })
}

pub(super) fn exists_one(
    compiler: &mut Compiler<'_>,
    call: MacroCall<'_>,
    vars: &[Expr],
    body: &Expr,
) -> Result<Node, CompileError> {
    let vars: Vec<&Expr> = vars.iter().collect();
    let (each, condition) = Each::with_condition(compiler, call, &vars, body)?;
    node(move |machine| {
        let mut count = 0u64;
        each.run(machine, |machine, _| {
            count += u64::from(condition.holds(machine)?);
            NEXT
        })?;
        Ok(Value::Bool(count == 1))
    })
}
