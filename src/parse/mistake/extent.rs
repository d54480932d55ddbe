//! Where an expression begins and ends around a place of a text that did not parse: by brackets, quotes and commas.

use super::first_word;

/// How far an operand reaches.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// To the next comma, bracket or line.
    Whole,
    /// To the next `&&`, `||`, `?` or `!` too.
    Condition,
}

/// Words that stand before an expression.
const BEFORE: [&str; 14] = [
    "when", "require", "ensure", "skip", "until", "else", "return", "where", "messages", "in",
    "and", "or", "not", "ask",
];

/// Where the expression begins that a text ends with.
pub fn start(before: &str, reach: Reach) -> usize {
    // By open bracket, where the expression within begins.
    let mut open = vec![('{', 0)];
    let mut quote = None;
    let mut last = ' ';
    let mut chars = before.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map_or(' ', |(_, next)| *next);
        let behind = at + c.len_utf8();
        let inner = open.last().map_or('{', |(bracket, _)| *bracket);
        let parts = match (quote, c) {
            (Some(_), '\\') => {
                chars.next();
                false
            }
            (Some(q), _) => {
                quote = quote.filter(|_| q != c);
                false
            }
            (None, '"' | '\'') => {
                quote = Some(c);
                false
            }
            (None, '(' | '[' | '{') => {
                open.push((c, behind));
                false
            }
            (None, ')' | ']' | '}') => {
                if open.len() > 1 {
                    open.pop();
                }
                false
            }
            (None, ',' | ':') => true,
            (None, '\n') => inner == '{',
            (None, '=') => next != '=' && !"=!<>".contains(last),
            (None, '>') => last == '-',
            (None, '&' | '|') if reach == Reach::Condition => last == c,
            (None, '?') if reach == Reach::Condition => next != '?' && last != '?',
            (None, '!') if reach == Reach::Condition => next != '=',
            _ => false,
        };
        if let (true, Some((_, start))) = (parts, open.last_mut()) {
            *start = behind;
        }
        last = c;
    }
    let mut start = open.last().map_or(0, |(_, start)| *start);
    loop {
        let rest = before.get(start..).unwrap_or("");
        let blanks = rest.len() - rest.trim_ascii_start().len();
        let word = first_word(rest.trim_ascii_start());
        let behind = start + blanks + word.len();
        let goes_on = before
            .get(behind..)
            .is_some_and(|rest| rest.starts_with(' '));
        match BEFORE.contains(&word) && goes_on {
            true => start = behind,
            false => return start + blanks,
        }
    }
}

/// Where the expression ends that a text begins with; one of `words`, which stand between blanks, ends it too.
pub fn end(rest: &str, reach: Reach, words: &[&str]) -> usize {
    let mut open = 0_usize;
    let mut quote = None;
    let mut chars = rest.char_indices();
    let mut end = rest.len();
    while let Some((at, c)) = chars.next() {
        let here = rest.get(at..).unwrap_or("");
        let is = |signs: &[&str]| signs.iter().any(|sign| here.starts_with(sign));
        let word = || {
            let mut words = words.iter();
            words.any(|word| {
                here.strip_prefix(' ')
                    .is_some_and(|here| first_word(here) == *word)
            })
        };
        match (quote, c) {
            (Some(_), '\\') => drop(chars.next()),
            (Some(q), _) if q == c => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '(' | '[' | '{') => open += 1,
            (None, ')' | ']' | '}') if open > 0 => open -= 1,
            (None, _) if open > 0 => {}
            (None, ')' | ']' | '}' | ',' | '\n') => {
                end = at;
                break;
            }
            (None, _)
                if is(&["//", "->"])
                    || reach == Reach::Condition && is(&["&&", "||", "?", ":"])
                    || word() =>
            {
                end = at;
                break;
            }
            _ => {}
        }
    }
    rest.get(..end).unwrap_or(rest).trim_ascii_end().len()
}
