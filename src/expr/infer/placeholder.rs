//! Texts of expressions that look as if they were templates: `"no card {state.card}"`.

use std::sync::LazyLock;

use regex::Regex;

use crate::base::Span;
use crate::diag::{Diagnostic, codes};

use super::checker::Checker;

// The pattern is a constant, and a case of `tests/check` has each form.
#[allow(clippy::unwrap_used)]
static LOOKALIKE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\{\{\s*([a-z_]\w*(?:\.\w+)*)\s*\}\}|\$?\{\s*([a-z_]\w*(?:\.\w+)*)\s*\}").unwrap()
});

impl Checker<'_> {
    /// Warns of what would be a placeholder in a template, where it names something in scope.
    pub(super) fn plain_placeholder(&mut self, text: &str, at: Span) {
        if self.quiet || !text.contains('{') {
            return;
        }
        for found in LOOKALIKE.captures_iter(text) {
            let (Some(all), Some(path)) = (found.get(0), found.get(1).or(found.get(2))) else {
                continue;
            };
            let before = text.get(..all.start()).unwrap_or_default();
            let (all, path) = (all.as_str(), path.as_str());
            // `/cards/{id}` is how paths are written down.
            if before.ends_with('/') && !path.contains('.') && !all.starts_with("{{") {
                continue;
            }
            let mut parts = path.split('.');
            let root = parts.next().unwrap_or("");
            let known = match (root, parts.next()) {
                ("state", Some(field)) => self.scope.field(field).is_some(),
                ("state", None) => false,
                (root, _) => {
                    self.scope.slot(root).is_some()
                        || self.locals.iter().any(|(name, _)| name == root)
                }
            };
            if known {
                let message = format!("`{all}` stays plain text: only prompts are templates");
                let joined = format!("join texts by `+`, as in `\"..\" + string({path})`");
                self.diags
                    .push(Diagnostic::new(&codes::PLACEHOLDER_IN_TEXT, message, at).help(joined));
                return;
            }
        }
    }
}
