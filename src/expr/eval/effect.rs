//! `now()`, `uuid()`, `random()`; `stale(state.x)`, `invalidated_by(state.x)`.

use crate::ast::expr::{Expr, ExprKind};
use crate::base::Span;
use crate::value::Value;

use super::compiler::{Compiler, error};
use super::machine::{Eval, Evaluated, Machine, Node};
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
    Ok(Box::new(Perform { effect, span }))
}

struct Perform {
    effect: Effect,
    span: Span,
}

impl Eval for Perform {
    fn eval(&self, machine: &mut Machine<'_>) -> Evaluated {
        machine
            .env
            .effect(self.effect)
            .map_err(|message| EvalError::boxed(self.span, ErrorKind::Effect, message))
    }
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
    Ok(Box::new(Freshness {
        index,
        names: function == "invalidated_by",
        span,
    }))
}

struct Freshness {
    index: u32,
    /// Whether the names are asked for, not only whether there are any.
    names: bool,
    span: Span,
}

impl Eval for Freshness {
    fn eval(&self, machine: &mut Machine<'_>) -> Evaluated {
        let names = machine
            .env
            .invalidated_by(self.index)
            .map_err(|message| EvalError::boxed(self.span, ErrorKind::Function, message))?;
        Ok(match self.names {
            true => names,
            false => Value::Bool(names.as_list().is_some_and(|names| !names.is_empty())),
        })
    }
}
