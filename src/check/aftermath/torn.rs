//! Items whose brackets don't fit together: behind the first error nothing in them is read as it was meant.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::{FileId, SourceMap, Span};
use crate::diag::{Code, Diagnostic, Diagnostics, codes};

use super::{TEXT, is};

/// Words that an item begins with, at the beginning of a line.
const ITEMS: [&str; 13] = [
    "import", "type", "enum", "reducer", "event", "model", "tool", "toolset", "retry", "prompt",
    "graph", "function", "test",
];

/// What is said of things that lack something.
static LACKING: &[&Code] = &[
    &codes::MISSING_PROPERTY,
    &codes::MISSING_ENDS,
    &codes::NO_WAY_ON,
    &codes::NO_ENTRY,
    &codes::UNREACHABLE_NODE,
];

/// An item whose brackets don't fit together.
struct Torn {
    whole: Span,
    /// Its first error.
    error: Span,
    /// Where the line of that begins.
    line: u32,
    /// Whether it is a graph: what stands before the error in it is sound for the most part.
    graph: bool,
}

impl Torn {
    /// Whether a finding in it is no mistake of its own.
    fn explains(&self, found: &Diagnostic) -> bool {
        match is(found, TEXT) {
            true => found.span().start > self.error.start,
            false => !self.graph || is(found, LACKING) || found.span().start >= self.line,
        }
    }
}

/// Takes out what is found behind the first error of an item that closes more than it opens, or whose quotes don't pair; and what it
/// seems to lack.
pub fn behind_the_first(sources: &SourceMap, diags: &mut Diagnostics) {
    let errors = diags.iter().filter(|found| is(found, TEXT));
    let mut errors: Vec<Span> = errors.map(Diagnostic::span).collect();
    errors.sort();
    let files: BTreeSet<FileId> = errors.iter().map(|error| error.file).collect();
    let mut torn: BTreeMap<FileId, Vec<Torn>> = BTreeMap::new();
    for (id, file) in sources.files().filter(|(id, _)| files.contains(id)) {
        for piece in uneven(&file.text, id) {
            let first = errors.partition_point(|error| *error < piece);
            if let Some(error) = errors.get(first).filter(|error| piece.holds(**error)) {
                let before = file.text.get(..error.start as usize).unwrap_or("");
                torn.entry(id).or_default().push(Torn {
                    whole: piece,
                    error: *error,
                    line: before.rfind('\n').map_or(0, |at| at + 1) as u32,
                    graph: sources.text(piece).starts_with("graph"),
                });
            }
        }
    }
    diags.retain(|found| {
        let at = found.span();
        let pieces = torn.get(&at.file).map_or(&[][..], Vec::as_slice);
        let after = pieces.partition_point(|piece| piece.whole.start <= at.start);
        let piece = after.checked_sub(1).and_then(|piece| pieces.get(piece));
        let piece = piece.filter(|piece| at.start < piece.whole.end);
        !piece.is_some_and(|piece| piece.explains(found))
    });
}

/// Pieces between the lines that begin an item, where more is closed than opened or a text does not end in its line.
fn uneven(text: &str, file: FileId) -> Vec<Span> {
    let mut found = Vec::new();
    let mut piece = Piece::default();
    let mut start = 0;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let word = line.split(|c: char| !c.is_ascii_alphabetic()).next();
        if piece.block.is_none() && word.is_some_and(|word| ITEMS.contains(&word)) {
            if piece.uneven {
                found.push(Span::new(file, start, at));
            }
            start = at;
            piece = Piece::default();
        }
        piece.line(line);
        at += line.len();
    }
    if piece.uneven {
        found.push(Span::new(file, start, text.len()));
    }
    found
}

/// What is open in a piece.
#[derive(Default)]
struct Piece {
    depth: usize,
    /// The quotes that a text of several lines ends with.
    block: Option<&'static str>,
    uneven: bool,
}

impl Piece {
    fn line(&mut self, line: &str) {
        let mut rest = line;
        let mut quote: Option<char> = None;
        while let Some(c) = rest.chars().next() {
            if let Some(end) = self.block {
                let Some((_, after)) = rest.split_once(end) else {
                    return;
                };
                self.block = None;
                rest = after;
                continue;
            }
            let block = ["\"\"\"", "'''"].into_iter().find(|q| rest.starts_with(q));
            let mut length = c.len_utf8();
            match (quote, c) {
                (Some(_), '\\') => length = rest.chars().take(2).map(char::len_utf8).sum(),
                (Some(open), _) if open == c => quote = None,
                (Some(_), _) => {}
                (None, _) if rest.starts_with("//") => break,
                (None, '"' | '\'') => match block {
                    Some(quotes) => {
                        self.block = Some(quotes);
                        length = quotes.len();
                    }
                    None => quote = Some(c),
                },
                (None, '(' | '[' | '{') => self.depth += 1,
                (None, ')' | ']' | '}') => {
                    self.uneven |= self.depth == 0;
                    self.depth = self.depth.saturating_sub(1);
                }
                (None, _) => {}
            }
            rest = rest.get(length..).unwrap_or("");
        }
        self.uneven |= quote.is_some();
    }
}
