//! How many `elif` a template has, and how many operators a tag: the engine reads each inside of the one before, so there must be
//! a bound.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::syntax::next;

/// Most `elif` of a template.
const MOST: usize = 400;

/// Most operators of one placeholder or statement, as in a chain of an expression.
const MOST_OPERATORS: usize = 400;

// A text in quotes, which ends in its line; a number; a word; a sign. The pattern is a constant, and the tests read by it.
#[allow(clippy::unwrap_used)]
static TOKEN: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#""(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|[0-9][0-9._]*|\w+|[=!<>]=|\*\*|//|\S"#)
        .unwrap()
});

/// What goes beyond a bound.
pub struct Beyond {
    /// The sign that is one too many.
    pub place: Range<usize>,
    /// Which bound.
    pub message: String,
    /// What to do.
    pub help: &'static str,
}

/// What of a template goes beyond a bound. It has to be asked before the engine reads the template.
pub fn too_long(text: &str) -> Option<Beyond> {
    let (mut at, mut elifs) = (0, 0);
    while let Some((start, sign)) = next(text, at) {
        at = start + sign.len();
        let rest = text.get(at..)?;
        let word = rest.trim_start_matches(['-', '+']).trim_start();
        if sign == "{#" {
            at += rest.find("#}")?;
            continue;
        }
        if sign == "{%" && word.starts_with("raw") {
            at += rest.find("endraw").unwrap_or(0);
            continue;
        }
        elifs += usize::from(word.starts_with("elif"));
        if elifs > MOST {
            let start = text.len() - word.len();
            return Some(Beyond {
                place: start..start + "elif".len(),
                message: format!("a template has at most {MOST} `elif`"),
                help: "look the text up in a map, or make it where the state is written",
            });
        }
        match operators(rest, if sign == "{{" { "}}" } else { "%}" }) {
            Ok(length) => at += length,
            Err(place) => {
                return Some(Beyond {
                    place: at + place.start..at + place.end,
                    message: format!("a tag of a template has at most {MOST_OPERATORS} operators"),
                    help: "make the value where the state is written, or a part of it with `{% set .. %}`",
                });
            }
        }
    }
    None
}

/// Reads to the closing sign; the length, or the operator that is one too many. What is no expression is for the engine to
/// refuse.
fn operators(text: &str, close: &str) -> Result<usize, Range<usize>> {
    let (mut count, mut braces) = (0, 0_usize);
    for token in TOKEN.find_iter(text) {
        let rest = text.get(token.start()..).unwrap_or_default();
        if (braces == 0 && rest.starts_with(close)) || rest.starts_with("{%") {
            return Ok(token.start());
        }
        match token.as_str() {
            // A quote that nothing closes in its line.
            "\"" | "'" => return Ok(token.start()),
            "{" => braces += 1,
            "}" => braces = braces.saturating_sub(1),
            _ => {}
        }
        count += usize::from(is_operator(token.as_str()));
        if count > MOST_OPERATORS {
            return Err(token.range());
        }
    }
    Ok(text.len())
}

fn is_operator(token: &str) -> bool {
    match token {
        "not" | "and" | "or" | "if" | "is" | "in" => true,
        ")" | "]" | "}" | "," | ":" => false,
        token => {
            token.starts_with(|c: char| c.is_ascii_punctuation() && !matches!(c, '"' | '\'' | '_'))
        }
    }
}
