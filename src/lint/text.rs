//! A flow's text as pieces: comments, text literals, brackets, the rest.
//!
//! Comments are no part of the tree, so what is said about them goes by the text.

/// What stands at a place of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece {
    /// `// ..` without its line end.
    Comment,
    /// The end of a line.
    LineEnd,
    /// Blanks within a line.
    Blank,
    /// `(`, `[` or `{`.
    Open,
    /// `)`, `]` or `}`.
    Close,
    /// A text literal, or one character of anything else.
    Other,
}

/// The pieces from an offset on, which must not lie within a comment or a literal, with their ranges.
pub fn pieces(text: &str, from: usize) -> impl Iterator<Item = (Piece, std::ops::Range<usize>)> {
    let mut at = from;
    std::iter::from_fn(move || {
        let rest = text.get(at..).filter(|rest| !rest.is_empty())?;
        let (piece, length) = piece(rest);
        let start = at;
        at += length;
        Some((piece, start..at))
    })
}

fn piece(rest: &str) -> (Piece, usize) {
    let first = rest.chars().next().unwrap_or(' ');
    match first {
        '/' if rest.starts_with("//") => {
            let line = rest.find('\n').unwrap_or(rest.len());
            let body = rest.get(..line).unwrap_or(rest);
            (Piece::Comment, body.trim_end_matches('\r').len())
        }
        '\n' => (Piece::LineEnd, 1),
        '"' | '\'' => (Piece::Other, literal(rest).max(1)),
        '(' | '[' | '{' => (Piece::Open, 1),
        ')' | ']' | '}' => (Piece::Close, 1),
        other if other.is_whitespace() => (Piece::Blank, other.len_utf8()),
        other => (Piece::Other, other.len_utf8()),
    }
}

/// Where the first line that something is written on begins and ends, at or after `from`.
pub fn line(text: &str, from: usize) -> Option<std::ops::Range<usize>> {
    let mut written = pieces(text, from)
        .filter(|(piece, _)| !matches!(piece, Piece::Comment | Piece::LineEnd | Piece::Blank));
    let (_, first) = written.next()?;
    let rest = text.get(first.start..).unwrap_or("");
    let length = rest.find('\n').unwrap_or(rest.len());
    Some(first.start..first.start + length)
}

/// Where the first thing written at or after `from` begins, comments passed over, and where the last
/// line of it ends: the line itself, or the line in which the last bracket is closed that was open
/// at the end of a line before. `None` where nothing follows.
pub fn statement(text: &str, from: usize) -> Option<std::ops::Range<usize>> {
    let mut start = None;
    let mut open = 0_usize;
    for (piece, range) in pieces(text, from) {
        match piece {
            Piece::LineEnd if open == 0 => {
                if let Some(start) = start {
                    return Some(start..range.start);
                }
            }
            Piece::Comment | Piece::LineEnd | Piece::Blank => continue,
            Piece::Open => open += 1,
            Piece::Close => open = open.saturating_sub(1),
            Piece::Other => {}
        }
        if piece != Piece::LineEnd {
            start = start.or(Some(range.start));
        }
    }
    start.map(|start| start..text.len())
}

/// Length of the text literal that begins here: to the quote that closes it, else all of it.
fn literal(rest: &str) -> usize {
    for quote in ["\"\"\"", "'''", "\"", "'"] {
        let Some(inside) = rest.strip_prefix(quote) else {
            continue;
        };
        let mut escaped = false;
        for (i, c) in inside.char_indices() {
            if !escaped && inside.get(i..).is_some_and(|rest| rest.starts_with(quote)) {
                return i + 2 * quote.len();
            }
            escaped = !escaped && c == '\\';
        }
        return rest.len();
    }
    1
}
