//! `xs.fold(acc, x, init, e)`, `xs.to_map(x, key, value)`, `xs.group_by(x, key)`.

use std::collections::BTreeMap;

use crate::ast::expr::Expr;
use crate::base::Span;
use crate::value::{Map, Str, Value};

use super::super::compiler::{Compiler, variable};
use super::super::machine::{Eval, Evaluated, Local, Machine, Node};
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
    Ok(Box::new(Fold {
        each,
        init,
        body,
        place,
        span: call.span,
    }))
}

struct Fold {
    each: Each,
    init: Node,
    body: Node,
    /// Of the accumulator.
    place: Local,
    span: Span,
}

impl Eval for Fold {
    fn eval(&self, machine: &mut Machine<'_>) -> Evaluated {
        let range = self.each.range(machine)?;
        let init = self.init.eval(machine)?;
        machine.put(self.place, init);
        self.each.run_over(machine, range, |machine, _| {
            let next = self.body.eval(machine)?;
            let next = machine.made(next, self.span)?;
            machine.put(self.place, next);
            NEXT
        })?;
        Ok(machine.local(self.place))
    }
}

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
    Ok(Box::new(ToMap {
        each,
        key,
        value,
        span: call.span,
    }))
}

struct ToMap {
    each: Each,
    key: TextKey,
    value: Node,
    span: Span,
}

/// Of two elements with one key the later wins.
impl Eval for ToMap {
    fn eval(&self, machine: &mut Machine<'_>) -> Evaluated {
        let mut map = Map::new();
        self.each.run(machine, |machine, _| {
            let key = self.key.eval(machine)?;
            map.insert(key, self.value.eval(machine)?);
            NEXT
        })?;
        machine.made(Value::Map(map), self.span)
    }
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
    Ok(Box::new(GroupBy {
        each,
        key,
        span: call.span,
    }))
}

struct GroupBy {
    each: Each,
    key: TextKey,
    span: Span,
}

impl Eval for GroupBy {
    fn eval(&self, machine: &mut Machine<'_>) -> Evaluated {
        let mut groups: BTreeMap<Str, Vec<Value>> = BTreeMap::new();
        self.each.run(machine, |machine, item| {
            let key = self.key.eval(machine)?;
            groups.entry(key).or_default().push(item.clone());
            NEXT
        })?;
        let groups = groups
            .into_iter()
            .map(|(key, items)| (key, Value::from(items)));
        machine.made(Value::Map(groups.collect()), self.span)
    }
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
