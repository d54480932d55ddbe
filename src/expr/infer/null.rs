//! Messages for what may be null where nothing guards it.

use crate::ast::Name;
use crate::ast::expr::{Expr, ExprKind};
use crate::diag::{Diagnostic, Diagnostics, Fact, codes};

use super::super::ty::Type;
use super::checker::Checker;
use super::path::{access_path, path};
use super::template::source;

impl Checker<'_> {
    /// `x` may be null, in words that name it where it has a name.
    pub(super) fn may_be_null(&self, expr: &Expr) -> String {
        if let Some(source) = source(expr).filter(|_| self.template) {
            return format!("`{source}` may be null");
        }
        match path(expr) {
            Some(path) => format!("`{path}` may be null"),
            None => match self.null_of(expr) {
                Some(path) => format!("this may be null where `{path}` is"),
                None => "this may be null".to_owned(),
            },
        }
    }

    /// The place from which an expression takes its null, where it can be said.
    fn null_of(&self, expr: &Expr) -> Option<String> {
        match &expr.kind {
            ExprKind::Conditional(_, yes, no) => self.null_of(yes).or_else(|| self.null_of(no)),
            ExprKind::Call {
                target: Some(target),
                ..
            } => self.null_of(target),
            _ => {
                let place = path(expr)?;
                let mut silent = Diagnostics::new();
                let ty = Checker::new(self.scope, self.types, &mut silent).expr(expr, None);
                matches!(ty, Type::Nullable(_)).then_some(place)
            }
        }
    }

    /// Reports a null that nothing guards; `field` is what is read from it.
    pub(super) fn null_not_handled(&mut self, expr: &Expr, message: String, field: Option<&Name>) {
        if self.template {
            let of = self.silent(expr).without_null();
            return self.unguarded(expr, &of, message);
        }
        let help = match (path(expr), field) {
            (Some(path), Some(field)) => format!(
                "guard it with `{path} != null`, or read through it: `{path}.?{}.orValue(..)`",
                field.node
            ),
            (Some(path), None) => {
                format!(
                    "guard it with `{path} != null`, or give a value: `{path} != null ? {path} : ..`"
                )
            }
            (None, _) => "give it a name with `let` and guard that with `!= null`".to_owned(),
        };
        let found = Diagnostic::new(&codes::NULL_NOT_HANDLED, message, expr.span)
            .help(help)
            .fact(Fact::Unproven);
        self.report(match access_path(expr) {
            Some(place) => found.fact(Fact::Value(place)),
            None => found,
        });
    }
}

/// How what is null is left out of a list.
pub(super) fn without_null(expr: &Expr) -> String {
    if let ExprKind::Call {
        target: Some(target),
        function,
        args,
    } = &expr.kind
        && let ("map", [var, value]) = (function.node.as_str(), args.as_slice())
        && let (Some(var), Some(value)) = (path(var), path(value))
    {
        let of = match &target.kind {
            // What the filter has shown is not known of the list that it gives.
            ExprKind::Call {
                target: Some(inner),
                function,
                ..
            } if function.node == "filter" => path(inner),
            _ => path(target),
        };
        let of = of.unwrap_or_else(|| "xs".to_owned());
        return format!(
            "leave out what is null in the same step: `{of}.map({var}, {value} != null, {value})`"
        );
    }
    let of = path(expr).unwrap_or_else(|| "xs".to_owned());
    format!("leave out what is null: `{of}.filter(x, x != null)`")
}
