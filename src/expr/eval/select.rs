//! `a.b`, `a.?b`.

use crate::ast::Name;
use crate::ast::expr::Expr;
use crate::base::Span;
use crate::expr::function::{message, optional::present};
use crate::value::{Str, Value};

use super::compiler::Compiler;
use super::machine::{Evaluated, Node, node};
use super::{CompileError, ErrorKind, EvalError, name};

pub(super) fn compile(
    compiler: &mut Compiler<'_>,
    expr: &Expr,
    operand: &Expr,
    field: &Name,
    optional: bool,
) -> Result<Node, CompileError> {
    let span = expr.span;
    if !optional {
        return match name::path(expr) {
            Some(parts) => name::compile_path(compiler, &parts, span),
            None => Ok(select(compiler.node(operand)?, field, span)),
        };
    }
    if name::is_state(compiler, operand) {
        // `state.?x`: none where the field has no value.
        let parts = [("state", operand.span), (field.as_str(), span)];
        let value = name::compile_path(compiler, &parts, span)?;
        return node(move |machine| match value.eval(machine) {
            Ok(value) => Ok(present(Some(&value))),
            Err(error) if error.kind == ErrorKind::NoValue => Ok(Value::Optional(None)),
            Err(error) => Err(error),
        });
    }
    // `a.?b`: none where `a` is null or has no `b`, or where `b` is null. CEL gives an optional that holds null for the last;
    // here a field that is null is one that isn't set, and the optional reads through it, so that `.orValue(..)` gives the default.
    let (operand, field) = (compiler.node(operand)?, Str::from(field.as_str()));
    node(move |machine| match operand.eval(machine)? {
        Value::Optional(inner) => select_optional(inner.as_deref(), &field, span),
        value => select_optional(Some(&value), &field, span),
    })
}

/// `a.b`
pub(super) fn select(operand: Node, field: &str, span: Span) -> Node {
    let field = Str::from(field);
    Node::new(move |machine| match operand.eval(machine)? {
        Value::Map(map) => message::field(&map, &field).ok_or_else(|| {
            let message = format!("no such key: `{field}`");
            EvalError::boxed(span, ErrorKind::NoSuchKey, message)
        }),
        Value::Optional(inner) => select_optional(inner.as_deref(), &field, span),
        other => Err(no_fields(&other, &field, span)),
    })
}

pub(super) fn no_fields(value: &Value, field: &str, span: Span) -> Box<EvalError> {
    let message = match value {
        Value::Null => format!("`{field}` is read of null"),
        other => format!("`{}` has no fields, so no `{field}`", other.kind()),
    };
    EvalError::wrong_kind(span, message)
}

fn select_optional(value: Option<&Value>, field: &str, span: Span) -> Evaluated {
    match value {
        None | Some(Value::Null) => Ok(Value::Optional(None)),
        Some(Value::Map(map)) => Ok(present(message::field(map, field).as_ref())),
        Some(Value::Optional(inner)) => select_optional(inner.as_deref(), field, span),
        Some(other) => Err(no_fields(other, field, span)),
    }
}
