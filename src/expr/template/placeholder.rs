//! Text that looks like a placeholder but reaches the model as it is: `{x}`, `${x}`, `$x`.

use std::sync::LazyLock;

use minijinja::machinery::ast::{Expr, Stmt};
use regex::Regex;

use crate::ast::node::TemplateText;
use crate::base::SharedSet;
use crate::diag::{Diagnostic, Diagnostics, Fact, codes};

use super::super::scope::Scope;

// The pattern is a constant, and a test renders a placeholder of each form.
#[allow(clippy::unwrap_used)]
static LOOKALIKE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\$?\{\s*([A-Za-z_]\w*(?:\.\w+)*)\s*\}|\$([A-Za-z_]\w*(?:\.\w+)*)").unwrap()
});

// What of a tag the template language doesn't take for one: `% else %}`, `{ % if x %}`, `{% if x % }`.
#[allow(clippy::unwrap_used)]
static HALF_TAG: LazyLock<Regex> = LazyLock::new(|| {
    const WORDS: &str = "(if|elif|else|endif|for|endfor|set|with|endwith|raw|endraw)";
    Regex::new(&format!(
        r"\{{?\s*%\s*{WORDS}\b[^%{{}}\n]*%\s*\}}|\{{\s+%\s*{WORDS}\b[^{{}}\n]*"
    ))
    .unwrap()
});

/// Warns of each, where the name in it is one that a placeholder could have.
pub(super) fn check(template: &TemplateText, tree: &Stmt, scope: &Scope, diags: &mut Diagnostics) {
    let Stmt::Template(root) = tree else {
        return;
    };
    let mut raw = Vec::new();
    collect(&root.children, &mut Names::new(), &mut raw);
    for (text, names) in raw {
        // A raw text is a slice of the template, so the distance of their addresses is its offset.
        let offset = (text.as_ptr() as usize).saturating_sub(template.text.as_ptr() as usize);
        for found in LOOKALIKE.captures_iter(text) {
            let Some(name) = found.get(1).or(found.get(2)) else {
                continue;
            };
            let Some(meant) = meant(name.as_str(), &names, scope) else {
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
                stays_plain(all.as_str(), span)
                    .fact(Fact::Meant(meant.clone()))
                    .help(format!("a placeholder is written `{{{{ {meant} }}}}`")),
            );
        }
        for found in HALF_TAG.captures_iter(text) {
            let Some(all) = found.get(0) else { continue };
            let word = found
                .get(1)
                .or(found.get(2))
                .map_or("", |word| word.as_str());
            let span = template.span_of(offset + all.start(), offset + all.end());
            let tag =
                format!("a tag is written `{{% {word} .. %}}`, without blanks within its signs");
            diags.push(stays_plain(all.as_str(), span).help(tag));
        }
    }
    surplus(&root.children, template, diags);
}

fn stays_plain(text: &str, span: crate::base::Span) -> Diagnostic {
    let message = format!("`{text}` stays plain text");
    Diagnostic::new(&codes::PLACEHOLDER_IN_TEXT, message, span)
}

/// Warns of a `}` directly behind a placeholder that closes no brace of the text before it.
fn surplus(parts: &[Stmt], template: &TemplateText, diags: &mut Diagnostics) {
    let mut open = 0_i64;
    let mut behind_value = false;
    for part in parts {
        if let Stmt::EmitRaw(text) = part {
            if behind_value && open == 0 && text.raw.starts_with('}') {
                let offset =
                    (text.raw.as_ptr() as usize).saturating_sub(template.text.as_ptr() as usize);
                let span = template.span_of(offset, offset + 1);
                diags.push(
                    stays_plain("}", span)
                        .help("a placeholder ends with `}}`: take the third brace out"),
                );
            }
            let mut depth = open;
            for c in text.raw.chars() {
                depth = match c {
                    '{' => depth + 1,
                    '}' => (depth - 1).max(0),
                    _ => depth,
                };
            }
            open = depth;
        } else if !matches!(part, Stmt::EmitExpr(_)) {
            // What a branch opens or closes is not followed.
            return;
        }
        behind_value = matches!(part, Stmt::EmitExpr(_));
    }
}

/// The name as a placeholder would have it; `None` where nothing of that name is in scope.
fn meant(written: &str, names: &Names, scope: &Scope) -> Option<String> {
    let mut parts = written.split('.');
    let root = parts.next()?;
    if scope.slot(root).is_some() || names.contains(root) {
        return Some(written.to_owned());
    }
    if root == "state" {
        let field = parts.next()?;
        return scope.field(field).map(|_| written.to_owned());
    }
    scope.field(root).map(|_| format!("state.{written}"))
}

/// Names that the template itself has given at a place.
type Names = SharedSet<String>;

/// The plain texts, each with the names that the template has given there.
fn collect<'a>(statements: &[Stmt<'a>], names: &mut Names, raw: &mut Vec<(&'a str, Names)>) {
    for statement in statements {
        match statement {
            Stmt::EmitRaw(text) => raw.push((text.raw, names.clone())),
            Stmt::ForLoop(each) => {
                let mut inside = names.clone();
                name(&each.target, &mut inside);
                collect(&each.body, &mut inside, raw);
                collect(&each.else_body, &mut names.clone(), raw);
            }
            Stmt::IfCond(branch) => {
                collect(&branch.true_body, names, raw);
                collect(&branch.false_body, names, raw);
            }
            Stmt::WithBlock(with) => {
                let mut inside = names.clone();
                let targets = with.assignments.iter();
                targets.for_each(|(target, _)| name(target, &mut inside));
                collect(&with.body, &mut inside, raw);
            }
            Stmt::Set(set) => name(&set.target, names),
            Stmt::SetBlock(set) => {
                collect(&set.body, &mut names.clone(), raw);
                name(&set.target, names);
            }
            Stmt::AutoEscape(escape) => collect(&escape.body, names, raw),
            Stmt::FilterBlock(block) => collect(&block.body, names, raw),
            Stmt::Macro(declared) => collect(&declared.body, &mut names.clone(), raw),
            _ => {}
        }
    }
}

fn name(target: &Expr, names: &mut Names) {
    match target {
        Expr::Var(var) => {
            names.insert(var.id.to_owned());
        }
        Expr::List(list) => list.items.iter().for_each(|part| name(part, names)),
        Expr::Tuple(list) => list.items.iter().for_each(|part| name(part, names)),
        _ => {}
    }
}
