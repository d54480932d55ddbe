//! Strings, and those that are left open.

use crate::diag::{Diagnostic, codes};

use super::Scan;

impl Scan<'_> {
    /// A string from its opening quote; reports one that is left open.
    pub(super) fn string(&mut self, raw: bool) {
        let start = self.at;
        let rest = self.rest();
        let quote = if rest.starts_with('"') { b'"' } else { b'\'' };
        let triple = rest.bytes().take(3).filter(|b| *b == quote).count() == 3;
        let width = if triple { 3 } else { 1 };
        let bytes = rest.as_bytes();
        let mut i = width;
        while let Some(byte) = bytes.get(i).copied() {
            if byte == b'\\' && !raw {
                // An escaped line end does not continue a string of one line.
                i += if !triple && bytes.get(i + 1) == Some(&b'\n') {
                    1
                } else {
                    2
                };
            } else if byte == b'\n' && !triple {
                break;
            } else if byte == quote
                && bytes
                    .get(i..i + width)
                    .is_some_and(|b| b.iter().all(|b| *b == quote))
            {
                self.at = start + i + width;
                // An apostrophe: `'It's late'`.
                let letter = |text: &str| text.ends_with(|c: char| c.is_alphanumeric());
                let before = self.text.get(..self.at - 1).is_some_and(letter);
                let behind = self.rest().starts_with(|c: char| c.is_alphanumeric());
                if width == 1 && before && behind {
                    self.cut = Some(self.at - 1);
                }
                return;
            } else {
                i += 1;
            }
        }
        self.open_string(start, start + i.min(bytes.len()), width);
    }

    fn open_string(&mut self, start: usize, end: usize, width: usize) {
        let quote = self.text.get(start..start + width).unwrap_or("\"");
        let found = Diagnostic::new(
            &codes::UNCLOSED,
            format!("this string is never closed by `{quote}`"),
            self.span(start, start + width),
        );
        self.at = end;
        if width == 3 {
            self.damaged = true;
            self.found.push(found);
            return;
        }
        let line_end = self.text.get(..end).unwrap_or("").trim_end().len();
        let cut = self.cut.filter(|cut| {
            let between = self.text.get(*cut..start).unwrap_or("\n");
            between.starts_with(quote) && !between.contains('\n')
        });
        if let Some(cut) = cut {
            self.cut_short(cut, (start, line_end));
            return;
        }
        self.found.push(
            found
                .label(self.span(line_end, line_end), "the line ends here")
                .help("close it on its line, or write a longer text between `\"\"\"`"),
        );
        self.reported.push(start);
        let content = self.text.get(start + 1..line_end).unwrap_or("");
        let content = without_foreign_closers(content);
        self.torn |= content.contains(['{', '(', '[', '}', ')', ']']);
        // A quote in place of its last character lets the rest of the item be read.
        let last = start + content.len();
        if content.ends_with(|c: char| c.is_ascii()) && !content.contains('\\') {
            self.replaced
                .push((last, quote.as_bytes().first().copied().unwrap_or(b'"')));
            self.at = last + 1;
        } else {
            self.damaged = true;
        }
    }

    /// Whether a `#` belongs to a text that an apostrophe has cut short: a quote that ends it follows on the line. Passes
    /// over the text then.
    pub(super) fn is_of_cut_text(&mut self) -> bool {
        let rest = self.rest();
        let Some(cut) = self.cut.filter(|_| rest.starts_with('#')) else {
            return false;
        };
        let line_end = self.at + rest.find('\n').unwrap_or(rest.len());
        let quote = self.text.get(cut..cut + 1).unwrap_or("'");
        let same_line = !self.text.get(cut..self.at).unwrap_or("\n").contains('\n');
        let line = self.text.get(self.at..line_end).unwrap_or("");
        let Some(start) = line.find(quote).filter(|_| same_line) else {
            return false;
        };
        let start = self.at + start;
        self.at = line_end;
        let line_end = self.text.get(..line_end).unwrap_or("").trim_end().len();
        self.cut_short(cut, (start, line_end));
        true
    }

    /// A text that ends at an apostrophe in it, at `cut`; the quote that was to end it begins another one, at `start`.
    fn cut_short(&mut self, cut: usize, (start, line_end): (usize, usize)) {
        let quote = self.text.get(cut..cut + 1).unwrap_or("'");
        let other = if quote == "'" { '"' } else { '\'' };
        self.found.push(
            Diagnostic::new(
                &codes::UNCLOSED,
                format!("the text ends at this `{quote}`, and another one begins at the last `{quote}`"),
                self.span(cut, cut + 1),
            )
            .label(self.span(start, start + 1), "this one is never closed")
            .help(format!(
                "write `\\{quote}` for a quote within a text, or put the text between `{other}` or `\"\"\"`"
            )),
        );
        self.reported.push(cut);
        // The text without what follows its end lets the rest of the item be read.
        let own = self.text.get(cut + 1..start).unwrap_or("{");
        let line = self.text.get(cut + 1..line_end).unwrap_or("{");
        match (!own.contains(quote) || is_even(own), is_even(line)) {
            (true, _) => {
                self.blanked.push((cut + 1, start + 1));
                self.at = start + 1;
            }
            (false, true) => self.blanked.push((cut + 1, line_end)),
            (false, false) => self.damaged = true,
        }
    }
}

/// Whether a text has as many closing brackets of each sort as opening ones.
fn is_even(text: &str) -> bool {
    let count = |sign: char| text.matches(sign).count();
    [('{', '}'), ('(', ')'), ('[', ']')]
        .into_iter()
        .all(|(opening, closing)| count(opening) == count(closing))
}

/// An open string without the closing brackets and commas at its end that close what is around it.
fn without_foreign_closers(content: &str) -> &str {
    let count = |brackets: [char; 3]| content.matches(brackets).count();
    let mut foreign = count(['}', ')', ']']).saturating_sub(count(['{', '(', '[']));
    let own = content.trim_end_matches(|c: char| {
        let closer = matches!(c, '}' | ')' | ']');
        let taken = foreign > 0 && (closer || c == ',' || c.is_ascii_whitespace());
        foreign -= usize::from(taken && closer);
        taken
    });
    own.trim_ascii_end()
}
