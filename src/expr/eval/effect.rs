//! `now()`, `uuid()`, `random()`; `stale(state.x)`, `invalidated_by(state.x)`.

use crate::ast::expr::{Expr, ExprKind};
use crate::base::Span;
use crate::value::Value;

use super::compiler::{Compiler, error};
use super::machine::{Node, node};
use super::{CompileError, Effect, ErrorKind, EvalError, name};

pub(super) fn compile(
    compiler: &Compiler<'_>,
    span: Span,
    effect: Effect,
    function: &str,
    args: &[Expr],
) -> Result<Node, CompileError> {
    if !args.is_empty() {
        let message = format!("`{function}` takes no arguments, found {}", args.len());
        return Err(error(span, message));
    }
    if !compiler.scope.effects {
        return Err(error(
            span,
            format!("`{function}()` may not be called here: the value must be the same each time"),
        ));
    }
    node(move |machine| {
        let found = machine.env.effect(effect);
        found.map_err(|message| EvalError::boxed(span, ErrorKind::Effect, message))
    })
}

/// Compiles `stale(state.x)` and `invalidated_by(state.x)`.
pub(super) fn compile_freshness(
    compiler: &Compiler<'_>,
    span: Span,
    function: &str,
    args: &[Expr],
) -> Result<Node, CompileError> {
    let wanted = || {
        error(
            span,
            format!("`{function}` takes a field, such as `state.x`"),
        )
    };
    let [arg] = args else {
        return Err(wanted());
    };
    let ExprKind::Select { operand, field, .. } = &arg.kind else {
        return Err(wanted());
    };
    if !name::is_state(compiler, operand) {
        return Err(wanted());
    }
    let Some((index, _)) = compiler.scope.field(field) else {
        let fields = compiler.scope.state.as_deref().into_iter().flatten();
        let message = format!("`state` has no field `{}`", field.node);
        let known = fields.map(|(name, _)| name.as_str());
        return Err(error(field.span, name::meant(message, field, known)));
    };
    // Whether the names are asked for, not only whether there are any.
    let named = function == "invalidated_by";
    node(move |machine| {
        let names = machine.env.invalidated_by(index);
        let names =
            names.map_err(|message| EvalError::boxed(span, ErrorKind::Function, message))?;
        Ok(match named {
            true => names,
            false => Value::Bool(names.as_list().is_some_and(|names| !names.is_empty())),
        })
    })
}
