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

/// The range of an error, begun where what a filter is applied to begins: the engine places an error of `a | int` at `int`.
pub(super) fn applied(text: &str, range: Range<usize>) -> Range<usize> {
    let mut start = range.start;
    loop {
        let before = text.get(..start).unwrap_or("").trim_end();
        let operand = before.strip_suffix('|').map(str::trim_end);
        match operand.map(|operand| (last_part(operand), operand.len())) {
            Some((begins, ends)) if begins < ends => start = begins,
            _ => return start..range.end,
        }
    }
}

/// What the filter at the start of a range is applied to; the range itself where no filter begins there.
pub(super) fn operand(text: &str, range: Range<usize>) -> Range<usize> {
    let before = text.get(..range.start).unwrap_or("").trim_end();
    let start = applied(text, range.clone()).start;
    match before.strip_suffix('|').map(str::trim_end) {
        Some(operand) if start < operand.len() => start..operand.len(),
        _ => range,
    }
}

/// Where the name, text, call or bracket begins that a text ends with.
fn last_part(text: &str) -> usize {
    let (mut start, mut depth, mut quote) = (text.len(), 0_usize, None);
    for (at, c) in text.char_indices().rev() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, ')' | ']' | '}') => depth += 1,
            (None, '(' | '[' | '{') if depth > 0 => depth -= 1,
            (None, _) if depth > 0 => {}
            (None, c) if c.is_alphanumeric() || matches!(c, '_' | '.') => {}
            _ => break,
        }
        start = at;
    }
    start
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
    fn at_what_a_filter_is_applied_to() {
        for (text, part, whole) in [
            ("{{ a.b | int }}", "int", "a.b | int"),
            (
                "{{ x + (a[\"|\"] | trim|int) }}",
                "int",
                "a[\"|\"] | trim|int",
            ),
            ("{{ int }}", "int", "int"),
            ("{{ f('x | y')|int }}", "int", "f('x | y')|int"),
        ] {
            let at = text.rfind(part).unwrap_or_default();
            let range = super::applied(text, at..at + part.len());
            assert_eq!(text.get(range), Some(whole));
        }
    }

    #[test]
    fn at_the_operand_of_a_filter() {
        for (text, part, whole) in [
            ("{{ a[3] | upper }}", "upper", "a[3]"),
            ("{{ a | b | upper }}", "upper", "a | b"),
            ("{{ a.b }}", "a.b", "a.b"),
        ] {
            let at = text.rfind(part).unwrap_or_default();
            let range = super::operand(text, at..at + part.len());
            assert_eq!(text.get(range), Some(whole));
        }
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
