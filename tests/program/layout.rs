//! What stands between the tokens of a random program.

use super::{Piece, Separator, below};

/// Whether two tokens need a blank between them.
fn apart(one: &str, other: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '"' | '\'' | '`' | '.');
    let (last, first) = (one.chars().last(), other.chars().next());
    let words = last.is_some_and(is_word) && first.is_some_and(is_word);
    // Signs that would be another sign together.
    let signs = "<>=!&|-+/:?*%";
    let is_sign = |c: char| signs.contains(c);
    words && one != "." && other != "." || last.is_some_and(is_sign) && first.is_some_and(is_sign)
}

/// One blank everywhere, a line for each entry.
pub fn plain(pieces: &[Piece]) -> String {
    let mut out = String::new();
    for piece in pieces {
        match piece.separated {
            Separator::None if out.is_empty() => {}
            Separator::None => out.push(' '),
            Separator::Comma => out.push_str(",\n"),
            Separator::Entry | Separator::Free => out.push('\n'),
        }
        out.push_str(&piece.text);
    }
    out.push('\n');
    out
}

/// Anything that may stand there.
pub fn scattered(pieces: &[Piece], mut bytes: &[u8]) -> String {
    let mut out = String::new();
    let mut comments = 0;
    let mut before = "";
    for piece in pieces {
        let comma = match piece.separated {
            Separator::None => false,
            Separator::Comma => true,
            Separator::Free | Separator::Entry => below(&mut bytes, 3) == 2,
        };
        if comma {
            between(&mut out, &mut bytes, &mut comments, false);
            out.push(',');
        } else if piece.separated == Separator::Entry {
            out.push('\n');
        }
        let length = out.len();
        if piece.declares && below(&mut bytes, 4) == 3 {
            comments += 1;
            out.push_str(&format!("\n  /// doc {comments}\n"));
        }
        between(&mut out, &mut bytes, &mut comments, piece.glued);
        if out.len() == length && !comma && apart(before, &piece.text) {
            out.push(' ');
        }
        out.push_str(&piece.text);
        before = &piece.text;
    }
    between(&mut out, &mut bytes, &mut comments, false);
    out
}

/// Blanks, line ends and comments.
fn between(out: &mut String, bytes: &mut &[u8], comments: &mut usize, glued: bool) {
    match below(bytes, 24) {
        0..=11 => {}
        12..=15 => out.push(' '),
        16 => out.push_str("\t  "),
        17 | 18 => out.push('\n'),
        19 => out.push_str("\r\n   "),
        20 => out.push_str("\n\n\n"),
        _ if glued => out.push(' '),
        kind => {
            let many = 1 + below(bytes, 2);
            for _ in 0..many {
                *comments += 1;
                let slashes = ["//", "//", "// ", "///", "//!", "////"][below(bytes, 6)];
                let lead = match kind {
                    21 => " ",
                    22 => "\n   ",
                    _ => "\n\n",
                };
                let text = ["c", "", "é \"quoted", "} ( ,"][below(bytes, 4)];
                out.push_str(&format!("{lead}{slashes} {text} {comments}\n"));
            }
        }
    }
}
