//! Functions of a text and a regular expression: `matches regex_find regex_find_all`.

use regex::{Regex, RegexBuilder};

use crate::value::{List, Str, Value};

use super::args;
use super::reread::Reread;
use super::{Carries, Row, Rule};

/// Bytes that a compiled pattern may take.
const MAX_SIZE: usize = 1 << 20;

/// Bytes that are read again for one step of an expression.
const BYTES_A_STEP: usize = 8;

/// Most steps of one call for what is read again: as many as an expression has.
const MOST_STEPS: usize = 10_000_000;

pub(super) const FUNCTIONS: &[Row] = &[
    Row::method(
        "matches",
        MATCHES,
        |args| Ok(call(&mut None, is_match, args)?.value),
        MATCHES_DOC,
        r#""abc1".matches("[0-9]")"#,
    )
    .carries(Carries::Nothing)
    .rule(Rule::Pattern(is_match)),
    Row::global(
        "matches",
        MATCHES,
        |args| Ok(call(&mut None, is_match, args)?.value),
        MATCHES_DOC,
        r#"matches("abc", "^a.c$")"#,
    )
    .carries(Carries::Nothing)
    .rule(Rule::Pattern(is_match)),
    Row::method(
        "regex_find",
        &["(string, string) -> string?"],
        |args| Ok(call(&mut None, find, args)?.value),
        "The first match of a regular expression, or of its first group where it has one; null where nothing matches.",
        r#""order 17".regex_find("order ([0-9]+)") == "17""#,
    )
    .rule(Rule::Pattern(find)),
    Row::method(
        "regex_find_all",
        &["(string, string) -> list<string>"],
        |args| Ok(call(&mut None, find_all, args)?.value),
        "All matches of a regular expression, or of its first group where it has one.",
        r#""a1b22".regex_find_all("[0-9]+") == ["1", "22"]"#,
    )
    .rule(Rule::Pattern(find_all)),
];

const MATCHES: &[&str] = &["(string, string) -> bool"];
const MATCHES_DOC: &str = "Whether a regular expression (RE2 syntax) matches some part of the text; `^` and `$` bind it to the ends.";

/// What a function does with its text once the pattern is compiled.
pub type Apply = fn(&Regex, &str) -> Applied;

/// What that came to.
pub struct Applied {
    /// The result.
    pub value: Value,
    /// Steps of the expression that it took beside those for reading the text once.
    pub steps: usize,
}

impl From<Value> for Applied {
    fn from(value: Value) -> Self {
        Self { value, steps: 0 }
    }
}

/// Compiles a pattern; the error is in one line.
pub(crate) fn regex(pattern: &str) -> Result<Regex, String> {
    RegexBuilder::new(pattern)
        .size_limit(MAX_SIZE)
        .build()
        .map_err(|error| {
            let error = error.to_string();
            let reason = error.lines().last().unwrap_or_default().trim();
            let reason = reason.strip_prefix("error: ").unwrap_or(reason);
            format!("`{pattern}` is no regular expression: {reason}")
        })
}

/// The last pattern that was no literal of its expression: a loop mostly has one.
pub type Last = Option<(Str, Regex)>;

/// Applies a pattern that is an argument as well.
///
/// # Errors
/// Where it is none, or an argument is no text.
pub(crate) fn call(last: &mut Last, apply: Apply, args: &[Value]) -> Result<Applied, String> {
    let (text, pattern) = (args::text(args, 0)?, args::text(args, 1)?);
    if let Some((_, regex)) = last.as_ref().filter(|(known, _)| known == pattern) {
        return Ok(apply(regex, text));
    }
    let (_, regex) = last.insert((pattern.clone(), regex(pattern)?));
    Ok(apply(regex, text))
}

fn is_match(regex: &Regex, text: &str) -> Applied {
    Value::Bool(regex.is_match(text)).into()
}

fn find(regex: &Regex, text: &str) -> Applied {
    let found = regex.captures(text).and_then(|captures| {
        let found = captures.get(group(regex))?;
        Some(Value::from(found.as_str()))
    });
    found.unwrap_or_default().into()
}

fn find_all(regex: &Regex, text: &str) -> Applied {
    let group = group(regex);
    let mut found = List::new();
    let mut reread = Reread::default();
    let mut from = 0;
    for captures in regex.captures_iter(text) {
        if let Some(part) = captures.get(group) {
            found.push(part.as_str().into());
        }
        let end = captures.get_match().end();
        reread.count(regex.as_str(), text, (from, end));
        from = end;
        if reread.bytes / BYTES_A_STEP > MOST_STEPS {
            break;
        }
    }
    Applied {
        value: Value::List(found),
        steps: reread.bytes / BYTES_A_STEP,
    }
}

/// The group that counts: the first, or the whole match where there is none.
fn group(regex: &Regex) -> usize {
    usize::from(regex.captures_len() > 1)
}
