//! `o.optMap(x, e)`, `o.optFlatMap(x, e)`.

use crate::ast::expr::Expr;
use crate::expr::function::optional::present;
use crate::value::Value;

use super::super::compiler::{Compiler, variable};
use super::super::machine::{Node, node};
use super::super::{CompileError, EvalError};
use super::MacroCall;

/// `flat`: the body gives an optional itself.
pub(super) fn map(
    compiler: &mut Compiler<'_>,
    call: MacroCall<'_>,
    var: &Expr,
    body: &Expr,
    flat: bool,
) -> Result<Node, CompileError> {
    let operand = compiler.node(call.target)?;
    let (body, place) = compiler.with_vars([variable(var)?], |compiler, [place]| {
        Ok((compiler.node(body)?, place))
    })?;
    let span = call.span;
    let not_optional = move |value: &Value| {
        let message = format!("an optional is expected here, found `{}`", value.kind());
        Err(EvalError::wrong_kind(span, message))
    };
    node(move |machine| {
        let inner = match operand.eval(machine)? {
            Value::Optional(Some(inner)) => inner,
            none @ Value::Optional(None) => return Ok(none),
            other => return not_optional(&other),
        };
        machine.put(place, (*inner).clone());
        match body.eval(machine)? {
            value if !flat => machine.made(present(Some(&value)), span),
            value @ Value::Optional(_) => Ok(value),
            other => not_optional(&other),
        }
    })
}
