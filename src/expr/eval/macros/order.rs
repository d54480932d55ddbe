//! `xs.sort_by(x, key)`, `xs.find(x, c)`.

use crate::ast::expr::Expr;
use crate::expr::function::{optional::present, order};
use crate::value::Value;

use super::super::compiler::Compiler;
use super::super::machine::{Node, node};
use super::super::{CompileError, EvalError};
use super::MacroCall;
use super::each::{Each, NEXT, STOP};

/// Elements of equal keys keep their order.
pub(super) fn sort_by(
    compiler: &mut Compiler<'_>,
    call: MacroCall<'_>,
    var: &Expr,
    key: &Expr,
) -> Result<Node, CompileError> {
    let span = key.span;
    let (each, key) = Each::compile(compiler, call, &[var], |compiler| compiler.node(key))?;
    node(move |machine| {
        let mut keyed = Vec::new();
        each.run(machine, |machine, item| {
            keyed.push((key.eval(machine)?, item.clone()));
            NEXT
        })?;
        let sorted = order::sort(keyed, |(key, _)| key);
        let sorted = sorted.map_err(|message| EvalError::wrong_kind(span, message))?;
        Ok(Value::List(
            sorted.into_iter().map(|(_, item)| item).collect(),
        ))
    })
}

pub(super) fn find(
    compiler: &mut Compiler<'_>,
    call: MacroCall<'_>,
    var: &Expr,
    when: &Expr,
) -> Result<Node, CompileError> {
    let (each, when) = Each::with_condition(compiler, call, &[var], when)?;
    node(move |machine| {
        let mut found = None;
        each.run(machine, |machine, item| {
            if !when.holds(machine)? {
                return NEXT;
            }
            found = Some(item.clone());
            STOP
        })?;
        Ok(present(found.as_ref()))
    })
}
