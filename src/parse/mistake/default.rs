//! Conditionals, defaults and tests of other languages: `a if c else b`, `a ?? b`, `a or "b"`, `a is null`.

use crate::diag::Diagnostic;

use super::super::grammar::Rule;
use super::extent::{Reach, end, start};
use super::{Place, first_word};

/// `a if c else b`
pub fn python_if(place: &Place) -> Option<Diagnostic> {
    if !place.rest.starts_with("if ") || !place.after_operand() {
        return None;
    }
    let from = start(place.before, Reach::Whole);
    let value = place.before.get(from..)?;
    let behind = place.rest.get("if ".len()..)?;
    let condition = behind.get(..end(behind, Reach::Whole, &["else"]))?;
    let behind = behind.get(condition.len()..)?.trim_ascii_start();
    let other = behind.strip_prefix("else ")?;
    let other = other.get(..end(other, Reach::Whole, &[]))?;
    let until = place.text.len() - behind.len() + "else ".len() + other.len();
    let meant = format!(
        "{} ? {value} : {}",
        condition.trim_ascii(),
        other.trim_ascii()
    );
    Some(written(place, "`if` is no operator", (from, until), meant))
}

/// `a is null`, `a is not int`
pub fn is_word(place: &Place) -> Option<Diagnostic> {
    if place.first_word() != "is" || !place.after_operand() {
        return None;
    }
    let behind = place.rest.get("is".len()..)?;
    let next = behind.trim_ascii_start();
    let not = first_word(next) == "not";
    let behind = if not {
        next.get("not".len()..)?
    } else {
        behind
    };
    let right = behind.trim_ascii_start();
    let sign = place.before_at(place.offset(), place.text.len() - behind.len());
    let from = start(place.before, Reach::Condition);
    let value = place.before.get(from..)?;
    let (message, equal, other) = match not {
        true => ("`is not` is no operator", "!=", "=="),
        false => ("`is` is no operator", "==", "!="),
    };
    let word = first_word(right);
    let meant = match (word, kind(word)) {
        ("null" | "None" | "none" | "nil" | "Null" | "NULL" | "undefined", _) => {
            format!("{value} {equal} null")
        }
        ("defined", _) => format!("{value} {other} null"),
        (_, Some(kind)) => format!("type({value}) {equal} {kind}"),
        (_, None) => {
            let found = place.error_at(sign, message);
            return Some(found.help(format!("write `{equal}`")).fix(sign, equal));
        }
    };
    let until = place.text.len() - right.len() + word.len();
    Some(written(place, message, (from, until), meant))
}

/// `x not in xs`
pub fn not_in(place: &Place) -> Option<Diagnostic> {
    if place.first_word() != "not" || !place.after_operand() {
        return None;
    }
    let behind = place.rest.get("not".len()..)?.trim_ascii_start();
    let right = behind.strip_prefix("in ")?.trim_ascii_start();
    let right = right.get(..end(right, Reach::Condition, &["and", "or"]))?;
    let from = start(place.before, Reach::Condition);
    let value = place.before.get(from..)?;
    let until = place.text.len() - behind.len() + "in ".len() + right.len();
    let meant = format!("!({value} in {right})");
    Some(written(place, "`not` is no operator", (from, until), meant))
}

/// The type that a word asks for, as `type(x)` gives it.
fn kind(word: &str) -> Option<&'static str> {
    Some(match word {
        "int" | "integer" => "int",
        "float" | "double" => "float",
        "string" | "str" | "text" => "string",
        "bool" | "boolean" => "bool",
        "list" | "array" => "list",
        "map" | "dict" | "object" => "map",
        _ => return None,
    })
}

/// `a ?? b`, `a or "b"`
pub fn default_sign(place: &Place) -> Option<Diagnostic> {
    let (before, message, sign) = match place.first_word() {
        "or" if place.after_operand() => (place.before, "`or` is no operator", "or"),
        "" if place.rest.starts_with('?') && place.tried(Rule::prefix) => (
            place.before.strip_suffix('?')?.trim_ascii_end(),
            "`??` is no operator",
            "?",
        ),
        _ => return None,
    };
    let behind = place.rest.get(sign.len()..)?.trim_ascii_start();
    let is_value = behind.starts_with(|c: char| "\"'[{".contains(c) || c.is_ascii_digit());
    if sign == "or" && !is_value && !before.ends_with(['"', '\'']) {
        return None;
    }
    let other = behind.get(..end(behind, Reach::Condition, &["and", "or"]))?;
    let from = start(before, Reach::Condition);
    let value = before.get(from..)?;
    let until = place.text.len() - behind.len() + other.len();
    let meant = format!("{value} == null ? {other} : {value}");
    Some(written(place, message, (from, until), meant))
}

/// Says what to write in place of a stretch of the text.
fn written(
    place: &Place,
    message: &str,
    (from, until): (usize, usize),
    meant: String,
) -> Diagnostic {
    place
        .error(message)
        .help(format!("write `{meant}`"))
        .fix(place.before_at(from, until), meant)
}
