//! Expressions that name a place: `state.a.b`, `answer.note`, `state.docs["x"]`.

use crate::ast::expr::{Expr, ExprKind, Literal};
use crate::base::AccessPath;
use crate::base::access_path::Step;

/// The place that an expression names; `None` where it names none.
///
/// Two expressions of one place have the same value as long as nothing is written between them. An index counts where it is a
/// text, a whole number or itself a place.
pub fn access_path(expr: &Expr) -> Option<AccessPath> {
    let mut steps = Vec::new();
    add_steps(expr, &mut steps)?;
    Some(steps.into_iter().collect())
}

fn add_steps(expr: &Expr, steps: &mut Vec<Step>) -> Option<()> {
    match &expr.kind {
        ExprKind::Ident(name) => steps.push(Step::Name(name.as_str().into())),
        ExprKind::Select {
            operand,
            field,
            optional: false,
        } => {
            add_steps(operand, steps)?;
            steps.push(Step::Field(field.as_str().into()));
        }
        ExprKind::Index {
            operand,
            index,
            optional: false,
        } => {
            add_steps(operand, steps)?;
            steps.push(step_of(index, access_path)?);
        }
        _ => return None,
    }
    Some(())
}

/// The step that a value in brackets makes.
pub(super) fn step_of(value: &Expr, path_of: impl Fn(&Expr) -> Option<AccessPath>) -> Option<Step> {
    Some(match &value.kind {
        ExprKind::Literal(Literal::String(key)) => Step::Key(key.clone()),
        ExprKind::Literal(Literal::Int(at)) => Step::Index(*at),
        _ => Step::At(path_of(value)?),
    })
}

/// The same as it is written, for messages.
pub fn path(expr: &Expr) -> Option<String> {
    access_path(expr).map(|place| place.to_string())
}
