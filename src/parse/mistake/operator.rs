//! Signs of other languages where an operator, an arrow or a `:` stands.

use crate::diag::Diagnostic;

use super::super::grammar::Rule;
use super::{Place, first_word, innermost_open};

/// `a?.b`
pub fn question_dot(place: &Place) -> Option<Diagnostic> {
    let at = place.before.rfind("?.")?;
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let before = place
        .before
        .get(..at)?
        .ends_with(|c| word(c) || c == ')' || c == ']');
    let after = place.before.get(at + 2..)?.starts_with(word);
    let span = place.before_at(at, at + 2);
    (before && after && place.tried(Rule::op)).then(|| {
        let found = place.error_at(span, "`?.` is no operator");
        let found = found.help("write `.?`, and what else it is: `x.?name.orValue(..)`");
        place.in_whole_at(found, at)
    })
}

/// `m.?[k]`
pub fn optional_index(place: &Place) -> Option<Diagnostic> {
    if !place.rest.starts_with('[') || !place.before.ends_with(".?") {
        return None;
    }
    let span = place.before_at(place.before.len() - 2, place.offset() + 1);
    let found = place.error_at(span, "`.?[` is no operator");
    Some(
        found
            .help("an entry that may not be there is `m[?key]`")
            .fix(span, "[?"),
    )
}

/// `a => b`
pub fn fat_arrow(place: &Place) -> Option<Diagnostic> {
    let line = place.rest.lines().next().unwrap_or("");
    let again = line.get(2..).is_some_and(|line| line.contains("->"));
    if place.rest.starts_with("=>") && place.after_operand() && (again || !place.tried(Rule::arrow))
    {
        return Some(place.instead(place.span, "`=>` does not compare", ">="));
    }
    (place.rest.starts_with("=>")).then(|| place.instead(place.span, "`=>` is no arrow", "->"))
}

/// `a = b` for `a == b`, and `set { a = b }` for `set { a: b }`
pub fn equals_sign(place: &Place) -> Option<Diagnostic> {
    if !place.rest.starts_with('=') || place.rest.starts_with("==") {
        return None;
    }
    if let Some(key) = map_key(place) {
        let found = place.error(format!("expected `:` after the key {key}, found `=`"));
        return Some(
            found
                .help(format!("write `{key}: ..`"))
                .fix(place.span, ":"),
        );
    }
    if place.rest.starts_with("=!") && place.after_operand() {
        let at = place.at(0, 2);
        return Some(place.instead(at, "`=!` is no operator", "!="));
    }
    if place.rest.starts_with("=<") && place.after_operand() {
        let at = place.at(0, 2);
        return Some(place.instead(at, "`=<` is no operator", "<="));
    }
    if place.after_operand() {
        return Some(place.instead(place.span, "`=` does not compare", "=="));
    }
    let name = place.last_word();
    let value = place.rest.get(1..)?.trim_ascii_start();
    let ty = match value.chars().next() {
        Some('"' | '\'') => "string",
        Some('0'..='9') => "int",
        _ if value.starts_with("true") || value.starts_with("false") => "bool",
        _ => "TYPE",
    };
    if place.tried(Rule::colon) && matches!(first_word(place.text), "tool" | "prompt") {
        let found = place.error(format!("expected `:` and a type after `{name}`, found `=`"));
        return Some(found.help(format!(
            "write its type too: `{name}: {ty} = {}`",
            super::super::message::token(value)
        )));
    }
    place.tried(Rule::colon).then(|| {
        let found = place.error(format!("expected `:` after `{name}`, found `=`"));
        found
            .help(format!("write `{name}: ..`"))
            .fix(place.span, ":")
    })
}

/// The key of a map that is written out before a place.
pub fn map_key<'a>(place: &'a Place) -> Option<&'a str> {
    let quote = place
        .before
        .chars()
        .last()
        .filter(|c| matches!(c, '"' | '\''))?;
    let key = place.before.get(..place.before.len() - 1)?;
    let start = key
        .rfind([quote, '\n'])
        .filter(|at| key.get(*at..).is_some_and(|t| t.starts_with(quote)))?;
    let open = place
        .before
        .get(..start)?
        .trim_ascii_end()
        .ends_with(['{', ',']);
    (open && place.tried(Rule::colon) && innermost_open(place.before) == Some('{'))
        .then(|| place.before.get(start..))
        .flatten()
}

/// Operators of other languages.
pub fn other_operator(place: &Place) -> Option<Diagnostic> {
    let (written, meant) = match place.first_word() {
        "" if place.after_operand() && place.rest.starts_with('&') => ("&", "&&"),
        "" if place.after_operand() && place.rest.starts_with('|') => ("|", "||"),
        _ => return None,
    };
    let found = place.error(format!("`{written}` is no operator"));
    let behind = place.rest.get(written.len()..).unwrap_or("");
    let value = behind.trim_ascii_start();
    let quote = |c: char| matches!(c, '"' | '\'');
    let is_text = value.starts_with(quote) || place.before.ends_with(quote);
    let is_value =
        is_text || value.starts_with(|c: char| matches!(c, '[' | '{') || c.is_ascii_digit());
    Some(match written {
        "|" if is_value => found.help(crate::base::foreign::DEFAULT),
        "&" if is_text => found.help("write `+`").fix(place.span, "+"),
        _ => found
            .help(format!("write `{meant}`"))
            .fix(place.span, meant),
    })
}

/// `goto -> a`
pub fn goto_arrow(place: &Place) -> Option<Diagnostic> {
    (place.last_word() == "goto" && place.rest.starts_with("->")).then(|| {
        let found = place.error("expected a target after `goto`, found `->`");
        found
            .help("write the target without `->`")
            .fix(place.span, "")
    })
}
