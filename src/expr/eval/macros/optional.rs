//! `o.optMap(x, e)`, `o.optFlatMap(x, e)`.

use crate::ast::expr::Expr;
use crate::base::Span;
use crate::expr::function::optional::present;
use crate::value::Value;

use super::super::compiler::{Compiler, variable};
use super::super::machine::{Eval, Evaluated, Local, Machine, Node};
use super::super::{CompileError, EvalError};
use super::MacroCall;

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
    Ok(Box::new(OptMap {
        operand,
        body,
        place,
        flat,
        span: call.span,
    }))
}

struct OptMap {
    operand: Node,
    body: Node,
    place: Local,
    /// Whether the body gives an optional itself.
    flat: bool,
    span: Span,
}

impl Eval for OptMap {
    fn eval(&self, machine: &mut Machine<'_>) -> Evaluated {
        let inner = match self.operand.eval(machine)? {
            Value::Optional(Some(inner)) => inner,
            none @ Value::Optional(None) => return Ok(none),
            other => return Err(self.not_optional(&other)),
        };
        machine.put(self.place, (*inner).clone());
        match self.body.eval(machine)? {
            value if !self.flat => machine.made(present(Some(&value)), self.span),
            value @ Value::Optional(_) => Ok(value),
            other => Err(self.not_optional(&other)),
        }
    }
}

impl OptMap {
    fn not_optional(&self, value: &Value) -> Box<EvalError> {
        EvalError::wrong_kind(
            self.span,
            format!("an optional is expected here, found `{}`", value.kind()),
        )
    }
}
