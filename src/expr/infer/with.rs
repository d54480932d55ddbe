//! `r.with({"field": value})`: a record or map with some entries replaced.

use crate::ast::expr::{Expr, ExprKind, Literal};
use crate::diag::{Diagnostic, codes};

use super::super::ty::{RecordId, Type};
use super::checker::Checker;
use super::record::Given;

impl Checker<'_> {
    /// The type of the target itself; what replaces its entries is checked against theirs.
    pub(super) fn with(&mut self, target: &Expr, changes: &Expr) -> Type {
        let of = self.non_null(target, "`.with(..)`");
        match &of {
            Type::Record(id) => self.with_fields(*id, changes),
            Type::Map(_) => {
                self.check(changes, &of);
            }
            Type::Json => {
                self.check(changes, &Type::map(Type::Json));
            }
            Type::Error | Type::Never => {
                self.expr(changes, None);
            }
            other => {
                self.expr(changes, None);
                let message = format!("{} has no method `with`", self.show(other));
                return self.report(
                    Diagnostic::new(&codes::UNKNOWN_FUNCTION, message, target.span)
                        .help("`with` is a method of records and maps"),
                );
            }
        }
        of
    }

    fn with_fields(&mut self, id: RecordId, changes: &Expr) {
        let ExprKind::Map(entries) = &changes.kind else {
            let found = self.expr(changes, None);
            if !matches!(found, Type::Error) {
                let message = "the changed fields of a record must be written out".to_owned();
                self.report(
                    Diagnostic::new(&codes::TYPE_MISMATCH, message, changes.span).help(
                        "write a map with the names of its fields: `.with({\"name\": value})`",
                    ),
                );
            }
            return;
        };
        let mut given = Vec::new();
        for entry in entries {
            match &entry.key.kind {
                ExprKind::Literal(Literal::String(key)) => given.push(Given {
                    name: key.to_string(),
                    span: entry.key.span,
                    value: &entry.value,
                    optional: entry.optional,
                    quoted: true,
                }),
                _ => {
                    self.expr(&entry.value, None);
                    let message = "the name of a field must be written out as text".to_owned();
                    self.error(&codes::TYPE_MISMATCH, message, entry.key.span);
                }
            }
        }
        self.fields(id, &given);
    }
}
