//! `xs.fold(acc, x, init, e)`, `xs.to_map(x, key, value)`, `xs.group_by(x, key)`.

use std::collections::BTreeMap;

use crate::ast::expr::Expr;
use crate::base::Span;
use crate::value::{Map, Str, Value};

use super::super::compiler::{Compiler, variable};
use super::super::machine::{Machine, Node, node};
use super::super::{CompileError, EvalError};
use super::MacroCall;
use super::each::{Each, NEXT};

pub(super) fn fold(
    compiler: &mut Compiler<'_>,
    call: MacroCall<'_>,
    [acc, var]: [&Expr; 2],
    init: &Expr,
    body: &Expr,
) -> Result<Node, CompileError> {
    let init = compiler.node(init)?;
    let range = compiler.node(call.target)?;
    let ((each, body), place) = compiler.with_vars([variable(acc)?], |compiler, [place]| {
        let each = Each::over(compiler, range, call, &[var], |compiler| {
            compiler.node(body)
        })?;
        Ok((each, place))
    })?;
    let span = call.span;
    node(move |machine| {
        let range = each.range(machine)?;
        let init = init.eval(machine)?;
        machine.put(place, init);
        each.run_over(machine, range, |machine, _| {
            let next = body.eval(machine)?;
            let next = machine.made(next, span)?;
            machine.put(place, next);
            NEXT
        })?;
        Ok(machine.local(place))
    })
}

/// Of two elements with one key the later wins.
pub(super) fn to_map(
    compiler: &mut Compiler<'_>,
    call: MacroCall<'_>,
    var: &Expr,
    key: &Expr,
    value: &Expr,
) -> Result<Node, CompileError> {
    let (each, (key, value)) = Each::compile(compiler, call, &[var], |compiler| {
        Ok((TextKey::compile(compiler, key)?, compiler.node(value)?))
    })?;
    let span = call.span;
    node(move |machine| {
        let mut map = Map::new();
        each.run(machine, |machine, _| {
            let key = key.eval(machine)?;
            map.insert(key, value.eval(machine)?);
            NEXT
        })?;
        machine.made(Value::Map(map), span)
    })
}

pub(super) fn group_by(
    compiler: &mut Compiler<'_>,
    call: MacroCall<'_>,
    var: &Expr,
    key: &Expr,
) -> Result<Node, CompileError> {
    let (each, key) = Each::compile(compiler, call, &[var], |compiler| {
        TextKey::compile(compiler, key)
    })?;
    let span = call.span;
    node(move |machine| {
        let mut groups: BTreeMap<Str, Vec<Value>> = BTreeMap::new();
        each.run(machine, |machine, item| {
            let key = key.eval(machine)?;
            groups.entry(key).or_default().push(item.clone());
            NEXT
        })?;
        let groups = groups.into_iter();
        let groups = groups.map(|(key, items)| (key, Value::from(items)));
        machine.made(Value::Map(groups.collect()), span)
    })
}

/// A key of a map that is made: maps have text keys, so numbers and bools become text.
struct TextKey {
    node: Node,
    span: Span,
}

impl TextKey {
    fn compile(compiler: &mut Compiler<'_>, key: &Expr) -> Result<TextKey, CompileError> {
        Ok(TextKey {
            node: compiler.node(key)?,
            span: key.span,
        })
    }

    fn eval(&self, machine: &mut Machine<'_>) -> Result<Str, Box<EvalError>> {
        match self.node.eval(machine)? {
            Value::String(text) => Ok(text),
            Value::Int(i) => Ok(i.to_string().into()),
            Value::Uint(u) => Ok(u.to_string().into()),
            Value::Bool(b) => Ok(b.to_string().into()),
            other => Err(EvalError::wrong_kind(
                self.span,
                format!(
                    "a key is a text, an `int` or a `bool`, found `{}`",
                    other.kind()
                ),
            )),
        }
    }
}
