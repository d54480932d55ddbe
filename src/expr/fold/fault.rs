//! Constants that have no value: parts of an expression that fail in every run.

use crate::ast::expr::{Expr, ExprKind};
use crate::base::Span;

use super::super::eval::{self, ErrorKind};
use super::{Folder, any};

/// A part that fails whenever a run comes to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    /// What fails, in backticks: a function, a sign.
    pub what: String,
    /// Why, in the words of the evaluator.
    pub message: String,
    /// The part.
    pub span: Span,
}

impl Folder<'_> {
    /// What fails in every run: of each part that depends on nothing else, the first thing in it.
    pub fn faults(&self, expr: &Expr) -> Vec<Fault> {
        let mut found = Vec::new();
        let mut open = vec![expr];
        while let Some(expr) = open.pop() {
            if !any(expr, computes) {
                continue;
            }
            match self.is_closed(expr, &[]) {
                true => found.extend(self.fault(expr)),
                false => expr.each_part(|part| open.push(part)),
            }
        }
        found.sort_by_key(|fault| fault.span.start);
        found
    }

    fn fault(&self, expr: &Expr) -> Option<Fault> {
        let program = eval::compile(expr, &self.scope, self.types).ok()?;
        let error = program.eval(&self.params).err()?;
        let told = !matches!(error.kind, ErrorKind::NoValue | ErrorKind::Effect);
        told.then(|| Fault {
            what: named(expr, error.span),
            message: error.message,
            span: error.span,
        })
    }
}

/// Whether something in it is computed that may fail.
fn computes(part: &Expr) -> bool {
    matches!(
        part.kind,
        ExprKind::Call { .. } | ExprKind::Index { .. } | ExprKind::Binary(..) | ExprKind::Unary(..)
    )
}

/// What stands at a place of the expression.
fn named(expr: &Expr, at: Span) -> String {
    let mut open = vec![expr];
    while let Some(expr) = open.pop() {
        if let ExprKind::Call { function, .. } = &expr.kind
            && (expr.span == at || function.span == at)
        {
            return format!("`{}`", function.node);
        }
        if expr.span == at && matches!(expr.kind, ExprKind::Index { .. }) {
            return "this index".to_owned();
        }
        expr.each_part(|part| open.push(part));
    }
    "this".to_owned()
}
