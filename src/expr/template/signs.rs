//! How many signs an expression of a template chains: the engine reads `a | b | c`, `- - a` and `a.b.c` each inside of the
//! one before, so there must be a bound.

use std::ops::Range;

/// Most operators, points, brackets and words such as `and` that stand inside of each other.
pub const MOST: usize = 400;

/// Words that join what stands around them.
const WORDS: [&str; 7] = ["not", "and", "or", "if", "else", "in", "is"];

/// The place of the sign that is one too many.
pub fn too_long(text: &str) -> Option<Range<usize>> {
    // Few templates are as long as that.
    if text.len() <= MOST {
        return None;
    }
    let mut raw = false;
    let mut at = 0;
    while let Some(found) = text.get(at..)?.find('{') {
        let start = at + found;
        let tag = text.get(start..)?;
        at = start + 1;
        if tag.starts_with("{#") {
            at = start + tag.find("#}").map_or(tag.len(), |end| end + 2);
        } else if tag.starts_with("{{") || tag.starts_with("{%") {
            let inner = tag.get(2..)?;
            let words = inner.trim_start_matches(['-', '+']).trim_start();
            let statement = tag.starts_with("{%");
            if statement && words.starts_with("endraw") {
                raw = false;
            } else if statement && words.starts_with("raw") {
                raw = true;
            }
            if raw {
                continue;
            }
            match read(inner) {
                Ok(length) => at = start + 2 + length,
                Err(place) => return Some(start + 2 + place.start..start + 2 + place.end),
            }
        }
    }
    None
}

/// How long a tag is, behind its first two signs, or the place of what is too much in it.
fn read(tag: &str) -> Result<usize, Range<usize>> {
    // For each open bracket, how many signs are chained in it.
    let mut open = vec![0_usize];
    let mut all = 0_usize;
    let mut chars = tag.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let here = |len: usize| at..at + len;
        let mut counts = None;
        match c {
            '"' | '\'' => {
                while let Some((_, inside)) = chars.next() {
                    match inside {
                        '\\' => _ = chars.next(),
                        _ if inside == c => break,
                        _ => {}
                    }
                }
            }
            '}' | '%' if open.len() == 1 && ends(tag, at) => return Ok(at + 2),
            '(' | '[' | '{' => {
                counts = Some(here(1));
                open.push(0);
            }
            ')' | ']' | '}' => {
                // The bracket itself stays in the chain that it stands in.
                if open.len() > 1 {
                    all -= open.pop().unwrap_or(0);
                }
            }
            ',' | ':' => {
                if let Some(count) = open.last_mut() {
                    all -= std::mem::take(count);
                }
            }
            '=' | '!' | '<' | '>' | '*' | '/' => {
                counts = Some(here(1));
                chars.next_if(|(_, next)| *next == '=' || *next == c);
            }
            '-' | '+' | '~' | '%' | '|' | '.' => counts = Some(here(1)),
            c if c.is_alphabetic() || c == '_' => {
                let mut end = at + c.len_utf8();
                let in_word = |next: &(usize, char)| next.1.is_alphanumeric() || next.1 == '_';
                while let Some((next, c)) = chars.next_if(in_word) {
                    end = next + c.len_utf8();
                }
                let word = tag.get(at..end).unwrap_or_default();
                counts = WORDS.contains(&word).then_some(at..end);
            }
            _ => {}
        }
        let Some(place) = counts else { continue };
        // An opening bracket counts where it stands, not inside of itself.
        let opened = matches!(c, '(' | '[' | '{');
        let level = open.len().saturating_sub(1 + usize::from(opened));
        if let Some(count) = open.get_mut(level) {
            *count += 1;
        }
        all += 1;
        if all > MOST {
            return Err(place);
        }
    }
    Ok(tag.len())
}

fn ends(tag: &str, at: usize) -> bool {
    let rest = tag.get(at..).unwrap_or_default();
    rest.starts_with("}}") || rest.starts_with("%}")
}

#[cfg(test)]
mod tests {
    use super::{MOST, too_long};

    #[test]
    fn what_stands_side_by_side_does_not_count() {
        let list = format!("{{{{ [{}] }}}}", "a.b + 1, ".repeat(5 * MOST));
        assert_eq!(too_long(&list), None);
        assert_eq!(too_long(&"{{ a.b.c(1) | d }}".repeat(MOST)), None);
        assert_eq!(too_long(&format!("{{# {} #}}", "-".repeat(2 * MOST))), None);
        let raw = format!(
            "{{% raw %}}{{{{ {} }}}}{{% endraw %}}",
            "-".repeat(2 * MOST)
        );
        assert_eq!(too_long(&raw), None);
    }

    #[test]
    fn what_stands_inside_of_each_other_does() {
        for (part, of) in [
            ("-", "a"),
            ("not ", "a"),
            ("a if b else ", "c"),
            ("(", "a"),
            ("a and ", "b"),
        ] {
            let text = format!("{{{{ {}{of} }}}}", part.repeat(MOST + 1));
            assert!(too_long(&text).is_some(), "{part}");
        }
        for part in [" | trim", ".upper()", "[0]", " ~ b"] {
            let text = format!("{{{{ a{} }}}}", part.repeat(MOST + 1));
            assert!(too_long(&text).is_some(), "{part}");
        }
    }
}
