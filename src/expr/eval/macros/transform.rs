//! `xs.map(x, e)`, `xs.map(x, c, e)`, `xs.filter(x, c)`, and CEL's forms of two variables
//! `xs.transformList(i, x, e)` and `m.transformMap(k, v, e)`, with a condition before `e` or without.

use crate::ast::expr::Expr;
use crate::base::Span;
use crate::value::{Key, List, Map, Value};

use super::super::compiler::Compiler;
use super::super::machine::{Eval, Evaluated, Machine, Node};
use super::super::{CompileError, EvalError};
use super::MacroCall;
use super::each::{Condition, Each, NEXT};

pub(super) fn map(
    compiler: &mut Compiler<'_>,
    call: MacroCall<'_>,
    var: &Expr,
    when: Option<&Expr>,
    body: &Expr,
) -> Result<Node, CompileError> {
    to_list(compiler, call, &[var], when, body)
}

pub(super) fn list(
    compiler: &mut Compiler<'_>,
    call: MacroCall<'_>,
    vars: [&Expr; 2],
    when: Option<&Expr>,
    body: &Expr,
) -> Result<Node, CompileError> {
    to_list(compiler, call, &vars, when, body)
}

fn to_list(
    compiler: &mut Compiler<'_>,
    call: MacroCall<'_>,
    vars: &[&Expr],
    when: Option<&Expr>,
    body: &Expr,
) -> Result<Node, CompileError> {
    let (each, (when, body)) = Each::compile(compiler, call, vars, |compiler| {
        let when = when.map(|when| Condition::compile(compiler, when));
        Ok((when.transpose()?, compiler.node(body)?))
    })?;
    Ok(Box::new(ToList {
        each,
        when,
        body,
        span: call.span,
    }))
}

struct ToList {
    each: Each,
    when: Option<Condition>,
    body: Node,
    span: Span,
}

impl Eval for ToList {
    fn eval(&self, machine: &mut Machine<'_>) -> Evaluated {
        let mut items = Vec::new();
        self.each.run(machine, |machine, _| {
            if holds(self.when.as_ref(), machine)? {
                items.push(self.body.eval(machine)?);
            }
            NEXT
        })?;
        machine.made(items.into(), self.span)
    }
}

fn holds(when: Option<&Condition>, machine: &mut Machine<'_>) -> Result<bool, Box<EvalError>> {
    when.map_or(Ok(true), |when| when.holds(machine))
}

pub(super) fn filter(
    compiler: &mut Compiler<'_>,
    call: MacroCall<'_>,
    var: &Expr,
    when: &Expr,
) -> Result<Node, CompileError> {
    let (each, when) = Each::compile(compiler, call, &[var], |compiler| {
        Condition::compile(compiler, when)
    })?;
    Ok(Box::new(Filter { each, when }))
}

struct Filter {
    each: Each,
    when: Condition,
}

impl Eval for Filter {
    fn eval(&self, machine: &mut Machine<'_>) -> Evaluated {
        let mut items = Vec::new();
        self.each.run(machine, |machine, item| {
            if self.when.holds(machine)? {
                items.push(item.clone());
            }
            NEXT
        })?;
        Ok(Value::List(items.into_iter().collect::<List>()))
    }
}

pub(super) fn entries(
    compiler: &mut Compiler<'_>,
    call: MacroCall<'_>,
    vars: [&Expr; 2],
    when: Option<&Expr>,
    body: &Expr,
) -> Result<Node, CompileError> {
    let (each, (when, body)) = Each::compile(compiler, call, &vars, |compiler| {
        let when = when.map(|when| Condition::compile(compiler, when));
        Ok((when.transpose()?, compiler.node(body)?))
    })?;
    Ok(Box::new(ToMap {
        each,
        when,
        body,
        span: call.span,
    }))
}

/// A map with the same keys and new values.
struct ToMap {
    each: Each,
    when: Option<Condition>,
    body: Node,
    span: Span,
}

impl Eval for ToMap {
    fn eval(&self, machine: &mut Machine<'_>) -> Evaluated {
        let mut map = Map::new();
        self.each.run(machine, |machine, key| {
            if holds(self.when.as_ref(), machine)?
                && let Some(key) = Key::of(key)
            {
                map.insert(key, self.body.eval(machine)?);
            }
            NEXT
        })?;
        machine.made(Value::Map(map), self.span)
    }
}
