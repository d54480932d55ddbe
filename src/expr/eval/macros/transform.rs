//! `xs.map(x, e)`, `xs.map(x, c, e)`, `xs.filter(x, c)`, and CEL's forms of two variables
//! `xs.transformList(i, x, e)` and `m.transformMap(k, v, e)`, with a condition before `e` or without.

use crate::ast::expr::Expr;
use crate::value::{Key, List, Map, Value};

use super::super::compiler::Compiler;
use super::super::machine::{Machine, Node, node};
use super::super::{CompileError, EvalError};
use super::MacroCall;
use super::each::{Condition, Each, NEXT};

pub(super) fn to_list(
    compiler: &mut Compiler<'_>,
    call: MacroCall<'_>,
    vars: &[&Expr],
    when: Option<&Expr>,
    body: &Expr,
) -> Result<Node, CompileError> {
    let span = call.span;
    let (each, (when, body)) = parts(compiler, call, vars, when, body)?;
    node(move |machine| {
        let mut items = Vec::new();
        each.run(machine, |machine, _| {
            if holds(when.as_ref(), machine)? {
                items.push(body.eval(machine)?);
            }
            NEXT
        })?;
        machine.made(items.into(), span)
    })
}

pub(super) fn filter(
    compiler: &mut Compiler<'_>,
    call: MacroCall<'_>,
    var: &Expr,
    when: &Expr,
) -> Result<Node, CompileError> {
    let (each, when) = Each::with_condition(compiler, call, &[var], when)?;
    node(move |machine| {
        let mut items = Vec::new();
        each.run(machine, |machine, item| {
            if when.holds(machine)? {
                items.push(item.clone());
            }
            NEXT
        })?;
        Ok(Value::List(items.into_iter().collect::<List>()))
    })
}

/// A map with the same keys and new values.
pub(super) fn to_map(
    compiler: &mut Compiler<'_>,
    call: MacroCall<'_>,
    vars: &[&Expr],
    when: Option<&Expr>,
    body: &Expr,
) -> Result<Node, CompileError> {
    let span = call.span;
    let (each, (when, body)) = parts(compiler, call, vars, when, body)?;
    node(move |machine| {
        let mut map = Map::new();
        each.run(machine, |machine, key| {
            if holds(when.as_ref(), machine)?
                && let Some(key) = Key::of(key)
            {
                map.insert(key, body.eval(machine)?);
            }
            NEXT
        })?;
        machine.made(Value::Map(map), span)
    })
}

/// The loop, its condition and its body.
fn parts(
    compiler: &mut Compiler<'_>,
    call: MacroCall<'_>,
    vars: &[&Expr],
    when: Option<&Expr>,
    body: &Expr,
) -> Result<(Each, (Option<Condition>, Node)), CompileError> {
    Each::compile(compiler, call, vars, |compiler| {
        let when = when.map(|when| Condition::compile(compiler, when));
        Ok((when.transpose()?, compiler.node(body)?))
    })
}

fn holds(when: Option<&Condition>, machine: &mut Machine<'_>) -> Result<bool, Box<EvalError>> {
    when.map_or(Ok(true), |when| when.holds(machine))
}
