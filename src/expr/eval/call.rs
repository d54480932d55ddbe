//! Calls: of macros, of effects, of functions and methods of the table.

use regex::Regex;

use crate::ast::Name;
use crate::ast::expr::{Expr, ExprKind, Literal};
use crate::base::Span;
use crate::expr::function::{self, BuiltinKind, FunctionSpec, Rule, pattern};
use crate::value::Value;

use super::compiler::{Compiler, error};
use super::machine::{Evaluated, Machine, Node, node};
use super::optional::or;
use super::{CompileError, ErrorKind, EvalError, effect, has, macros, name};

pub(super) fn compile(
    compiler: &mut Compiler<'_>,
    span: Span,
    target: Option<&Expr>,
    function: &Name,
    args: &[Expr],
) -> Result<Node, CompileError> {
    let Some(target) = target else {
        return match (function::special(function).map(|spec| spec.kind), args) {
            (Some(BuiltinKind::Effect(kind)), _) => {
                effect::compile(compiler, span, kind, function, args)
            }
            (Some(BuiltinKind::Field), _) => {
                effect::compile_freshness(compiler, span, function, args)
            }
            (Some(_), [arg]) => has::compile(compiler, arg),
            _ => from_table(compiler, span, function, function, None, args),
        };
    };
    if let Some(node) = macros::bind(compiler, target, function, args)? {
        return Ok(node);
    }
    if let Some(qualified) = qualified(compiler, target, function) {
        return from_table(compiler, span, function, &qualified, None, args);
    }
    if let Some(node) = macros::compile(compiler, span, target, function, args)? {
        return Ok(node);
    }
    if let ("or" | "orValue", [other]) = (function.as_str(), args) {
        let (operand, other) = (compiler.node(target)?, compiler.node(other)?);
        return Ok(or(operand, other, function.as_str() == "orValue", span));
    }
    from_table(compiler, span, function, function, Some(target), args)
}

/// `optional.of`, where `optional` is no value but a name space of functions.
fn qualified(compiler: &Compiler<'_>, target: &Expr, function: &str) -> Option<String> {
    let parts = name::path(target)?;
    if name::is_value(compiler, parts.first()?.0) {
        return None;
    }
    let space: String = parts.iter().map(|(name, _)| format!("{name}.")).collect();
    function::is_name_space(space.trim_end_matches('.')).then(|| space + function)
}

fn from_table(
    compiler: &mut Compiler<'_>,
    span: Span,
    written: &Name,
    function: &str,
    target: Option<&Expr>,
    args: &[Expr],
) -> Result<Node, CompileError> {
    let Some(found) = function::find(function, target.is_some()) else {
        return Err(error(written.span, unknown(function, target.is_some())));
    };
    if !found.module.is_empty() && !compiler.scope.functions.iter().any(|f| f == found.name) {
        let message = format!("`{function}` must be imported from \"{}\"", found.module);
        return Err(error(written.span, message));
    }
    let Some(compute) = found.compute() else {
        return Err(error(written.span, unknown(function, target.is_some())));
    };
    let receiver = usize::from(target.is_some());
    if !found.takes(args.len() + receiver) {
        return Err(error(span, wrong_count(found, receiver, args.len())));
    }
    let pattern = constant_pattern(found, args)?;
    let mut nodes = Vec::with_capacity(args.len() + receiver);
    if let Some(target) = target {
        nodes.push(compiler.node(target)?);
    }
    nodes.extend(compiler.nodes(args)?);
    match (pattern, nodes.len()) {
        (Some((regex, apply)), 2) => {
            let text = nodes.swap_remove(0);
            node(move |machine| {
                let text = text.eval(machine)?;
                machine.spend(text.weight() / 16, span)?;
                let result = match text.as_str() {
                    Some(text) => {
                        let applied = apply(&regex, text);
                        machine.spend(applied.steps, span)?;
                        Ok(applied.value)
                    }
                    None => Err(format!("a text is expected, found `{}`", text.kind())),
                };
                finish(machine, result, found.name, span)
            })
        }
        _ => {
            let call = move |machine: &mut Machine<'_>, args: &[Value]| {
                let read = args
                    .iter()
                    .filter(|of| !found.quick || of.as_str().is_some());
                let weight = read.map(Value::weight).sum::<usize>();
                machine.spend(weight / 16, span)?;
                let result = match found.rule {
                    Rule::Pattern(apply) => {
                        match pattern::call(&mut machine.last_pattern, apply, args) {
                            Ok(applied) => {
                                machine.spend(applied.steps, span)?;
                                Ok(applied.value)
                            }
                            Err(message) => Err(message),
                        }
                    }
                    _ => compute(args),
                };
                finish(machine, result, found.name, span)
            };
            node(move |machine| match nodes.as_slice() {
                [a] => {
                    let values = [a.eval(machine)?];
                    call(machine, &values)
                }
                [a, b] => {
                    let values = [a.eval(machine)?, b.eval(machine)?];
                    call(machine, &values)
                }
                args => {
                    let values = args.iter().map(|arg| arg.eval(machine));
                    let values: Vec<Value> = values.collect::<Result<_, _>>()?;
                    call(machine, &values)
                }
            })
        }
    }
}

fn unknown(function: &str, method: bool) -> String {
    match (function::find(function, !method).is_some(), method) {
        (true, true) => format!("`{function}` is no method: write `{function}(..)`"),
        (true, false) => format!("`{function}` is a method: write `x.{function}(..)`"),
        (false, _) => {
            let all = function::functions().iter().chain(function::forms());
            let fits = all.filter(|spec| spec.is_method() == method);
            let kind = if method { "method" } else { "function" };
            let message = format!("unknown {kind} `{function}`");
            name::meant(message, function, fits.map(|spec| spec.name))
        }
    }
}

fn wrong_count(function: &FunctionSpec, receiver: usize, found: usize) -> String {
    let mut counts: Vec<usize> = function
        .arities()
        .map(|n| n.saturating_sub(receiver))
        .collect();
    counts.sort_unstable();
    counts.dedup();
    let counts: Vec<String> = counts.iter().map(usize::to_string).collect();
    let name = function.name;
    let noun = if counts == ["1"] {
        "argument"
    } else {
        "arguments"
    };
    // More than the longest is only wrong where none may be repeated.
    let counts = match (function.takes(usize::MAX - 1), counts.first()) {
        (true, Some(least)) => format!("{least} or more"),
        _ => counts.join(" or "),
    };
    format!("`{name}` takes {counts} {noun}, found {found}")
}

/// The regex of a call whose pattern is a literal; the error is that it is none.
fn constant_pattern(
    function: &FunctionSpec,
    args: &[Expr],
) -> Result<Option<(Regex, pattern::Apply)>, CompileError> {
    let Rule::Pattern(apply) = function.rule else {
        return Ok(None);
    };
    match args.last().map(|arg| (&arg.kind, arg.span)) {
        Some((ExprKind::Literal(Literal::String(text)), span)) => pattern::regex(text)
            .map(|regex| Some((regex, apply)))
            .map_err(|message| error(span, message)),
        _ => Ok(None),
    }
}

pub(super) fn finish(
    machine: &mut Machine<'_>,
    result: Result<Value, String>,
    name: &str,
    span: Span,
) -> Evaluated {
    let value = result.map_err(|message| {
        Box::new(EvalError {
            message: format!("`{name}`: {message}"),
            bare: Some(format!("`{name}` refuses its arguments")),
            span,
            kind: ErrorKind::Function,
        })
    })?;
    if let Value::List(list) = &value {
        machine.spend(list.len(), span)?;
    }
    machine.made(value, span)
}
