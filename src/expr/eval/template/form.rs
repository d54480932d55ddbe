//! Calls: of what asks for a value that may be missing, of what asks something of each element, of Jinja's functions, and of
//! the language's.

use crate::ast::Name;
use crate::ast::expr::{BinaryOp, Expr, ExprKind};
use crate::base::{Span, Spanned};
use crate::expr::function::{self, FunctionSpec, jinja};
use crate::value::Value;

use super::super::call::finish;
use super::super::compiler::{Compiler, error, variable};
use super::super::machine::{Evaluated, Local, Machine, Node, node};
use super::super::{CompileError, ErrorKind, EvalError};
use super::of_language;

pub(super) fn call(
    compiler: &mut Compiler<'_>,
    span: Span,
    target: Option<&Expr>,
    function: &Name,
    args: &[Expr],
) -> Result<Node, CompileError> {
    match (target, function.node.as_str()) {
        (None, "and" | "or") => return either(compiler, function.node == "and", args),
        (Some(of), "|bool" | "|default") => return lenient(compiler, function, of, args, span),
        (Some(of), name) if name.starts_with("is ") => {
            return lenient(compiler, function, of, args, span);
        }
        _ => {}
    }
    match (jinja::find(&function.node), target, args) {
        (Some(found), Some(of), [element, key, rest @ ..]) if jinja::has_key(found.name) => {
            over(compiler, found, of, (element, key), rest, span)
        }
        (Some(found), target, args) => {
            let operands = target.into_iter().chain(args).cloned().collect::<Vec<_>>();
            applied(compiler, found, &operands, span)
        }
        (None, Some(of), args) => method(compiler, of, function, args, span),
        (None, None, _) => {
            let message = format!("there is no function `{}` here", function.node);
            Err(error(function.span, message))
        }
    }
}

/// `a and b`, `a or b`: the operand that decides.
fn either(compiler: &mut Compiler<'_>, and: bool, args: &[Expr]) -> Result<Node, CompileError> {
    let spans: Vec<Span> = args.iter().map(|arg| arg.span).collect();
    let operands = compiler.nodes(args)?;
    node(move |machine| {
        let mut last = Value::Null;
        for (at, (operand, span)) in operands.iter().zip(&spans).enumerate() {
            let ends = at + 1 == operands.len();
            last = match operand.eval(machine) {
                Err(error) if !ends && is_absent(&error, *span) => Value::Null,
                value => value?,
            };
            if jinja::is_true(&last) != and {
                break;
            }
        }
        Ok(last)
    })
}

/// Whether the error is that an expression itself has no value, not one of its parts.
fn is_absent(error: &EvalError, span: Span) -> bool {
    error.kind == ErrorKind::NoValue && error.span == span
}

/// What has a meaning for a value that is not there: it counts as null, and fails every test but `undefined`.
fn lenient(
    compiler: &mut Compiler<'_>,
    function: &Name,
    of: &Expr,
    args: &[Expr],
    span: Span,
) -> Result<Node, CompileError> {
    let Some((found, compute)) = jinja::find(&function.node).and_then(|f| Some((f, f.compute()?)))
    else {
        return Err(error(function.span, "there is no such test"));
    };
    let asks = found.name.starts_with("is ");
    let (of, at, args) = (compiler.node(of)?, of.span, compiler.nodes(args)?);
    node(move |machine| {
        let mut values = vec![match of.eval(machine) {
            Err(error) if is_absent(&error, at) => match asks {
                true => return Ok(Value::Bool(found.name == "is undefined")),
                false => Value::Null,
            },
            value => value?,
        }];
        for arg in &args {
            values.push(arg.eval(machine)?);
        }
        computed(machine, found, compute, &values, span)
    })
}

/// A filter that is given the elements, and beside them a key of each.
fn over(
    compiler: &mut Compiler<'_>,
    found: &'static FunctionSpec,
    of: &Expr,
    (element, key): (&Expr, &Expr),
    rest: &[Expr],
    span: Span,
) -> Result<Node, CompileError> {
    let Some(compute) = found.compute() else {
        return Err(error(span, "there is no such filter"));
    };
    let (of, at, rest) = (compiler.node(of)?, of.span, compiler.nodes(rest)?);
    let name = variable(element)?;
    let (key, place) =
        compiler.with_vars([name], |compiler, [place]| Ok((compiler.node(key)?, place)))?;
    node(move |machine| {
        let of = of.eval(machine)?;
        machine.spend(of.weight() / 16, at)?;
        let items = jinja::elements(&of).map_err(|message| EvalError::wrong_kind(at, message))?;
        let mut keys = Vec::with_capacity(items.len());
        for item in items.iter() {
            machine.spend(1, span)?;
            machine.put(place, item.clone());
            keys.push(key.eval(machine)?);
        }
        let mut values = vec![Value::List(items), machine.made(keys.into(), span)?];
        for value in &rest {
            values.push(value.eval(machine)?);
        }
        computed(machine, found, compute, &values, span)
    })
}

/// A function, filter or operator of Jinja's.
fn applied(
    compiler: &mut Compiler<'_>,
    found: &'static FunctionSpec,
    operands: &[Expr],
    span: Span,
) -> Result<Node, CompileError> {
    let Some(compute) = found.compute() else {
        return Err(error(span, "there is no such function"));
    };
    let operands = compiler.nodes(operands)?;
    node(move |machine| {
        let values = operands.iter().map(|operand| operand.eval(machine));
        let values: Vec<Value> = values.collect::<Result<_, _>>()?;
        computed(machine, found, compute, &values, span)
    })
}

/// A method: Jinja's where values of that kind have it, or else the language's.
fn method(
    compiler: &mut Compiler<'_>,
    of: &Expr,
    name: &Name,
    args: &[Expr],
    span: Span,
) -> Result<Node, CompileError> {
    let is_ours = function::find(name, true).is_some();
    if jinja::find(&format!(".{}", name.node)).is_none() {
        return match is_ours {
            true => of_language(compiler, span, Some(of), name, args),
            false => {
                let message = format!("there is no method `{}`", name.node);
                Err(error(name.span, message))
            }
        };
    }
    let mut operands = vec![compiler.node(of)?];
    operands.extend(compiler.nodes(args)?);
    // Where the language's method does not take these arguments, a value that only that one is for has no such method.
    let fallback = match is_ours {
        true => of_operands(compiler, span, of, name, args).ok(),
        false => None,
    };
    let name = name.node.clone();
    node(move |machine| {
        let values = operands.iter().map(|operand| operand.eval(machine));
        let values: Vec<Value> = values.collect::<Result<_, _>>()?;
        let receiver = values.first().unwrap_or(&Value::Null);
        let Some(found) = jinja::method_of(receiver, &name) else {
            let Some((first, fallback)) = &fallback else {
                let message = format!("`{}` has no method `{name}`", receiver.kind());
                return Err(EvalError::wrong_kind(span, message));
            };
            for (place, value) in (*first..).zip(values) {
                machine.put(Local(place), value);
            }
            return fallback.eval(machine);
        };
        match found.compute().filter(|_| found.takes(values.len())) {
            Some(compute) => computed(machine, found, compute, &values, span),
            None => {
                let message = format!("`{name}` does not take {} arguments", values.len() - 1);
                Err(EvalError::wrong_kind(span, message))
            }
        }
    })
}

/// A call of the language's own method with operands that are evaluated already: they are in variables, from the first place on.
fn of_operands(
    compiler: &mut Compiler<'_>,
    span: Span,
    of: &Expr,
    name: &Name,
    args: &[Expr],
) -> Result<(usize, Node), CompileError> {
    let first = compiler.depth();
    let mut variable = |(at, operand): (usize, &Expr)| {
        let name = format!("(operand {at})");
        compiler.declare(&name);
        Expr {
            kind: ExprKind::Ident(name),
            span: operand.span,
        }
    };
    let receiver = variable((0, of));
    let args: Vec<Expr> = (1..).zip(args).map(variable).collect();
    let call = of_language(compiler, span, Some(&receiver), name, &args);
    compiler.leave(first);
    Ok((first, call?))
}

/// Charges for what a function is given, and calls it.
fn computed(
    machine: &mut Machine<'_>,
    found: &'static FunctionSpec,
    compute: function::Compute,
    values: &[Value],
    span: Span,
) -> Evaluated {
    if !found.quick {
        let weight: usize = values.iter().map(Value::weight).sum();
        machine.spend(weight / 16, span)?;
    }
    finish(machine, compute(values), shown(found.name), span)
}

/// The name without its sign.
fn shown(name: &'static str) -> &'static str {
    let name = name.strip_prefix("is ").unwrap_or(name);
    let bare = name.strip_prefix(['|', '.']).unwrap_or(name);
    bare.strip_suffix("()").unwrap_or(bare)
}

/// `x in xs`, also of a part of a text; `None` of another operator.
pub(super) fn membership(
    compiler: &mut Compiler<'_>,
    span: Span,
    op: &Spanned<BinaryOp>,
    item: &Expr,
    of: &Expr,
) -> Option<Result<Node, CompileError>> {
    if op.node != BinaryOp::In {
        return None;
    }
    let parts = compiler
        .node(item)
        .and_then(|item| Ok((item, compiler.node(of)?)));
    Some(parts.and_then(|(item, of)| {
        node(move |machine| {
            let (item, of) = (item.eval(machine)?, of.eval(machine)?);
            machine.spend(of.weight() / 16, span)?;
            let found = jinja::contains(&of, &item);
            found
                .map(Value::Bool)
                .map_err(|message| EvalError::wrong_kind(span, message))
        })
    }))
}
