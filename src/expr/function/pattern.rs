//! Functions of a text and a regular expression: `matches regex_find regex_find_all`.

use std::cell::RefCell;

use regex::{Regex, RegexBuilder};

use crate::value::{Str, Value};

use super::args::{self, Computed};
use super::{Carries, Row, Rule};

/// Bytes that a compiled pattern may take.
const MAX_SIZE: usize = 1 << 20;

pub(super) const FUNCTIONS: &[Row] = &[
    Row::method(
        "matches",
        MATCHES,
        |args| call(is_match, args),
        MATCHES_DOC,
        r#""abc1".matches("[0-9]")"#,
    )
    .carries(Carries::Nothing)
    .rule(Rule::Pattern(is_match)),
    Row::global(
        "matches",
        MATCHES,
        |args| call(is_match, args),
        MATCHES_DOC,
        r#"matches("abc", "^a.c$")"#,
    )
    .carries(Carries::Nothing)
    .rule(Rule::Pattern(is_match)),
    Row::method(
        "regex_find",
        &["(string, string) -> string?"],
        |args| call(find, args),
        "The first match of a regular expression, or of its first group where it has one; null where nothing matches.",
        r#""order 17".regex_find("order ([0-9]+)") == "17""#,
    )
    .rule(Rule::Pattern(find)),
    Row::method(
        "regex_find_all",
        &["(string, string) -> list<string>"],
        |args| call(find_all, args),
        "All matches of a regular expression, or of its first group where it has one.",
        r#""a1b22".regex_find_all("[0-9]+") == ["1", "22"]"#,
    )
    .rule(Rule::Pattern(find_all)),
];

const MATCHES: &[&str] = &["(string, string) -> bool"];
const MATCHES_DOC: &str = "Whether a regular expression (RE2 syntax) matches some part of the text; `^` and `$` bind it to the ends.";

/// What a function does with its text once the pattern is compiled.
pub type Apply = fn(&Regex, &str) -> Value;

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

thread_local! {
    /// The last pattern that wasn't known when its expression was compiled, for loops.
    static LAST: RefCell<Option<(Str, Regex)>> = const { RefCell::new(None) };
}

fn call(apply: Apply, args: &[Value]) -> Computed {
    let (text, pattern) = (args::text(args, 0)?, args::text(args, 1)?);
    LAST.with_borrow_mut(|last| match last {
        Some((known, regex)) if known == pattern => Ok(apply(regex, text)),
        _ => {
            let regex = regex(pattern)?;
            let value = apply(&regex, text);
            *last = Some((pattern.clone(), regex));
            Ok(value)
        }
    })
}

fn is_match(regex: &Regex, text: &str) -> Value {
    Value::Bool(regex.is_match(text))
}

fn find(regex: &Regex, text: &str) -> Value {
    regex.captures(text).map_or(Value::Null, |captures| {
        captures
            .get(group(regex))
            .map_or(Value::Null, |found| found.as_str().into())
    })
}

fn find_all(regex: &Regex, text: &str) -> Value {
    let group = group(regex);
    let found = regex
        .captures_iter(text)
        .filter_map(|captures| captures.get(group).map(|found| found.as_str().into()));
    Value::List(found.collect())
}

/// The group that counts: the first, or the whole match where there is none.
fn group(regex: &Regex) -> usize {
    usize::from(regex.captures_len() > 1)
}
