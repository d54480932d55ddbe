//! Whether the errors of an expression may show the values that it met.
//!
//! Where a flow marks something `@secret`, its messages must not carry it outside. What a `let` name, a result or a loop
//! variable holds can't be told from the expression alone, so only what is read from places by name counts as known.

use std::collections::BTreeSet;

use crate::ast::expr::{Expr, ExprKind, Literal};

/// Names whose fields are looked at one by one.
const ROOTS: [&str; 4] = ["state", "context", "params", "run"];

/// Whether an expression reads nothing but fields that bear none of the names in `secret`.
pub fn shows_no_secret(expr: &Expr, secret: &BTreeSet<String>) -> bool {
    is_open(expr, secret, false)
}

/// `selected`: whether a field of it is read, so that it is not shown as a whole.
fn is_open(expr: &Expr, secret: &BTreeSet<String>, selected: bool) -> bool {
    match &expr.kind {
        ExprKind::Ident(name) => selected && ROOTS.contains(&name.as_str()),
        ExprKind::Select { operand, field, .. } => {
            !secret.contains(&field.node) && is_open(operand, secret, true)
        }
        ExprKind::Literal(Literal::String(text)) => !secret.contains(&**text),
        _ => expr
            .parts()
            .into_iter()
            .all(|part| is_open(part, secret, false)),
    }
}
