//! Mistakes in expressions and in blocks of values.

use crate::diag::Diagnostic;

use super::super::grammar::Rule;
use super::super::message;
use super::{Place, first_word, innermost_open, last_word};

/// `set { n += 1 }`, `set { n =: 1 }`
pub fn assigning_sign(place: &Place) -> Option<Diagnostic> {
    if !(place.tried(Rule::colon) && place.tried(Rule::assign)) {
        return None;
    }
    let name = place.last_word();
    if let Some(sign) = ["+=", "-=", "*=", "/=", "++", "--", "||=", "&&="]
        .into_iter()
        .find(|sign| place.rest.starts_with(sign))
    {
        let at = place.at(0, sign.len());
        let operator = sign.get(..1).unwrap_or("+");
        return Some(
            place
                .error_at(at, format!("expected `:` after `{name}`, found `{sign}`"))
                .help(format!("write `{name}: state.{name} {operator} ..`, or what a reducer such as `add` takes: `{name}: ..`")),
        );
    }
    let sign = ["=:", "= :", ": ="]
        .into_iter()
        .find(|sign| place.rest.starts_with(sign))?;
    let at = place.at(0, sign.len());
    Some(
        place
            .error_at(
                at,
                format!("expected `:` or `:=` after `{name}`, found `{sign}`"),
            )
            .help("write `:=`")
            .fix(at, ":="),
    )
}

/// `Doc(id: 1)`, `f(a: 1)`
pub fn named_in_call(place: &Place) -> Option<Diagnostic> {
    if !place.rest.starts_with(':')
        || innermost_open(place.before) != Some('(')
        || !place.after_operand()
    {
        return None;
    }
    let argument = place.last_word();
    let (head, _) = place.before.rsplit_once('(')?;
    let word = last_word(head);
    if word.is_empty() {
        return None;
    }
    let at = place.before_at(head.len() - word.len(), head.len());
    Some(match word.starts_with(|c: char| c.is_ascii_uppercase()) {
        true => place
            .error_at(
                at,
                format!("a record such as `{word}` stands in braces, found `(`"),
            )
            .help(format!("write `{word} {{ {argument}: .. }}`")),
        false => place
            .error(format!(
                "arguments of `{word}` have no names, found `{argument}:`"
            ))
            .help(format!("write `{word}(..)` with the values alone")),
    })
}

/// `x "a"`, `x 1`: two values side by side.
pub fn missing_operator(place: &Place) -> Option<Diagnostic> {
    let begins = place
        .rest
        .starts_with(|c: char| matches!(c, '"' | '\'') || c.is_ascii_digit());
    (place.after_operand() && begins && innermost_open(place.before).is_none()).then(|| {
        let found = message::found(place.rest);
        let path = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
        let start = place.before.trim_end_matches(path).len();
        let between = match place.before.get(start..).unwrap_or("") {
            "" => format!("expected an operator before {found}"),
            path => format!("expected an operator between `{path}` and {found}"),
        };
        place.error(between).help("join texts by `+`")
    })
}

/// `(x) => y`, `x -> y` as an argument of a macro.
pub fn lambda(place: &Place) -> Option<Diagnostic> {
    let arrow = ["=>", "->"]
        .into_iter()
        .find(|arrow| place.rest.starts_with(arrow))?;
    let inside = innermost_open(place.before) == Some('(');
    let (head, _) = place.before.rsplit_once('(')?;
    let word = last_word(head.trim_end_matches('('));
    let macros = [
        "map",
        "filter",
        "all",
        "exists",
        "exists_one",
        "find",
        "sort_by",
        "group_by",
        "any",
        "some",
        "every",
        "reduce",
        "fold",
        "to_map",
        "checked",
    ];
    (inside && place.after_operand() && macros.contains(&word)).then(|| {
        let name = place.last_word();
        place
            .error_at(place.at(0, 2), format!("`{arrow}` is no part of `{word}`"))
            .help(format!(
                "name the element, then say what is made of it: `.{word}({name}, ..)`"
            ))
            .fix(
                place.before_at(place.before.len(), place.text.len() - place.rest.len() + 2),
                ",",
            )
    })
}

/// `ask f"Deploy {state.app}"`, `ask "Deploy " + state.app`, `prompt state.task`: what is a template.
pub fn expression_for_template(place: &Place) -> Option<Diagnostic> {
    let rest = place.rest;
    let taken_up = place.before.len() == place.text.len() - rest.len();
    // What stands behind the word, as far as it was read.
    let (message, read) = if rest.starts_with(['"', '\'']) && taken_up {
        let before = place.before.strip_suffix('f')?;
        ("`f\"..\"` is no text", before)
    } else if rest.starts_with('+') {
        let text = place.before.strip_suffix('"')?;
        let begin = text.rfind('"')?;
        ("nothing is added to a text here", text.get(..begin)?)
    } else if rest.starts_with('.') && taken_up {
        let root = place.last_word();
        ("a text is expected here", place.before.strip_suffix(root)?)
    } else {
        return None;
    };
    let word = last_word(read.trim_ascii_end());
    matches!(word, "ask" | "prompt" | "system").then(|| {
        place.error(message).help(format!(
            "the text of `{word}` is a template: `{word} \"Deploy {{{{ state.app }}}}\"`"
        ))
    })
}

/// `a ?: b`, `a ** b`, `a <> b`, `x[0:2]`, `f".."` and backticks.
pub fn foreign_operator(place: &Place) -> Option<Diagnostic> {
    let rest = place.rest;
    let at = |length: usize| place.at(0, length);
    let operator = |sign: &str, help: &str| {
        Some(
            place
                .error_at(at(sign.len()), format!("`{sign}` is no operator"))
                .help(help),
        )
    };
    if place.before.ends_with('?') && rest.starts_with(':') && place.tried(Rule::prefix) {
        let sign = place.before_at(place.before.len() - 1, place.text.len() - rest.len() + 1);
        return Some(
            place
                .error_at(sign, "`?:` is no operator")
                .help("write `x == null ? other : x`, or `x.?y.orValue(other)`"),
        );
    }
    if place.before.ends_with('*') && rest.starts_with('*') {
        return operator("*", "there is no power: write `x * x`");
    }
    if place.before.ends_with('<') && rest.starts_with('>') {
        return operator(">", "write `!=`");
    }
    if rest.starts_with('`') {
        return Some(
            place
                .error_at(at(1), "a text stands in `\"`, found a backtick")
                .help("write `\"..\"`, and join texts by `+`"),
        );
    }
    if place.after_operand() && rest.starts_with(':') && innermost_open(place.before) == Some('[') {
        return Some(
            place
                .error_at(at(1), "a part of a list is no `[a:b]`")
                .help("write `.slice(from, to)`"),
        );
    }
    if rest.starts_with(['"', '\''])
        && place.last_word() == "f"
        && place.text.len() - rest.len() == place.before.len()
    {
        return Some(
            place
                .error("`f\"..\"` is no text")
                .help("join texts by `+`, or write `\"%s\".format([..])`"),
        );
    }
    let word = place.first_word();
    if place.after_operand()
        && matches!(
            word,
            "not"
                | "xor"
                | "eq"
                | "ne"
                | "gt"
                | "lt"
                | "ge"
                | "le"
                | "like"
                | "contains"
                | "startswith"
                | "matches"
                | "mod"
                | "div"
        )
    {
        let help = match word {
            "not" if first_word(rest.get(3..)?.trim_ascii_start()) == "in" => "write `!(x in xs)`",
            "not" | "ne" | "xor" => "write `!=`",
            "eq" => "write `==`",
            "gt" => "write `>`",
            "lt" => "write `<`",
            "ge" => "write `>=`",
            "le" => "write `<=`",
            "contains" => "write `x.contains(y)`",
            "startswith" => "write `x.startsWith(y)`",
            "matches" | "like" => "write `x.matches(\"..\")`",
            "mod" => "write `%`",
            _ => "write `/`",
        };
        return Some(place.error(format!("`{word}` is no operator")).help(help));
    }
    None
}
