//! Literals, and every other value that is known when an expression is compiled.

use crate::ast::expr::Literal;
use crate::value::Value;

use super::machine::{Eval, Evaluated, Machine, Node};

/// A value known beforehand.
pub(super) struct Constant(pub Value);

impl Eval for Constant {
    fn eval(&self, _: &mut Machine<'_>) -> Evaluated {
        Ok(self.0.clone())
    }
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
