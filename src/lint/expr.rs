//! What expressions read of the state.

use crate::ast::expr::{Expr, ExprKind};

/// Whether it reads `state.FIELD` anywhere.
pub fn reads_field(expr: &Expr, field: &str) -> bool {
    fields_read(expr).contains(&field)
}

/// Fields of the state that it reads.
pub fn fields_read(expr: &Expr) -> Vec<&str> {
    let (mut open, mut found) = (vec![expr], Vec::new());
    while let Some(expr) = open.pop() {
        found.extend(state_field(expr));
        open.extend(expr.parts());
    }
    found
}

/// The field of `state.FIELD`.
pub fn state_field(expr: &Expr) -> Option<&str> {
    match &expr.kind {
        ExprKind::Select { operand, field, .. } => match &operand.kind {
            ExprKind::Ident(name) if name == "state" => Some(&field.node),
            _ => None,
        },
        _ => None,
    }
}
