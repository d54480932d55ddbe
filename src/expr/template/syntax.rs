//! What is wrong with the syntax of a template, said of the place that has to change.
//!
//! The engine notices an unclosed `{{` or `{% if %}` where the text ends or where something else begins,
//! far from the mistake. So a template that it refuses is read once more for its brackets and its blocks
//! alone; what the engine says itself, in its words made ours, is left for expressions.

use std::ops::Range;

use crate::ast::node::TemplateText;
use crate::base::{foreign, name};
use crate::diag::{Diagnostic, Fact, codes};

/// Statements that end with `end` and their name, as `set` does in its form without `=`.
const BLOCKS: [&str; 2] = ["for", "if"];

/// Statements that stand alone.
const SINGLE: [&str; 4] = ["set", "else", "elif", "raw"];

/// Statements of Jinja that templates don't have here.
const ABSENT: [&str; 13] = [
    "autoescape",
    "block",
    "break",
    "call",
    "continue",
    "do",
    "extends",
    "filter",
    "from",
    "import",
    "include",
    "macro",
    "with",
];

/// What to do without them.
pub(super) const INSTEAD: &str = "declare a shared part as a `prompt` and pass its text in";

/// Says that a template has no such statement.
pub(super) fn absent(name: &str) -> String {
    format!("`{name}` can't be used: a template stands alone, with `if`, `for` and `set`")
}

/// A mistake: where, what, what else to look at, what to write.
struct Fault {
    at: Range<usize>,
    message: String,
    beside: Option<(Range<usize>, &'static str)>,
    help: Option<String>,
}

impl Fault {
    fn new(at: Range<usize>, message: impl Into<String>) -> Self {
        Self {
            at,
            message: message.into(),
            beside: None,
            help: None,
        }
    }

    fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// The report of a template that the engine refuses.
pub fn error(template: &TemplateText, refused: &minijinja::Error) -> Diagnostic {
    let span = |range: &Range<usize>| template.span_of(range.start, range.end);
    if let Err(fault) = read(&template.text) {
        let found = Diagnostic::new(&codes::BAD_TEMPLATE, fault.message, span(&fault.at));
        let found = match &fault.beside {
            Some((beside, said)) => found.label(span(beside), *said),
            None => found,
        };
        return found.maybe_help(fault.help);
    }
    let most = template.text.len();
    let place = refused.range().map_or(template.span, |range| {
        span(&(range.start.min(most)..range.end.min(most)))
    });
    let near = refused.range().map_or(0, |range| range.start);
    if let Some(foreign) = super::foreign::find(&template.text, near) {
        let message = format!("`{}` is no part of a template", foreign.sign);
        return Diagnostic::new(&codes::BAD_TEMPLATE, message, span(&foreign.at))
            .help(foreign.help)
            .fact(Fact::Foreign);
    }
    let message = refused.detail().unwrap_or("the template can't be parsed");
    Diagnostic::new(&codes::BAD_TEMPLATE, reworded(message), place).fact(Fact::Foreign)
}

/// The engine's words, with signs in place of its names for them.
fn reworded(message: &str) -> String {
    let known = [
        (
            "unexpected end of variable block",
            "an expression is missing before `}}`",
        ),
        (
            "unexpected end of block",
            "something is missing before `%}`",
        ),
        ("end of variable block", "`}}`"),
        ("end of block", "`%}`"),
        ("identifier", "name"),
    ];
    let mut message = message.to_owned();
    for (theirs, ours) in known {
        message = message.replace(theirs, ours);
    }
    match message.strip_suffix("expected in") {
        Some(start) => format!("{start}expected `in`"),
        None => message,
    }
}

/// Reads brackets and blocks.
fn read(text: &str) -> Result<(), Fault> {
    let mut open: Vec<(&str, Range<usize>)> = Vec::new();
    let mut at = 0;
    while let Some((start, sign)) = next(text, at) {
        let mark = start..start + 2;
        match sign {
            "{#" => {
                let end = text.get(mark.end..).and_then(|rest| rest.find("#}"));
                let Some(end) = end else {
                    return Err(Fault::new(mark, "this comment is never closed").help("write `#}`"));
                };
                at = mark.end + end + 2;
            }
            "{{" => at = closed(text, &mark, "}}")?,
            _ => {
                at = closed(text, &mark, "%}")?;
                let inside = text.get(mark.end..at.saturating_sub(2)).unwrap_or_default();
                if let Some(end) = raw(text, inside, &mark, at)? {
                    at = end;
                    continue;
                }
                statement(inside, mark.start..at, mark.end, &mut open)?;
            }
        }
    }
    match open.pop() {
        Some((name, place)) => Err(unclosed(name, place)),
        None => Ok(()),
    }
}

/// The next `{{`, `{%` or `{#`.
pub(super) fn next(text: &str, from: usize) -> Option<(usize, &str)> {
    let rest = text.get(from..)?;
    rest.match_indices('{').find_map(|(at, _)| {
        let sign = rest.get(at..at + 2)?;
        matches!(sign, "{{" | "{%" | "{#").then_some((from + at, sign))
    })
}

/// The end of what a bracket opened.
fn closed(text: &str, mark: &Range<usize>, close: &str) -> Result<usize, Fault> {
    let open = text.get(mark.clone()).unwrap_or_default();
    let never = || {
        Fault::new(mark.clone(), format!("this `{open}` is never closed"))
            .help(format!("write `{close}`"))
    };
    let rest = text.get(mark.end..).unwrap_or_default();
    let mut braces = 0_usize;
    let mut skip_to = 0;
    for (at, c) in rest.char_indices() {
        if at < skip_to {
            continue;
        }
        let here = rest.get(at..).unwrap_or_default();
        if braces == 0 && here.starts_with(close) {
            return Ok(mark.end + at + close.len());
        }
        match c {
            '"' | '\'' => match quoted(here, c) {
                Some(length) => skip_to = at + length,
                None => {
                    let quote = mark.end + at..mark.end + at + 1;
                    return Err(Fault::new(quote, "this text is never closed")
                        .help(format!("write `{c}` at its end")));
                }
            },
            '{' if here.starts_with("{{") || here.starts_with("{%") => return Err(never()),
            '{' => braces += 1,
            '}' if braces == 0 => return Err(never()),
            '}' => braces -= 1,
            _ => {}
        }
    }
    Err(never())
}

/// Length of a quoted text, which ends in its line: a quote that goes on is an apostrophe of what follows.
pub(super) fn quoted(text: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// The end of what a `raw` leaves alone; `None` for any other statement.
fn raw(
    text: &str,
    inside: &str,
    mark: &Range<usize>,
    after: usize,
) -> Result<Option<usize>, Fault> {
    if word(inside).0 != "raw" {
        return Ok(None);
    }
    let mut at = after;
    while let Some((start, sign)) = next(text, at) {
        at = start + 2;
        let Some(rest) = text.get(at..).filter(|_| sign == "{%") else {
            continue;
        };
        if let Some(end) = rest.find("%}").filter(|_| word(rest).0 == "endraw") {
            return Ok(Some(at + end + 2));
        }
    }
    Err(unclosed("raw", mark.start..after))
}

/// The word that a statement begins with, and where it stands.
fn word(inside: &str) -> (&str, usize) {
    let trimmed = inside.trim_start_matches(['-', '+']).trim_start();
    let start = inside.len() - trimmed.len();
    let end = trimmed.find(|c: char| !c.is_alphanumeric() && c != '_');
    (
        trimmed
            .get(..end.unwrap_or(trimmed.len()))
            .unwrap_or_default(),
        start,
    )
}

fn statement<'t>(
    inside: &'t str,
    whole: Range<usize>,
    from: usize,
    open: &mut Vec<(&'t str, Range<usize>)>,
) -> Result<(), Fault> {
    let (name, start) = word(inside);
    let place = from + start..from + start + name.len();
    if BLOCKS.contains(&name) || (name == "set" && !inside.contains('=')) {
        open.push((name, whole));
        return Ok(());
    }
    if let Some(ended) = name.strip_prefix("end") {
        return end(ended, place, open);
    }
    if matches!(name, "else" | "elif") {
        let around = open.last().map(|(name, _)| *name);
        let fits = around == Some("if") || (around == Some("for") && name == "else");
        return match fits {
            true => Ok(()),
            false => Err(Fault::new(place, format!("`{name}` stands in no `if`"))),
        };
    }
    if SINGLE.contains(&name) {
        return Ok(());
    }
    if ABSENT.contains(&name) {
        return Err(Fault::new(place, absent(name)).help(INSTEAD));
    }
    let known = BLOCKS.into_iter().chain(SINGLE);
    let fault = Fault::new(
        if name.is_empty() { whole } else { place },
        format!("there is no statement `{name}`"),
    );
    let print = || {
        let value = inside.get(start..)?.trim_end_matches(['-', '+', ' ']);
        let path = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '[' | ']' | '"' | '\'');
        (!value.is_empty() && value.chars().all(path))
            .then(|| format!("a value is printed by `{{{{ {value} }}}}`"))
    };
    let help = foreign::statement::meant(name)
        .map(str::to_owned)
        .or_else(|| name::did_you_mean(name, known))
        .or_else(print);
    Err(match help {
        Some(help) => fault.help(help),
        None => fault,
    })
}

fn end(
    ended: &str,
    place: Range<usize>,
    open: &mut Vec<(&str, Range<usize>)>,
) -> Result<(), Fault> {
    match open.pop() {
        Some((name, _)) if name == ended => Ok(()),
        Some((name, opening)) if open.iter().any(|(other, _)| *other == ended) => Err(Fault {
            beside: Some((place, "this ends what is around it")),
            ..unclosed(name, opening)
        }),
        Some((name, opening)) => Err(Fault {
            beside: Some((opening, "this is open here")),
            ..Fault::new(place, format!("`end{ended}` does not end `{name}`"))
                .help(format!("write `end{name}`"))
        }),
        None => Err(Fault::new(place, format!("`end{ended}` ends nothing"))),
    }
}

fn unclosed(name: &str, opening: Range<usize>) -> Fault {
    Fault::new(opening, format!("this `{name}` is never closed"))
        .help(format!("write `{{% end{name} %}}`"))
}
