//! Where words stand in the sources, outside of comments.

use std::collections::BTreeMap;

use crate::base::{FileId, SourceMap, Span};

/// Names that are looked for, each with its places.
pub struct Words<'w>(BTreeMap<&'w str, Vec<Span>>);

impl<'w> Words<'w> {
    /// Those names, found nowhere yet.
    pub fn new(names: impl Iterator<Item = &'w str>) -> Self {
        Self(names.map(|name| (name, Vec::new())).collect())
    }

    /// Where a name stands.
    pub fn places(&self, name: &str) -> &[Span] {
        self.0.get(name).map_or(&[], Vec::as_slice)
    }

    /// Looks through all files, the texts and templates in them too.
    pub fn read(&mut self, sources: &SourceMap) {
        if self.0.is_empty() {
            return;
        }
        for (file, source) in sources.files() {
            let mut start = 0;
            for line in source.text.split_inclusive('\n') {
                if !line.trim_start().starts_with("//") {
                    self.piece(line, start, file);
                }
                start += line.len();
            }
        }
    }

    /// Looks through the expressions and declarations of a file, not the texts in it.
    pub fn read_code(&mut self, text: &str, file: FileId) {
        let mut at = 0;
        while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
            at += if rest.starts_with("//") {
                rest.find('\n').unwrap_or(rest.len())
            } else if rest.starts_with(['"', '\'']) {
                literal(rest)
            } else {
                let code = rest.find(['"', '\'', '/']).unwrap_or(rest.len()).max(1);
                self.piece(rest.get(..code).unwrap_or(""), at, file);
                code
            };
        }
    }

    /// Notes the words of a piece; of dotted ones the whole too, as names of events are.
    fn piece(&mut self, piece: &str, start: usize, file: FileId) {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let mut at = start;
        for long in piece.split_inclusive(|c| !(is_word(c) || c == '.')) {
            let dotted = long.trim_end_matches(|c| !is_word(c));
            if dotted.contains('.') {
                self.note(dotted, at, file);
            }
            let mut part = at;
            for word in dotted.split('.') {
                self.note(word, part, file);
                part += word.len() + 1;
            }
            at += long.len();
        }
    }

    fn note(&mut self, word: &str, at: usize, file: FileId) {
        if let Some(places) = self.0.get_mut(word) {
            places.push(Span::new(file, at, at + word.len()));
        }
    }
}

/// Length of the text literal that begins here: to the quote that closes it, else all of it.
pub fn literal(rest: &str) -> usize {
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
