//! Mistakes within a word or a number: letters, quotes and blanks that the language does not have.

use crate::diag::Diagnostic;

use super::Place;

/// Blanks that look like one and are none: U+00A0, U+200B.
pub fn unseen_blank(place: &Place) -> Option<Diagnostic> {
    let first = place.rest.chars().next()?;
    let unseen = !first.is_ascii()
        && (first.is_whitespace() || ('\u{200b}'..='\u{200f}').contains(&first))
        || matches!(first, '\u{2060}' | '\u{feff}' | '\u{ad}');
    unseen.then(|| {
        let at = place.at(0, first.len_utf8());
        let blank = if first.is_whitespace() { " " } else { "" };
        let found = place.error_at(
            at,
            format!(
                "the character U+{:04X}, which looks like a blank or like nothing",
                u32::from(first)
            ),
        );
        found.help("write a blank, or take it out").fix(at, blank)
    })
}

/// `node größe`: the grammar gives up within the name.
pub fn foreign_letter(place: &Place) -> Option<Diagnostic> {
    let first = place.rest.chars().next()?;
    if first.is_ascii() || !first.is_alphanumeric() {
        return None;
    }
    let begun = match place.offset() == place.before.len() {
        true => place.last_word(),
        false => "",
    };
    let end = place
        .rest
        .find(|c: char| !c.is_alphanumeric() && c != '_')
        .unwrap_or(place.rest.len());
    let word = format!("{begun}{}", place.rest.get(..end).unwrap_or(""));
    let mut found = place.error(format!("`{word}` is no name"));
    if let Some(label) = found.labels.first_mut() {
        label.span.start -= begun.len() as u32;
    }
    Some(found.help("names are made of the letters `a` to `z`, digits and `_`"))
}

/// `10.` and `1_000`
pub fn odd_number(place: &Place) -> Option<Diagnostic> {
    let in_number = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    let before = place.text.get(..place.offset())?;
    let start = before
        .trim_end_matches(' ')
        .rfind(|c| !in_number(c))
        .map_or(0, |at| at + 1);
    let begun = before.get(start..)?.trim_end();
    let rest = place
        .rest
        .find(|c| !in_number(c))
        .unwrap_or(place.rest.len());
    let rest = place.rest.get(..rest)?;
    let word = match before.ends_with(' ') {
        true => begun.to_owned(),
        false => format!("{begun}{rest}"),
    };
    let odd = word.ends_with('.') || word.contains('_');
    if !begun.starts_with(|c: char| c.is_ascii_digit()) || !odd {
        return None;
    }
    let mut found = place.error(format!("`{word}` is no number"));
    if let Some(label) = found.labels.first_mut() {
        let start = label.span.start - (before.len() - start) as u32;
        label.span.start = start;
        label.span.end = start + word.len() as u32;
    }
    let mend = match word.strip_suffix('.') {
        Some(whole) => format!("{whole}.0"),
        None => word.replace('_', ""),
    };
    Some(found.help(format!("write `{mend}`")))
}

/// Quotes of a word processor.
pub fn curly_quote(place: &Place) -> Option<Diagnostic> {
    let quote = place.rest.chars().next()?;
    let straight = match quote {
        '“' | '”' | '„' => '"',
        '‘' | '’' | '‚' => '\'',
        _ => return None,
    };
    let found = place.error(format!("`{quote}` begins no text"));
    Some(found.help(format!("write `{straight}`")))
}
