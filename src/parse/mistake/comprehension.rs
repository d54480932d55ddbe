//! Lists and functions as Python has them: `[x * 2 for x in xs]`, `xs.filter(lambda x: x > 1)`.

use crate::diag::Diagnostic;

use super::{Place, first_word, innermost_open, last_word};

/// `[x * 2 for x in xs]`, `any(x > 1 for x in xs)`
pub fn for_word(place: &Place) -> Option<Diagnostic> {
    let open = innermost_open(place.before)?;
    if place.first_word() != "for" || !place.after_operand() {
        return None;
    }
    let behind = place.rest.get(3..)?.trim_ascii_start();
    let name = match first_word(behind) {
        "" => "x",
        name => name,
    };
    let (head, _) = place.before.rsplit_once(open)?;
    let filter = format!("and `xs.filter({name}, condition)` for some of them");
    let meant = match last_word(head) {
        "any" if open == '(' => format!("write `xs.exists({name}, condition)`"),
        "all" if open == '(' => format!("write `xs.all({name}, condition)`"),
        "sum" if open == '(' => format!("write `xs.map({name}, value).sum()`, {filter}"),
        _ => format!("write `xs.map({name}, value)`, {filter}"),
    };
    Some(place.error("`for` is no part of an expression").help(meant))
}

/// `xs.filter(lambda x: x > 1)`
pub fn lambda_word(place: &Place) -> Option<Diagnostic> {
    let word = place.last_word();
    let name = place.first_word();
    if word != "lambda" || name.is_empty() || innermost_open(place.before) != Some('(') {
        return None;
    }
    let (head, _) = place.before.rsplit_once('(')?;
    let called = last_word(head);
    let start = place.before.len() - word.len();
    let found = place
        .error_at(
            place.before_at(start, place.before.len()),
            format!("`lambda` is no part of `{called}`"),
        )
        .help(format!(
            "name the element, then say what is made of it: `.{called}({name}, ..)`"
        ));
    let behind = place.rest.get(name.len()..)?;
    let colon = behind.trim_ascii_start().starts_with(':');
    let end = place.text.len() - behind.trim_ascii_start().len() + 1;
    Some(match colon {
        true => found.fix(place.before_at(start, end), format!("{name},")),
        false => found,
    })
}
