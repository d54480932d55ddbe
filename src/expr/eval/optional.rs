//! `a.or(b)`, `a.orValue(b)`: the other side is only evaluated where `a` is none.

use crate::base::Span;
use crate::value::Value;

use super::EvalError;
use super::machine::Node;

/// `value`: what is inside is the result, no optional.
pub(super) fn or(operand: Node, other: Node, value: bool, span: Span) -> Node {
    let not_optional = move |found: &Value| {
        let name = if value { "orValue" } else { "or" };
        let message = format!("`{name}` takes an optional, found `{}`", found.kind());
        Err(EvalError::wrong_kind(span, message))
    };
    Node::new(move |machine| match operand.eval(machine)? {
        Value::Optional(Some(inner)) if value => Ok((*inner).clone()),
        Value::Optional(None) if value => other.eval(machine),
        some @ Value::Optional(Some(_)) => Ok(some),
        Value::Optional(None) => match other.eval(machine)? {
            other @ Value::Optional(_) => Ok(other),
            other => not_optional(&other),
        },
        other => not_optional(&other),
    })
}
