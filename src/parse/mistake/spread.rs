//! Spreads of other languages: `[...xs, x]`, `{**m, "k": v}`.

use crate::diag::Diagnostic;

use super::super::grammar::Rule;
use super::{Place, innermost_bracket, last_word};

const SIGNS: [&str; 3] = ["...", "**", "*"];

/// A spread in a list, a map, a record or a block of values.
pub fn spread(place: &Place) -> Option<Diagnostic> {
    // Of `...` the grammar reads the first dot as that of a name.
    let dots = place.rest.starts_with("..") && place.before.ends_with('.');
    let start = place.offset() - usize::from(dots);
    let written = place.text.get(start..)?;
    let sign = SIGNS.into_iter().find(|sign| written.starts_with(sign))?;
    let before = place.text.get(..start)?.trim_ascii_end();
    let at = place.before_at(start, start + sign.len());
    let block = || {
        let found = place.error_at(at, format!("`{sign}` is no part of a block of values"));
        found.help("what is not named stays as it is: take it out")
    };
    let Some((open, bracket)) = innermost_bracket(before) else {
        let whole = before.is_empty() && place.tried(Rule::ident);
        return whole.then(block);
    };
    if !before.ends_with(['[', '{', ',']) || bracket == '(' {
        return None;
    }
    let head = before.get(..open)?.trim_ascii_end();
    let (what, meant) = match (bracket, last_word(head).chars().next()) {
        ('[', _) => ("a list", "xs + [x]"),
        (_, None) => ("a map", "m.merge({\"key\": value})"),
        (_, Some('A'..='Z')) => ("a record", "x.with({\"field\": value})"),
        (_, Some(_)) => return Some(block()),
    };
    let found = place.error_at(at, format!("`{sign}` is no part of {what}"));
    Some(place.in_whole(found.help(format!("write `{meant}`"))))
}
