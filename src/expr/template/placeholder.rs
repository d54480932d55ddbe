//! Text that looks like a placeholder but reaches the model as it is: `{x}`, `${x}`, `$x`.

use std::sync::LazyLock;

use regex::Regex;

use crate::ast::node::TemplateText;
use crate::ast::template::{Block, Event, Statement, Target, walk};
use crate::base::{SharedSet, Span};
use crate::diag::{Diagnostic, Diagnostics, codes};

use super::super::scope::Scope;
use super::super::ty::{Type, TypeTable};

// The pattern is a constant, and a test renders a placeholder of each form.
#[allow(clippy::unwrap_used)]
static LOOKALIKE: LazyLock<Regex> = LazyLock::new(|| {
    const NAME: &str = r"([A-Za-z_]\w*(?:\.\w+)*)";
    // What Python has behind a name: `!r`, `:>10`.
    const FORM: &str = r"(?:![rsa])?(?::[<>^+-]*[0-9.,]*[a-z%]?)?";
    Regex::new(&format!(
        r"\$?\{{\s*{NAME}\s*{FORM}\}}|\${NAME}|%\({NAME}\)[a-z]"
    ))
    .unwrap()
});

// A field of the state as Python reads it, and any other, within single braces: `{state['x']}`, `{len(state.xs)}`.
#[allow(clippy::unwrap_used)]
static FIELD_WITHIN: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"\bstate(?:\.(\w+)|(?:\.get\(|\[)\s*["'](\w+)["'][^)\]]*[)\]])"#).unwrap()
});

// Single braces with an expression in them.
#[allow(clippy::unwrap_used)]
static BRACED: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\$?\{([^%{}\n][^{}\n]*)\}").unwrap());

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
    (scope, types): (&Scope, &TypeTable),
    diags: &mut Diagnostics,
) {
    let (mut names, mut frames) = (Names::new(), Vec::new());
    let (mut open, mut behind_value) = (0, false);
    walk(body, &mut |event| {
        match event {
            Event::Text(text, offset) => {
                let halves = Halves {
                    template,
                    known: Known {
                        scope,
                        types,
                        names: &names,
                    },
                    offset,
                };
                halves.check(text, open, diags);
                halves.lookalikes(text, diags);
                halves.tags(text, diags);
                if behind_value && open == 0 && text.starts_with('}') {
                    let span = template.span_of(offset, offset + 1);
                    diags.push(
                        stays_plain("}", span)
                            .help("a placeholder ends with `}}`: take the third brace out"),
                    );
                }
                open = depth(text, open);
            }
            Event::Set(target, _) => name(target, &mut names),
            Event::Open(block) => {
                frames.push(names.clone());
                if let Block::Loop(each) = block {
                    name(&each.target, &mut names);
                }
            }
            Event::Close(Block::Way) => _ = frames.pop(),
            Event::Close(_) => names = frames.pop().unwrap_or_default(),
            Event::Output(_) | Event::Expr(_) => {}
        }
        behind_value = matches!(event, Event::Output(_));
    });
}

/// A plain text in which half a placeholder may stand.
struct Halves<'a> {
    template: &'a TemplateText,
    known: Known<'a>,
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
            if let Some(meant) = self.known.meant(name.as_str()) {
                self.report(all.range(), all.as_str(), &meant, rest.as_str(), diags);
                told.push(all.range());
            }
        }
        for found in BRACED.captures_iter(text) {
            let (Some(all), Some(inside)) = (found.get(0), found.get(1)) else {
                continue;
            };
            let before = text.get(..all.start()).unwrap_or_default();
            let known = told.iter().any(|place| place.contains(&all.start()));
            if known || before.ends_with('{') || LOOKALIKE.is_match(all.as_str()) {
                continue;
            }
            let fields = FIELD_WITHIN.captures_iter(inside.as_str());
            let mut fields = fields.filter_map(|found| {
                let name = found.get(1).or(found.get(2))?.as_str();
                self.known.scope.field(name)?;
                let alone = found.get(0)?.as_str() == inside.as_str().trim();
                Some((format!("state.{name}"), alone))
            });
            if let Some((meant, alone)) = fields.next() {
                let help = match alone {
                    true => format!("a placeholder is written `{{{{ {meant} }}}}`"),
                    false => format!(
                        "a placeholder has two braces, and filters in place of functions, as in `{{{{ {meant} | length }}}}`"
                    ),
                };
                diags.push(stays_plain(all.as_str(), self.span(all.range())).help(help));
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

    /// Warns of placeholders of other languages: `{x}`, `$x`.
    fn lookalikes(&self, text: &str, diags: &mut Diagnostics) {
        for found in LOOKALIKE.captures_iter(text) {
            let name = found.get(1).or(found.get(2)).or(found.get(3));
            let Some(name) = name else { continue };
            let Some(meant) = self.known.meant(name.as_str()) else {
                continue;
            };
            let Some(all) = found.get(0) else { continue };
            // In a `raw` block a whole placeholder is text on purpose.
            let before = text.get(..all.start()).unwrap_or("");
            let after = text.get(all.end()..).unwrap_or("");
            if before.ends_with('{') && after.starts_with('}') {
                continue;
            }
            let span = self.span(all.range());
            diags.push(
                stays_plain(all.as_str(), span)
                    .help(format!("a placeholder is written `{{{{ {meant} }}}}`")),
            );
        }
    }

    /// Warns of tags that are none.
    fn tags(&self, text: &str, diags: &mut Diagnostics) {
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
            let span = self.span(all.range());
            let tag =
                format!("a tag is written `{{% {word} .. %}}`, without blanks within its signs");
            diags.push(stays_plain(all.as_str(), span).help(tag));
        }
    }

    fn span(&self, at: std::ops::Range<usize>) -> Span {
        self.template
            .span_of(self.offset + at.start, self.offset + at.end)
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
                    && let Some(meant) = self.known.meant(name)
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
        let span = self.span(at);
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

fn stays_plain(text: &str, span: Span) -> Diagnostic {
    let message = format!("`{text}` stays plain text");
    Diagnostic::new(&codes::PLACEHOLDER_IN_TEXT, message, span)
}

/// The names that a placeholder may have.
struct Known<'a> {
    scope: &'a Scope,
    types: &'a TypeTable,
    names: &'a Names,
}

impl Known<'_> {
    /// The name as a placeholder would have it; `None` where nothing of that name is in scope.
    fn meant(&self, written: &str) -> Option<String> {
        let mut parts = written.split('.');
        let root = parts.next()?;
        if self.scope.slot(root).is_some() || self.names.contains(root) {
            return Some(written.to_owned());
        }
        if root == "state" {
            let field = parts.next()?;
            return self.scope.field(field).map(|_| written.to_owned());
        }
        if self.scope.field(root).is_some() {
            return Some(format!("state.{written}"));
        }
        let input = self.scope.slot("input");
        let Type::Record(id) = input.and_then(|slot| self.scope.ty(slot))? else {
            return None;
        };
        let field = self.types.records.get(*id)?.field(root);
        field.map(|_| format!("input.{written}"))
    }
}

/// Names that the template itself has given at a place.
type Names = SharedSet<String>;

fn name(target: &Target, names: &mut Names) {
    for name in target.names() {
        names.insert(name.node.clone());
    }
}
