//! Sizes in the words of messages, and messages of a size.

use std::borrow::Cow;

/// A number of bytes: in MiB where it has any, rounded down.
pub fn show_size(bytes: usize) -> String {
    match bytes >> 20 {
        0 => format!("{bytes} bytes"),
        mib => format!("{mib} MiB"),
    }
}

/// A text of at most so many bytes: of a longer one the beginning, and how much more there is.
pub fn beginning(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most {
        return text.into();
    }
    let begins = beginning_of(text, most);
    let more = text.len() - begins.len();
    format!("{begins}.. (and {more} more bytes)").into()
}

/// Most characters of an excerpt.
const EXCERPT: usize = 300;

/// The beginning of a text, on one line.
pub fn excerpt(text: &str) -> String {
    // What is left out is not read: the words of a long text are many.
    let begins = beginning_of(text, EXCERPT * 8);
    let words = begins.split_whitespace().collect::<Vec<_>>().join(" ");
    match words.char_indices().nth(EXCERPT) {
        Some((end, _)) => format!("{}…", words.get(..end).unwrap_or("")),
        None if begins.len() < text.len() => format!("{words}…"),
        None => words,
    }
}

fn beginning_of(text: &str, most: usize) -> &str {
    text.get(..text.floor_char_boundary(most)).unwrap_or(text)
}
