//! Text that looks like a placeholder but reaches the model as it is: `{x}`, `${x}`, `$x`.

use std::sync::LazyLock;

use regex::Regex;

use crate::ast::node::TemplateText;
use crate::ast::template::{Statement, Target};
use crate::base::SharedSet;
use crate::diag::{Diagnostic, Diagnostics, codes};

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
        r"(?:\{{\s*)?%\s*{WORDS}\b[^%{{}}\n]*%\s*\}}|\{{\s+%\s*{WORDS}\b[^{{}}\n]*"
    ))
    .unwrap()
});

// What begins as a placeholder with one brace and goes on as an expression: `{ state.xs | join(", ") }`, `{x if y else z}}`.
#[allow(clippy::unwrap_used)]
static HALF_OPEN: LazyLock<Regex> = LazyLock::new(|| {
    const ON: &str = r"(?:[|(\[~+*/<>-]|[!=]=|(?:if|and|or|in|is|not)\b)";
    Regex::new(&format!(
        r"\{{\s*([A-Za-z_]\w*(?:\.\w+)*)(\s*{ON}[^{{}}\n]*)\}}\}}?"
    ))
    .unwrap()
});

// What ends as a placeholder and never began: `state.q }}`.
#[allow(clippy::unwrap_used)]
static HALF_CLOSED: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"[A-Za-z_][^{}\n]*\}\}").unwrap());

/// Warns of each, where the name in it is one that a placeholder could have.
pub(super) fn check(
    template: &TemplateText,
    body: &[Statement],
    scope: &Scope,
    diags: &mut Diagnostics,
) {
    let mut raw = Vec::new();
    collect(body, &mut Names::new(), &mut raw);
    let mut open = 0_i64;
    for (text, offset, names) in raw {
        let halves = Halves {
            template,
            scope,
            names: &names,
            offset,
        };
        halves.check(text, open, diags);
        open = depth(text, open);
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
                    .help(format!("a placeholder is written `{{{{ {meant} }}}}`")),
            );
        }
        for found in HALF_TAG.captures_iter(text) {
            let Some(all) = found.get(0) else { continue };
            // As a placeholder, a whole tag is text on purpose in a `raw` block.
            if all.as_str().starts_with("{%") && all.as_str().ends_with("%}") {
                continue;
            }
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
    surplus(body, 0, template, diags);
}

/// A plain text in which half a placeholder may stand.
struct Halves<'a> {
    template: &'a TemplateText,
    scope: &'a Scope,
    names: &'a Names,
    /// Where the text begins in the template.
    offset: usize,
}

impl Halves<'_> {
    /// Warns of expressions between single braces, and of the ends of placeholders that never began. `open` are braces that
    /// stand open before the text.
    fn check(&self, text: &str, open: i64, diags: &mut Diagnostics) {
        let mut told = Vec::new();
        for found in HALF_OPEN.captures_iter(text) {
            let (Some(all), Some(name), Some(rest)) = (found.get(0), found.get(1), found.get(2))
            else {
                continue;
            };
            if let Some(meant) = meant(name.as_str(), self.names, self.scope) {
                self.report(all.range(), all.as_str(), &meant, rest.as_str(), diags);
                told.push(all.range());
            }
        }
        for found in HALF_CLOSED.captures_iter(text) {
            let Some(all) = found.get(0) else { continue };
            let before = text.get(..all.start()).unwrap_or_default();
            let known = told.iter().any(|place| place.contains(&all.start()));
            if known || depth(before, open) > 0 {
                continue;
            }
            let line = all.as_str();
            let Some((at, meant)) = self.first_name(line) else {
                continue;
            };
            let place = all.start() + at..all.end();
            let written = text.get(place.clone()).unwrap_or_default();
            let name_ends = at + line.get(at..).map_or(0, path_length);
            let rest = line.get(name_ends..line.len() - 2).unwrap_or_default();
            self.report(place, written, &meant, rest, diags);
        }
    }

    /// The first name of a line that stands for something in scope, and what a placeholder would have.
    fn first_name(&self, line: &str) -> Option<(usize, String)> {
        let mut at = 0;
        while at < line.len() {
            let rest = line.get(at..)?;
            let length = path_length(rest);
            if length > 0 {
                let name = rest.get(..length)?;
                if name.contains('.')
                    && let Some(meant) = meant(name, self.names, self.scope)
                {
                    return Some((at, meant));
                }
            }
            at += length.max(rest.chars().next().map_or(1, char::len_utf8));
        }
        None
    }

    fn report(
        &self,
        at: std::ops::Range<usize>,
        written: &str,
        meant: &str,
        rest: &str,
        diags: &mut Diagnostics,
    ) {
        let span = self
            .template
            .span_of(self.offset + at.start, self.offset + at.end);
        let rest = rest.trim_end();
        diags.push(stays_plain(written, span).help(format!(
            "a placeholder is written `{{{{ {meant}{rest} }}}}`"
        )));
    }
}

/// How long the dotted name is that a text begins with.
fn path_length(text: &str) -> usize {
    let begins = text.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '.');
    match begins {
        true => text
            .get(..end.unwrap_or(text.len()))
            .map_or(0, |name| name.trim_end_matches('.').len()),
        false => 0,
    }
}

/// Braces that stand open behind a text.
fn depth(text: &str, open: i64) -> i64 {
    text.chars().fold(open, |depth, c| match c {
        '{' => depth + 1,
        '}' => (depth - 1).max(0),
        _ => depth,
    })
}

fn stays_plain(text: &str, span: crate::base::Span) -> Diagnostic {
    let message = format!("`{text}` stays plain text");
    Diagnostic::new(&codes::PLACEHOLDER_IN_TEXT, message, span)
}

/// Warns of a `}` directly behind a placeholder that closes none of the braces that stand open. How many do behind the parts;
/// `None` where that differs from branch to branch.
fn surplus(
    parts: &[Statement],
    mut open: i64,
    template: &TemplateText,
    diags: &mut Diagnostics,
) -> Option<i64> {
    let mut behind_value = false;
    for part in parts {
        let mut within = |body: &[Statement]| surplus(body, open, template, diags);
        match part {
            Statement::Text { text, at } => {
                if behind_value && open == 0 && text.starts_with('}') {
                    let span = template.span_of(*at, *at + 1);
                    diags.push(
                        stays_plain("}", span)
                            .help("a placeholder ends with `}}`: take the third brace out"),
                    );
                }
                open = depth(text, open);
            }
            Statement::Output(_) | Statement::Set { .. } => {}
            Statement::If { yes, no, .. } => {
                let (yes, no) = (within(yes), within(no));
                open = yes.filter(|_| yes == no)?;
            }
            Statement::For(each) => {
                let (some, none) = (within(&each.body), within(&each.otherwise));
                if some != Some(open) || none != Some(open) {
                    return None;
                }
            }
            Statement::Capture { .. } => return None,
        }
        behind_value = matches!(part, Statement::Output(_));
    }
    Some(open)
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

/// The plain texts, each with where it begins and the names that the template has given there.
fn collect<'a>(
    statements: &'a [Statement],
    names: &mut Names,
    raw: &mut Vec<(&'a str, usize, Names)>,
) {
    for statement in statements {
        match statement {
            Statement::Text { text, at } => raw.push((text, *at, names.clone())),
            Statement::For(each) => {
                let mut inside = names.clone();
                name(&each.target, &mut inside);
                collect(&each.body, &mut inside, raw);
                collect(&each.otherwise, &mut names.clone(), raw);
            }
            Statement::If { yes, no, .. } => {
                collect(yes, names, raw);
                collect(no, names, raw);
            }
            Statement::Set { target, .. } => name(target, names),
            Statement::Capture { target, body, .. } => {
                collect(body, &mut names.clone(), raw);
                name(target, names);
            }
            Statement::Output(_) => {}
        }
    }
}

fn name(target: &Target, names: &mut Names) {
    for name in target.names() {
        names.insert(name.node.clone());
    }
}
