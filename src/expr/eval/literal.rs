//! Literals, and every other value that is known when an expression is compiled.

use crate::ast::expr::Literal;
use crate::value::Value;

use super::machine::{Eval, Evaluated, Machine, Node};
use super::{CompileError, ErrorKind, EvalError};

/// A value known beforehand.
pub(super) struct Constant(pub Value);

impl Eval for Constant {
    fn eval(&self, _: &mut Machine<'_>) -> Evaluated {
        Ok(self.0.clone())
    }
}

/// What failed to compile, where that is to be found out in evaluation.
struct Unresolved(CompileError);

impl Eval for Unresolved {
    fn eval(&self, _: &mut Machine<'_>) -> Evaluated {
        let CompileError { message, span } = &self.0;
        Err(EvalError::boxed(
            *span,
            ErrorKind::NoValue,
            message.as_str(),
        ))
    }
}

pub(super) fn unresolved(error: CompileError) -> Node {
    Box::new(Unresolved(error))
}

pub(super) fn compile(literal: &Literal) -> Node {
    Box::new(Constant(value(literal)))
}

fn value(literal: &Literal) -> Value {
    match literal {
        Literal::Null => Value::Null,
        Literal::Bool(b) => Value::Bool(*b),
        Literal::Int(i) => Value::Int(*i),
        Literal::UInt(u) => Value::Uint(*u),
        Literal::Float(f) => Value::Float(*f),
        Literal::String(text) => Value::String(text.clone()),
        Literal::Bytes(bytes) => Value::Bytes(bytes.clone()),
    }
}
