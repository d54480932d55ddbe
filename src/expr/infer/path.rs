//! Expressions that name a place: `state.a.b`, `answer.note`, `state.docs["x"]`.

use crate::ast::expr::{Expr, ExprKind, Literal};

/// The place that an expression names, as text; `None` where it names none.
///
/// Two expressions with the same path have the same value as long as nothing is written between
/// them. An index counts where it is a text, a whole number or itself a path.
pub fn path(expr: &Expr) -> Option<String> {
    match &expr.kind {
        ExprKind::Ident(name) => Some(name.clone()),
        ExprKind::Select {
            operand,
            field,
            optional: false,
        } => Some(format!("{}.{}", path(operand)?, field.node)),
        ExprKind::Index {
            operand,
            index,
            optional: false,
        } => {
            let operand = path(operand)?;
            match &index.kind {
                ExprKind::Literal(Literal::String(key)) => Some(format!("{operand}[{key:?}]")),
                ExprKind::Literal(Literal::Int(i)) => Some(format!("{operand}[{i}]")),
                _ => Some(format!("{operand}[{}]", path(index)?)),
            }
        }
        _ => None,
    }
}

/// The names of `a.b.c`; `None` for any other form.
pub fn dotted(expr: &Expr) -> Option<String> {
    path(expr).filter(|path| !path.contains('['))
}
