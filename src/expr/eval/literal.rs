//! Literals, and every other value that is known when an expression is compiled.

use crate::ast::expr::Literal;
use crate::value::Value;

use super::machine::Node;
use super::{CompileError, ErrorKind, EvalError};

/// A value known beforehand.
pub(super) fn constant(value: Value) -> Node {
    Node::new(move |_| Ok(value.clone()))
}

/// What failed to compile, where that is to be found out in evaluation.
pub(super) fn unresolved(CompileError { message, span }: CompileError) -> Node {
    Node::new(move |_| {
        let message = message.as_str();
        Err(EvalError::boxed(span, ErrorKind::NoValue, message))
    })
}

pub(super) fn compile(literal: &Literal) -> Node {
    constant(value(literal))
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
