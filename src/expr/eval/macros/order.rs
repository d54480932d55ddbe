//! `xs.sort_by(x, key)`, `xs.find(x, c)`.

use crate::ast::expr::Expr;
use crate::base::Span;
use crate::expr::function::{optional::present, order};
use crate::value::Value;

use super::super::compiler::Compiler;
use super::super::machine::{Eval, Evaluated, Machine, Node};
use super::super::{CompileError, EvalError};
use super::MacroCall;
use super::each::{Condition, Each, NEXT, STOP};

pub(super) fn sort_by(
    compiler: &mut Compiler<'_>,
    call: MacroCall<'_>,
    var: &Expr,
    key: &Expr,
) -> Result<Node, CompileError> {
    let key_span = key.span;
    let (each, key) = Each::compile(compiler, call, &[var], |compiler| compiler.node(key))?;
    Ok(Box::new(SortBy {
        each,
        key,
        key_span,
    }))
}

struct SortBy {
    each: Each,
    key: Node,
    key_span: Span,
}

/// Elements of equal keys keep their order.
impl Eval for SortBy {
    fn eval(&self, machine: &mut Machine<'_>) -> Evaluated {
        let mut keyed = Vec::new();
        self.each.run(machine, |machine, item| {
            keyed.push((self.key.eval(machine)?, item.clone()));
            NEXT
        })?;
        let sorted = order::sort(keyed, |(key, _)| key)
            .map_err(|message| EvalError::wrong_kind(self.key_span, message))?;
        Ok(Value::List(
            sorted.into_iter().map(|(_, item)| item).collect(),
        ))
    }
}

pub(super) fn find(
    compiler: &mut Compiler<'_>,
    call: MacroCall<'_>,
    var: &Expr,
    when: &Expr,
) -> Result<Node, CompileError> {
    let (each, when) = Each::compile(compiler, call, &[var], |compiler| {
        Condition::compile(compiler, when)
    })?;
    Ok(Box::new(Find { each, when }))
}

struct Find {
    each: Each,
    when: Condition,
}

impl Eval for Find {
    fn eval(&self, machine: &mut Machine<'_>) -> Evaluated {
        let mut found = None;
        self.each.run(machine, |machine, item| {
            if !self.when.holds(machine)? {
                return NEXT;
            }
            found = Some(item.clone());
            STOP
        })?;
        Ok(present(found.as_ref()))
    }
}
