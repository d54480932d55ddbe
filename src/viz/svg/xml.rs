//! Text and numbers as XML writes them.

use std::fmt::Write;

/// A text between tags or in quotes. What XML can't hold is left out.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => {}
            c => out.push(c),
        }
    }
    out
}

/// A number of pixels, to a tenth.
pub fn px(number: f64) -> String {
    let mut out = String::new();
    // Writing to a string can't fail.
    let _ = write!(out, "{number:.1}");
    match out.strip_suffix(".0") {
        Some("-0") => "0".to_owned(),
        Some(whole) => whole.to_owned(),
        None => out,
    }
}
