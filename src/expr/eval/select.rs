//! `a.b`, `a.?b`.

use crate::ast::Name;
use crate::ast::expr::Expr;
use crate::base::Span;
use crate::expr::function::{message, optional::present};
use crate::value::{Str, Value};

use super::compiler::Compiler;
use super::machine::{Eval, Evaluated, Machine, Node};
use super::{CompileError, ErrorKind, EvalError, name};

pub(super) fn compile(
    compiler: &mut Compiler<'_>,
    expr: &Expr,
    operand: &Expr,
    field: &Name,
    optional: bool,
) -> Result<Node, CompileError> {
    if optional {
        let span = expr.span;
        if name::is_state(compiler, operand) {
            let parts = [("state", operand.span), (field.as_str(), span)];
            let value = name::compile_path(compiler, &parts, span)?;
            return Ok(Box::new(OptionalField { value }));
        }
        return Ok(Box::new(OptionalSelect {
            operand: compiler.node(operand)?,
            field: field.as_str().into(),
            span,
        }));
    }
    match name::path(expr) {
        Some(parts) => name::compile_path(compiler, &parts, expr.span),
        None => Ok(Box::new(Select::new(
            compiler.node(operand)?,
            field,
            expr.span,
        ))),
    }
}

/// `state.?x`: none where the field has no value.
struct OptionalField {
    value: Node,
}

impl Eval for OptionalField {
    fn eval(&self, machine: &mut Machine<'_>) -> Evaluated {
        match self.value.eval(machine) {
            Ok(value) => Ok(present(Some(&value))),
            Err(error) if error.kind == ErrorKind::NoValue => Ok(Value::Optional(None)),
            Err(error) => Err(error),
        }
    }
}

/// `a.b`
pub(super) struct Select {
    operand: Node,
    field: Str,
    span: Span,
}

impl Select {
    pub fn new(operand: Node, field: &str, span: Span) -> Self {
        Self {
            operand,
            field: field.into(),
            span,
        }
    }
}

impl Eval for Select {
    fn eval(&self, machine: &mut Machine<'_>) -> Evaluated {
        match self.operand.eval(machine)? {
            Value::Map(map) => message::field(&map, &self.field).ok_or_else(|| {
                EvalError::boxed(
                    self.span,
                    ErrorKind::NoSuchKey,
                    format!("no such key: `{}`", self.field),
                )
            }),
            Value::Optional(inner) => select_optional(inner.as_deref(), &self.field, self.span),
            other => Err(no_fields(&other, &self.field, self.span)),
        }
    }
}

pub(super) fn no_fields(value: &Value, field: &str, span: Span) -> Box<EvalError> {
    let message = match value {
        Value::Null => format!("`{field}` is read of null"),
        other => format!("`{}` has no fields, so no `{field}`", other.kind()),
    };
    EvalError::wrong_kind(span, message)
}

/// `a.?b`: none where `a` is null or has no `b`, or where `b` is null.
///
/// CEL gives an optional that holds null for the last; here a field that is null is one that
/// isn't set, and the optional reads through it, so that `.orValue(..)` gives the default.
struct OptionalSelect {
    operand: Node,
    field: Str,
    span: Span,
}

impl Eval for OptionalSelect {
    fn eval(&self, machine: &mut Machine<'_>) -> Evaluated {
        match self.operand.eval(machine)? {
            Value::Optional(inner) => select_optional(inner.as_deref(), &self.field, self.span),
            value => select_optional(Some(&value), &self.field, self.span),
        }
    }
}

fn select_optional(value: Option<&Value>, field: &str, span: Span) -> Evaluated {
    match value {
        None | Some(Value::Null) => Ok(Value::Optional(None)),
        Some(Value::Map(map)) => Ok(present(message::field(map, field).as_ref())),
        Some(Value::Optional(inner)) => select_optional(inner.as_deref(), field, span),
        Some(other) => Err(no_fields(other, field, span)),
    }
}
