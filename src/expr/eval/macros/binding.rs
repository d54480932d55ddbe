//! `cel.bind(x, value, e)`: a name for a value inside of one expression. CEL's bindings extension.

use crate::ast::expr::{Expr, ExprKind};

use super::super::compiler::{Compiler, variable};
use super::super::machine::{Node, node};
use super::super::{CompileError, name};

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
