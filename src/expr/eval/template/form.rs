//! Calls: of what asks for a value that may be missing, of what asks something of each element, of Jinja's functions, and of
//! the language's.

use crate::ast::Name;
use crate::ast::expr::{BinaryOp, Expr};
use crate::base::{Span, Spanned};
use crate::expr::function::{self, FunctionSpec, jinja};
use crate::value::Value;

use super::super::call::finish;
use super::super::compiler::{Compiler, error, variable};
use super::super::machine::{Evaluated, Machine, Node, node};
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
        computed(machine, found, compute, values, span)
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
        let items = jinja::elements(&jinja::plain(of))
            .map_err(|message| EvalError::wrong_kind(at, message))?;
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
        computed(machine, found, compute, values, span)
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
        computed(machine, found, compute, values, span)
    })
}

/// A method: Jinja's, or else the language's.
fn method(
    compiler: &mut Compiler<'_>,
    of: &Expr,
    name: &Name,
    args: &[Expr],
    span: Span,
) -> Result<Node, CompileError> {
    match jinja::find(&format!(".{}", name.node)) {
        Some(found) if found.takes(args.len() + 1) => {
            let operands: Vec<Expr> = std::iter::once(of).chain(args).cloned().collect();
            applied(compiler, found, &operands, span)
        }
        Some(_) => {
            let message = format!("`{}` does not take {} arguments", name.node, args.len());
            Err(error(name.span, message))
        }
        None if function::find(name, true).is_some() => {
            of_language(compiler, span, Some(of), name, args)
        }
        None => Err(error(
            name.span,
            format!("there is no method `{}`", name.node),
        )),
    }
}

/// Charges for what a function is given, and calls it.
fn computed(
    machine: &mut Machine<'_>,
    found: &'static FunctionSpec,
    compute: function::Compute,
    values: Vec<Value>,
    span: Span,
) -> Evaluated {
    // Operators reckon with times; what is applied to a text takes them as they print.
    let values: Vec<Value> = match found.is_method() && !found.takes_any() {
        true => values.into_iter().map(jinja::plain).collect(),
        false => values,
    };
    if !found.quick {
        let weight: usize = values.iter().map(Value::weight).sum();
        machine.spend(weight / 16, span)?;
    }
    finish(machine, compute(&values), found.bare_name(), span)
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
