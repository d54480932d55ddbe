//! How wide a text is, without a font: widths of the common faces, rounded up.

/// A face, with its size in pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Face {
    /// Names and source: each character is as wide as any other.
    Code(f64),
    /// Prose.
    Prose(f64),
}

/// Width of a line in pixels; seldom too small.
pub fn width(text: &str, face: Face) -> f64 {
    text.chars().map(|c| advance(c, face)).sum()
}

fn advance(c: char, face: Face) -> f64 {
    match face {
        _ if c.is_control() => 0.0,
        // From the first of the wide scripts on, a character is a square, or as wide as one.
        Face::Code(size) | Face::Prose(size) if c >= '\u{1100}' && !is_sign(c) => size * 1.05,
        Face::Code(size) => size * 0.615,
        Face::Prose(size) => size * prose(c),
    }
}

/// Punctuation, arrows and the like, which are no wider than a letter.
fn is_sign(c: char) -> bool {
    ('\u{2000}'..='\u{23ff}').contains(&c)
}

fn prose(c: char) -> f64 {
    match c {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | '`' => 0.31,
        ' ' | 'f' | 't' | 'r' | 'I' | '(' | ')' | '[' | ']' | '/' | '-' => 0.40,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 0.97,
        'A'..='Z' => 0.74,
        _ => 0.61,
    }
}
