//! Spreads of other languages: `[...xs, x]`, `{**m, "k": v}`.

use crate::base::foreign::text::{balanced, split};
use crate::diag::Diagnostic;

use super::super::grammar::Rule;
use super::{Place, first_word, innermost_bracket, last_word};

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
        place
            .error_at(at, format!("`{sign}` is no part of a block of values"))
            .help("what is not named stays as it is: take it out")
    };
    let Some((open, bracket)) = innermost_bracket(before) else {
        let whole = before.is_empty() && place.tried(Rule::ident);
        return whole.then(block);
    };
    if !before.ends_with(['[', '{', ',']) || bracket == '(' {
        return None;
    }
    let inside = place.text.get(open + 1..)?;
    let close = if bracket == '[' { ']' } else { '}' };
    let end = balanced(inside, close)?;
    let parts = split(inside.get(..end)?);
    let head = before.get(..open)?.trim_ascii_end();
    let record = last_word(head);
    let (what, meant, whole) = match (bracket, record.chars().next()) {
        ('[', _) => ("a list", list(&parts), open),
        (_, None) => ("a map", map(&parts), open),
        (_, Some('A'..='Z')) => ("a record", fields(&parts)?, head.len() - record.len()),
        (_, Some(_)) => return Some(block()),
    };
    let found = place.error_at(at, format!("`{sign}` is no part of {what}"));
    let help = match added(head, &parts).filter(|_| bracket == '[') {
        Some((field, new)) => format!(
            "write `{meant}`, or `{new}` alone where `{field}` has a reducer that adds it, such as `append`"
        ),
        None => format!("write `{meant}`"),
    };
    let span = place.before_at(whole, open + 1 + end + 1);
    Some(found.help(help).fix(span, meant))
}

/// What is spread, without its sign.
fn spreads(part: &str) -> Option<&str> {
    let sign = SIGNS.into_iter().find(|sign| part.starts_with(sign))?;
    part.get(sign.len()..).map(str::trim_ascii)
}

/// Runs of plain parts, and what is spread between them.
fn groups<'a>(parts: &[&'a str]) -> Vec<Result<&'a str, Vec<&'a str>>> {
    let mut groups: Vec<Result<&str, Vec<&str>>> = Vec::new();
    for part in parts {
        match (spreads(part), groups.last_mut()) {
            (Some(spread), _) => groups.push(Ok(spread)),
            (None, Some(Err(plain))) => plain.push(part),
            (None, _) => groups.push(Err(vec![part])),
        }
    }
    groups
}

/// `xs + [x]`
fn list(parts: &[&str]) -> String {
    let groups = groups(parts).into_iter().map(|group| match group {
        Ok(spread) if spread.contains(" ? ") => format!("({spread})"),
        Ok(spread) => spread.to_owned(),
        Err(plain) => format!("[{}]", plain.join(", ")),
    });
    groups.collect::<Vec<_>>().join(" + ")
}

/// `m.merge({"k": v})`
fn map(parts: &[&str]) -> String {
    let mut meant = String::new();
    for group in groups(parts) {
        let group = match group {
            Ok(spread) => spread.to_owned(),
            Err(plain) => format!("{{{}}}", plain.join(", ")),
        };
        match meant.as_str() {
            "" if group.contains(' ') && !group.starts_with('{') => meant = format!("({group})"),
            "" => meant = group,
            _ => meant.push_str(&format!(".merge({group})")),
        }
    }
    meant
}

/// `r.with({"field": v})`
fn fields(parts: &[&str]) -> Option<String> {
    let (first, named) = parts.split_first()?;
    let named = named.iter().map(|part| {
        let (name, value) = part.split_once(':')?;
        Some(format!("\"{}\": {}", name.trim_ascii(), value.trim_ascii()))
    });
    let named = named.collect::<Option<Vec<_>>>()?.join(", ");
    Some(format!("{}.with({{{named}}})", spreads(first)?))
}

/// The field that a list is written to which begins with the field's own value, and what is new in it.
fn added<'a>(before: &'a str, parts: &[&'a str]) -> Option<(&'a str, String)> {
    let (first, new) = parts.split_first()?;
    let field = last_word(before.strip_suffix(':')?.trim_ascii_end());
    let own = spreads(first)?.strip_prefix("state.")?;
    let plain = new.iter().all(|part| spreads(part).is_none());
    (own == field && first_word(own) == own && !new.is_empty() && plain)
        .then(|| (field, format!("[{}]", new.join(", "))))
}
