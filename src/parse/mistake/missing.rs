//! What is left out: a brace, an arrow, a colon, a comma, a value.

use crate::base::Span;
use crate::base::foreign::expression;
use crate::diag::{Diagnostic, codes};

use super::super::grammar::Rule;
use super::super::{keyword, message};
use super::{Place, first_word, innermost_open, last_word};

/// `set n: 1`
pub fn missing_brace(place: &Place) -> Option<Diagnostic> {
    let word = place.last_word();
    let example = match word {
        "set" => "set { field: value }",
        "with" => "with { field: value }",
        "into" => "into { field: field }",
        "input" => "input { name: type }",
        "cache" => "cache { key value, ttl 1h }",
        "state" => "state { name: type }",
        "context" => "context { name: type }",
        "migrate" => "migrate { rename field a -> b }",
        _ => return None,
    };
    (message::wanted(&place.tried)? == "`{`").then(|| {
        let found = message::found(place.rest);
        // `set state.x = 1`, `into answer`
        let entry = place.rest.strip_prefix("state.").unwrap_or(place.rest);
        let field = first_word(entry);
        let behind = entry.get(field.len()..).unwrap_or("").trim_ascii_start();
        let value = behind.strip_prefix([':', '=']);
        let value = value.and_then(|value| expression::first(value, place.types));
        let entry = match (word, value) {
            ("set" | "with", Some((value, _))) => format!("{word} {{ {field}: {value} }}"),
            ("into", None) if !field.is_empty() => format!("into {{ {field}: {field} }}"),
            _ => example.to_owned(),
        };
        let example = entry.as_str();
        let found = place.error(format!("expected `{{` after `{word}`, found {found}"));
        found.help(format!("write `{example}`"))
    })
}

/// `start a`, `start: a`, `node a: update end`
pub fn missing_arrow(place: &Place) -> Option<Diagnostic> {
    if !place.tried(Rule::arrow) || place.after_operand() {
        return None;
    }
    let before = place.span.before();
    let found = message::found(place.rest);
    let (at, text) = match place.rest.chars().next()? {
        c if c.is_ascii_alphabetic() || c == '[' => (before, "-> "),
        ':' | '=' | '>' => (place.span, "->"),
        _ => return None,
    };
    let wanted = message::wanted(&place.tried)?;
    let missing = place.error(format!("expected {wanted}, found {found}"));
    // What begins with a word of its own is no edge from a node of that name.
    let begun = place.before == first_word(place.text)
        && keyword::MEMBERS.contains(&place.before)
        && !matches!(place.before, "start" | "on_error");
    let missing = match (begun, place.first_word()) {
        (true, _) => missing,
        (false, "") => missing.fix(at, text),
        (false, word) => missing.help(format!("write `-> {word}`")).fix(at, text),
    };
    let result = place.before.ends_with(')') && first_word(place.text) == "tool";
    Some(match result {
        true => missing.help("what it gives back stands behind `->`"),
        false => missing,
    })
}

/// `name type` for `name: type`
pub fn missing_colon(place: &Place) -> Option<Diagnostic> {
    let named = !place.last_word().is_empty() && !place.first_word().is_empty();
    if !named || place.tried.iter().any(|rule| *rule != Rule::colon) {
        return None;
    }
    let before = place.span.before();
    let found = message::found(place.rest);
    let found = place.error(format!(
        "expected `:` after `{}`, found {found}",
        place.last_word()
    ));
    Some(found.fix(before, ": "))
}

/// `[a b]`, `f(a b)`, `{k: v k: v}`
pub fn missing_comma(place: &Place) -> Option<Diagnostic> {
    let open = innermost_open(place.before)?;
    let begins = |c: char| c.is_alphanumeric() || matches!(c, '_' | '"' | '\'' | '{' | '(' | '[');
    if !place.rest.starts_with(begins) || place.before.ends_with([',', '(', '[', '{', ':']) {
        return None;
    }
    let reserved = |word: &str| keyword::RESERVED.contains(&word);
    if place.after_operand() && (reserved(place.first_word()) || reserved(place.last_word())) {
        return None;
    }
    // What was tried only ends the list, or goes on with what is complete.
    let ends = |rule: &Rule| {
        matches!(
            rule,
            Rule::rbracket | Rule::rparen | Rule::kw_where | Rule::kw_as | Rule::kw_keep
        ) || message::wanted(&[*rule]).is_none()
    };
    let gap = place.text.get(place.before.len()..place.offset())?;
    let lists = [Rule::rparen, Rule::rbracket];
    let next_line =
        gap.contains('\n') && open != '{' && lists.iter().any(|rule| place.tried(*rule));
    let complete = next_line || place.after_operand() || place.tried.iter().all(ends);
    (complete && open != '{' || place.after_operand()).then(|| {
        let found = message::found(place.rest);
        if gap.contains('\n') {
            // The line that lacks it is the one before.
            let end = place.before.len();
            let last = match place.last_word() {
                "" => 1,
                word => word.len(),
            };
            let start = (0..=end - last)
                .rev()
                .find(|at| place.before.is_char_boundary(*at));
            let own = place.before_at(start.unwrap_or(end), end);
            let shown = match place.before.get(start.unwrap_or(end)..).unwrap_or("") {
                "\"" | "'" => "a text in quotes".to_owned(),
                shown => format!("`{shown}`"),
            };
            return place
                .error_at(own, format!("expected `,` behind {shown}, before {found}"))
                .fix(place.before_at(end, end), ",");
        }
        let here = place.span.before();
        let missing = place.error(format!("expected `,` before {found}"));
        // `[a else b]`: more than a sign is wrong with a word of the language in a list of names.
        match place.after_operand() || !keyword::is_any(place.first_word()) {
            true => missing.fix(here, ", "),
            false => missing,
        }
    })
}

/// A reserved word of CEL where a value must stand.
pub fn reserved_word(place: &Place) -> Option<Diagnostic> {
    let word = place.first_word();
    let value = message::wanted(&place.tried).is_some_and(|w| w.contains(message::EXPRESSION));
    (value && keyword::RESERVED.contains(&word)).then(|| {
        let found = place.error(format!(
            "expected an expression, found the reserved word `{word}`"
        ));
        match word {
            "if" => place.in_whole(found.help("write `condition ? value : other`")),
            _ => found,
        }
    })
}

/// The text stops where something has to follow.
pub fn unfinished(place: &Place) -> Option<Diagnostic> {
    if !place.rest.is_empty() {
        return None;
    }
    let wanted = message::wanted(&place.tried)?;
    let start = place.span.start as usize;
    let shown = match last_word(place.before) {
        "" if place.before.ends_with("->") => "->".to_owned(),
        "" => place.before.chars().last().map(|c| c.to_string())?,
        word => word.to_owned(),
    };
    let gap = place.text.len() - place.before.len();
    let at = Span::new(
        place.span.file,
        start.saturating_sub(gap),
        start.saturating_sub(gap),
    );
    Some(Diagnostic::new(
        &codes::SYNTAX_ERROR,
        format!("expected {wanted} after `{shown}`"),
        at,
    ))
}
