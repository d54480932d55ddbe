//! `xs.all(x, c)`, `xs.exists(x, c)`, `xs.exists_one(x, c)`.
//!
//! `all` and `exists` are `&&` and `||` over the elements: an element that decides wins over
//! elements that fail. `exists_one` looks at every element, so each must have an answer.

use crate::ast::expr::Expr;
use crate::value::Value;

use super::super::CompileError;
use super::super::compiler::Compiler;
use super::super::machine::{Eval, Evaluated, Machine, Node};
use super::MacroCall;
use super::each::{Condition, Each, NEXT, STOP};

pub(super) fn all(
    compiler: &mut Compiler<'_>,
    call: MacroCall<'_>,
    vars: &[Expr],
    body: &Expr,
) -> Result<Node, CompileError> {
    quantifier(compiler, call, vars, body, false)
}

pub(super) fn exists(
    compiler: &mut Compiler<'_>,
    call: MacroCall<'_>,
    vars: &[Expr],
    body: &Expr,
) -> Result<Node, CompileError> {
    quantifier(compiler, call, vars, body, true)
}

fn quantifier(
    compiler: &mut Compiler<'_>,
    call: MacroCall<'_>,
    vars: &[Expr],
    body: &Expr,
    decides: bool,
) -> Result<Node, CompileError> {
    let vars: Vec<&Expr> = vars.iter().collect();
    let (each, condition) = Each::compile(compiler, call, &vars, |compiler| {
        Condition::compile(compiler, body)
    })?;
    Ok(Box::new(Quantifier {
        each,
        condition,
        decides,
    }))
}

struct Quantifier {
    each: Each,
    condition: Condition,
    /// The answer of one element that settles the whole.
    decides: bool,
}

impl Eval for Quantifier {
    fn eval(&self, machine: &mut Machine<'_>) -> Evaluated {
        let mut decided = false;
        let mut failed = None;
        self.each.run(machine, |machine, _| {
            match self.condition.holds(machine) {
                Ok(holds) if holds == self.decides => {
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
            (decided, _) => Ok(Value::Bool(decided == self.decides)),
        }
    }
}

pub(super) fn exists_one(
    compiler: &mut Compiler<'_>,
    call: MacroCall<'_>,
    vars: &[Expr],
    body: &Expr,
) -> Result<Node, CompileError> {
    let vars: Vec<&Expr> = vars.iter().collect();
    let (each, condition) = Each::compile(compiler, call, &vars, |compiler| {
        Condition::compile(compiler, body)
    })?;
    Ok(Box::new(ExistsOne { each, condition }))
}

struct ExistsOne {
    each: Each,
    condition: Condition,
}

impl Eval for ExistsOne {
    fn eval(&self, machine: &mut Machine<'_>) -> Evaluated {
        let mut count = 0u64;
        self.each.run(machine, |machine, _| {
            count += u64::from(self.condition.holds(machine)?);
            NEXT
        })?;
        Ok(Value::Bool(count == 1))
    }
}
