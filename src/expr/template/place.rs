//! Where an expression of a template begins. The engine's span of `a.b.c` begins at the second dot; for
//! people it begins at `a`.

use std::ops::Range;

/// The range, begun at the name that its first dot or bracket belongs to.
pub(super) fn whole(text: &str, range: Range<usize>) -> Range<usize> {
    let is_rest = text
        .get(range.clone())
        .is_some_and(|part| part.starts_with(['.', '[']));
    let mut start = range.start;
    if is_rest {
        let mut depth = 0_usize;
        for (at, c) in text.get(..range.start).unwrap_or("").char_indices().rev() {
            match c {
                ']' | ')' => depth += 1,
                '[' | '(' if depth > 0 => depth -= 1,
                _ if depth > 0 => {}
                c if c.is_alphanumeric() || matches!(c, '_' | '.') => {}
                _ => break,
            }
            start = at;
        }
    }
    start..range.end
}

#[cfg(test)]
mod tests {
    #[track_caller]
    fn begins(text: &str, part: &str, whole: &str) {
        let at = text.find(part).unwrap_or_default();
        let range = super::whole(text, at..at + part.len());
        assert_eq!(text.get(range), Some(whole));
    }

    #[test]
    fn at_the_first_name() {
        begins("{{ a.b.c }}", ".b.c", "a.b.c");
        begins("{{ x + a[b.c(1)].d }}", ".d", "a[b.c(1)].d");
        begins("{{ a.b }}", "a.b", "a.b");
        begins(".b", ".b", ".b");
        begins("é.b", ".b", "é.b");
    }
}
