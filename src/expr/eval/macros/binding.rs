//! `cel.bind(x, value, e)`: a name for a value inside of one expression, CEL's bindings extension; and
//! `x.checked(v, condition)`.

use crate::ast::expr::{Expr, ExprKind};

use super::super::compiler::{Compiler, variable};
use super::super::machine::{Node, node};
use super::super::{CompileError, ErrorKind, EvalError, name};
use super::MacroCall;
use super::each::Condition;

/// The node, where the call is one of these.
pub(in super::super) fn compile(
    compiler: &mut Compiler<'_>,
    target: &Expr,
    function: &str,
    args: &[Expr],
) -> Result<Option<Node>, CompileError> {
    let (ExprKind::Ident(space), "bind", [var, value, body]) = (&target.kind, function, args)
    else {
        return Ok(None);
    };
    if space != "cel" || name::is_value(compiler, space) {
        return Ok(None);
    }
    let value = compiler.node(value)?;
    let (body, place) = compiler.with_vars([variable(var)?], |compiler, [place]| {
        Ok((compiler.node(body)?, place))
    })?;
    let bind = node(move |machine| {
        let value = value.eval(machine)?;
        machine.put(place, value);
        body.eval(machine)
    });
    bind.map(Some)
}

/// The value itself where the condition holds for it. The error shows no value: it is one that was refused.
pub(super) fn checked(
    compiler: &mut Compiler<'_>,
    call: MacroCall<'_>,
    var: &Expr,
    when: &Expr,
) -> Result<Node, CompileError> {
    let value = compiler.node(call.target)?;
    let (when, place) = compiler.with_vars([variable(var)?], |compiler, [place]| {
        Ok((Condition::compile(compiler, when)?, place))
    })?;
    let span = call.span;
    node(move |machine| {
        let value = value.eval(machine)?;
        machine.put(place, value.clone());
        match when.holds(machine)? {
            true => Ok(value),
            false => Err(EvalError::boxed(
                span,
                ErrorKind::Require,
                "the value is refused: the condition of its `checked` does not hold",
            )),
        }
    })
}
