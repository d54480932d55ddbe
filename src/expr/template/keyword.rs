//! Arguments of filters by name: `join(d=", ")`.

use minijinja::machinery::ast;

use crate::base::Span;
use crate::diag::{Diagnostic, codes};

use super::check::Check;

/// The names that a filter knows; `None` where it takes any.
fn names(filter: &str) -> Option<&'static [&'static str]> {
    Some(match filter {
        "d" | "default" => &["default_value", "boolean"],
        "dictsort" => &["by", "case_sensitive", "reverse"],
        "float" => &["default"],
        "groupby" => &["attribute", "default", "case_sensitive"],
        "indent" => &["width", "first", "blank"],
        "int" => &["default", "base"],
        "join" => &["d", "attribute"],
        "map" => &["attribute", "default"],
        "max" | "min" | "unique" => &["attribute", "case_sensitive"],
        "round" => &["precision", "method"],
        "sort" => &["attribute", "case_sensitive", "reverse"],
        "sum" => &["attribute", "start"],
        "tojson" => &["indent"],
        "format" => return None,
        _ => &[],
    })
}

impl Check<'_> {
    /// Reports names that a filter doesn't know. `at` is the filter's name.
    pub(super) fn keywords(&mut self, applied: &ast::Filter, at: Span) {
        let Some(known) = names(applied.name) else {
            return;
        };
        for arg in &applied.args {
            let ast::CallArg::Kwarg(name, value) = arg else {
                continue;
            };
            if known.contains(name) {
                continue;
            }
            let span = self.keyword_span(name, value).unwrap_or(at);
            let message = format!("the filter `{}` has no argument `{name}`", applied.name);
            let found = Diagnostic::new(&codes::WRONG_ARGUMENTS, message, span);
            self.report(match known.is_empty() {
                true => found.help("none of its arguments has a name"),
                false => found.meant(span, name, known.iter().copied(), "it knows"),
            });
        }
    }

    /// The place of the name before a value.
    fn keyword_span(&self, name: &str, value: &ast::Expr) -> Option<Span> {
        let start = self.whole(value.span()).start;
        let before = self.template.text.get(..start)?;
        let before = before.trim_end_matches(['"', '\'', '(', '[', '{', '-', ' ']);
        let at = before
            .strip_suffix('=')?
            .trim_end()
            .strip_suffix(name)?
            .len();
        Some(self.template.span_of(at, at + name.len()))
    }
}
