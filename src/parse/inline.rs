//! A record that is written where the name of its type belongs: what it is read as, so that what holds it isn't lost.

use pest::error::Error;

use crate::base::{FileId, Span};

use super::grammar::Rule;
use super::message;
use super::mistake::first_word;

/// Where the record at `at` stands, and what to read in its place: a name that it declares. No type is called so; since the name stands in
/// a piece that did not parse, nothing is said of it, and what is of that type fits everything.
pub fn meant(text: &str, at: usize, error: &Error<Rule>) -> Option<(Span, String)> {
    let tried = message::tried(error.clone());
    let rest = text.get(at..).filter(|rest| rest.starts_with('{'))?;
    if !tried.contains(&Rule::type_expr) && !tried.contains(&Rule::type_member) {
        return None;
    }
    let inside = rest.get(1..)?.trim_ascii_start();
    let name = first_word(inside);
    let declares = inside
        .get(name.len()..)?
        .trim_ascii_start()
        .starts_with(':');
    let end = at + closing(rest)?;
    (declares && !name.is_empty()).then(|| (Span::new(FileId::default(), at, end), name.to_owned()))
}

/// Where the brace that a text begins with is closed, behind it. Quotes are no matter: the scan has balanced what is outside of them,
/// and braces within them are rare in types.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}
