//! `a.or(b)`, `a.orValue(b)`: the other side is only evaluated where `a` is none.

use crate::base::Span;
use crate::value::Value;

use super::EvalError;
use super::machine::{Eval, Evaluated, Machine, Node};

pub(super) struct Or {
    pub operand: Node,
    pub other: Node,
    /// `orValue`: the result is the value, no optional.
    pub unwrap: bool,
    pub span: Span,
}

impl Eval for Or {
    fn eval(&self, machine: &mut Machine<'_>) -> Evaluated {
        match self.operand.eval(machine)? {
            Value::Optional(Some(inner)) if self.unwrap => Ok((*inner).clone()),
            Value::Optional(None) if self.unwrap => self.other.eval(machine),
            some @ Value::Optional(Some(_)) => Ok(some),
            Value::Optional(None) => match self.other.eval(machine)? {
                other @ Value::Optional(_) => Ok(other),
                other => Err(self.not_optional(&other)),
            },
            other => Err(self.not_optional(&other)),
        }
    }
}

impl Or {
    fn not_optional(&self, value: &Value) -> Box<EvalError> {
        let name = match self.unwrap {
            true => "orValue",
            false => "or",
        };
        EvalError::wrong_kind(
            self.span,
            format!("`{name}` takes an optional, found `{}`", value.kind()),
        )
    }
}
