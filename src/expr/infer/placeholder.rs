//! Plain texts that look as if something were put into them: only templates do that.

use std::sync::LazyLock;

use regex::Regex;

use crate::ast::expr::Literal;
use crate::base::Span;
use crate::diag::{Diagnostic, codes};

use super::super::ty::Type;
use super::checker::Checker;

// The pattern is a constant, and a case of the tests has each of its forms.
#[allow(clippy::unwrap_used)]
static LOOKALIKE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\$?\{\{?\s*([A-Za-z_]\w*)((?:\.\w+)+)\s*\}\}?").unwrap()
});

impl Checker<'_> {
    /// Warns of `{state.x}` in a text, where `state.x` is something that can be read there. A bare `{x}` is left alone: it is
    /// the form of many a path that a program fills in itself.
    pub(super) fn placeholder_in(&mut self, literal: &Literal, span: Span) {
        let Literal::String(text) = literal else {
            return;
        };
        if !text.contains('{') {
            return;
        }
        for found in LOOKALIKE.captures_iter(text) {
            let (Some(all), Some(root), Some(rest)) = (found.get(0), found.get(1), found.get(2))
            else {
                continue;
            };
            let field = rest.as_str().split('.').nth(1).unwrap_or_default();
            if !self.has_place(root.as_str(), field) {
                continue;
            }
            let place = format!("{}{}", root.as_str(), rest.as_str());
            let message = format!("`{}` stays plain text", all.as_str());
            let help = format!(
                "put a text together with `+`, as in `\"..\" + {place}`, or with `\"..%s\".format([{place}])`"
            );
            self.report(Diagnostic::new(&codes::PLACEHOLDER_IN_TEXT, message, span).help(help));
            return;
        }
    }

    /// Whether `root.field` can be read here.
    fn has_place(&self, root: &str, field: &str) -> bool {
        if root == "state" && self.scope.state.is_some() {
            return self.scope.field(field).is_some();
        }
        match self.named(root).map(|ty| ty.without_null()) {
            Some(Type::Record(id)) => {
                let record = self.types.records.get(id);
                record.is_some_and(|record| record.field(field).is_some())
            }
            _ => false,
        }
    }
}
