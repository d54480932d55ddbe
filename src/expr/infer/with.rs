//! `r.with({"field": value})`: a record with some fields changed.

use crate::ast::expr::{Expr, ExprKind, Literal};

use super::super::ty::Type;
use super::checker::Checker;
use super::record::Given;

impl Checker<'_> {
    /// The record's own type, its changed fields checked; `None` where the target is no record or the
    /// changes aren't written out, which is a matter of maps.
    pub(super) fn with(&mut self, target: &Expr, changes: &Expr) -> Option<Type> {
        let ExprKind::Map(entries) = &changes.kind else {
            return None;
        };
        let keys: Option<Vec<String>> = entries
            .iter()
            .map(|entry| match &entry.key.kind {
                ExprKind::Literal(Literal::String(key)) => Some(key.to_string()),
                _ => None,
            })
            .collect();
        let keys = keys?;
        let Type::Record(id) = self.unheard(target).without_null() else {
            return None;
        };
        self.non_null(target, "`.with(..)`");
        let given: Vec<Given> = entries
            .iter()
            .zip(keys)
            .map(|(entry, name)| Given {
                name,
                span: entry.key.span,
                value: &entry.value,
                optional: entry.optional,
                quoted: true,
            })
            .collect();
        self.fields(id, &given);
        Some(Type::Record(id))
    }
}
