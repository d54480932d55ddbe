//! Text that looks like a placeholder but reaches the model as it is: `{x}`, `${x}`, `$x`.

use std::sync::LazyLock;

use minijinja::machinery::ast::Stmt;
use regex::Regex;

use crate::ast::node::TemplateText;
use crate::diag::{Diagnostic, Diagnostics, Fact, codes};

use super::super::scope::Scope;

// The pattern is a constant, and a test renders a placeholder of each form.
#[allow(clippy::unwrap_used)]
static LOOKALIKE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\$?\{\s*([A-Za-z_]\w*(?:\.\w+)*)\s*\}|\$([A-Za-z_]\w*(?:\.\w+)*)").unwrap()
});

/// Warns of each, where the name in it is one that a placeholder could have.
pub(super) fn check(template: &TemplateText, tree: &Stmt, scope: &Scope, diags: &mut Diagnostics) {
    let Stmt::Template(root) = tree else {
        return;
    };
    let mut raw = Vec::new();
    collect(&root.children, &mut raw);
    for text in raw {
        // A raw text is a slice of the template, so the distance of their addresses is its offset.
        let offset = (text.as_ptr() as usize).saturating_sub(template.text.as_ptr() as usize);
        for found in LOOKALIKE.captures_iter(text) {
            let Some(name) = found.get(1).or(found.get(2)) else {
                continue;
            };
            let Some(meant) = meant(name.as_str(), scope) else {
                continue;
            };
            let Some(all) = found.get(0) else { continue };
            // In a `raw` block a whole placeholder is text on purpose.
            let before = text.get(..all.start()).unwrap_or("");
            let after = text.get(all.end()..).unwrap_or("");
            if before.ends_with('{') && after.starts_with('}') {
                continue;
            }
            let span = template.span_of(offset + all.start(), offset + all.end());
            diags.push(
                Diagnostic::new(
                    &codes::PLACEHOLDER_IN_TEXT,
                    format!("`{}` stays plain text", all.as_str()),
                    span,
                )
                .fact(Fact::Meant(meant.clone()))
                .help(format!("a placeholder is written `{{{{ {meant} }}}}`")),
            );
        }
    }
}

/// The name as a placeholder would have it; `None` where nothing of that name is in scope.
fn meant(written: &str, scope: &Scope) -> Option<String> {
    let mut parts = written.split('.');
    let root = parts.next()?;
    if scope.slot(root).is_some() {
        return Some(written.to_owned());
    }
    if root == "state" {
        let field = parts.next()?;
        return scope.field(field).map(|_| written.to_owned());
    }
    scope.field(root).map(|_| format!("state.{written}"))
}

fn collect<'a>(statements: &[Stmt<'a>], raw: &mut Vec<&'a str>) {
    for statement in statements {
        match statement {
            Stmt::EmitRaw(text) => raw.push(text.raw),
            Stmt::ForLoop(each) => {
                collect(&each.body, raw);
                collect(&each.else_body, raw);
            }
            Stmt::IfCond(branch) => {
                collect(&branch.true_body, raw);
                collect(&branch.false_body, raw);
            }
            Stmt::WithBlock(with) => collect(&with.body, raw),
            Stmt::SetBlock(set) => collect(&set.body, raw),
            Stmt::AutoEscape(escape) => collect(&escape.body, raw),
            Stmt::FilterBlock(block) => collect(&block.body, raw),
            Stmt::Macro(declared) => collect(&declared.body, raw),
            _ => {}
        }
    }
}
