//! `has(a.b)`.
//!
//! Whether `a` has a `b` that isn't null. In CEL a field of a record that isn't set is not there,
//! a map's entry is, also when it is null; here a record's field that isn't set is null, and
//! `has` is what narrows `T?` to `T`, so null counts as not there.

use crate::ast::expr::{Expr, ExprKind};
use crate::expr::function::message;
use crate::value::{Str, Value};

use super::compiler::{Compiler, error};
use super::machine::{Node, node};
use super::select::no_fields;
use super::{CompileError, ErrorKind, name};

pub(super) fn compile(compiler: &mut Compiler<'_>, arg: &Expr) -> Result<Node, CompileError> {
    let ExprKind::Select {
        operand,
        field,
        optional: false,
    } = &arg.kind
    else {
        return Err(error(
            arg.span,
            "`has` takes a field, such as `has(state.hero)`",
        ));
    };
    if is_name(compiler, arg) {
        // `has(state.x)`: a field without a value is not there.
        let value = compiler.node(arg)?;
        return node(move |machine| match value.eval(machine) {
            Ok(value) => Ok(Value::Bool(!value.is_null())),
            Err(error) if error.kind == ErrorKind::NoValue => Ok(Value::Bool(false)),
            Err(error) => Err(error),
        });
    }
    let (operand, field) = (compiler.node(operand)?, Str::from(field.as_str()));
    let span = arg.span;
    node(move |machine| {
        let mut operand = operand.eval(machine)?;
        while let Value::Optional(inner) = operand {
            match inner {
                None => return Ok(Value::Bool(false)),
                Some(value) => operand = (*value).clone(),
            }
        }
        match operand {
            Value::Map(map) => Ok(Value::Bool(
                message::field(&map, &field).is_some_and(|value| !value.is_null()),
            )),
            other => Err(no_fields(&other, &field, span)),
        }
    })
}

/// Whether `a.b` as a whole is a field of `state` or a dotted name.
fn is_name(compiler: &Compiler<'_>, arg: &Expr) -> bool {
    let Some(parts) = name::path(arg) else {
        return false;
    };
    let Some((first, _)) = parts.first() else {
        return false;
    };
    if compiler.local(first).is_some() {
        return false;
    }
    let names: Vec<&str> = parts.iter().map(|(name, _)| *name).collect();
    compiler.scope.slot(&names.join(".")).is_some()
        || (*first == "state"
            && parts.len() == 2
            && compiler.scope.slot("state").is_none()
            && compiler.scope.state.is_some())
}
