//! The look over a text before the grammar reads it: brackets, strings and comments.
//!
//! One pass from left to right. It finds what is never closed and points at its opening, bounds
//! the depth of brackets (so that no later stage needs a deep stack), and notes comments, which the
//! grammar skips. What it reports it also takes out of the text (blanks of the same length), so that
//! the grammar sees balanced brackets only and the rest of the file is still checked.
//!
//! Invariant: the returned text has the length of the given one, every bracket and quote in it is
//! closed, and brackets nest no deeper than [`MAX_NESTING`] (`tests/parse.rs` holds it).

use std::borrow::Cow;

use crate::base::{FileId, Span};
use crate::diag::{Diagnostic, Diagnostics, codes};

use super::bracket::Brackets;
use super::comment::Comments;

/// How deep brackets may nest. The grammar takes about 12 KiB of stack a level in a debug build, so that
/// this fits the 2 MiB of a thread; pest's own check of the stack is thus left out (it costs a fifth
/// of the time).
pub const MAX_NESTING: usize = 100;

/// A text ready for the grammar.
pub struct Scanned<'a> {
    /// The text without what is reported.
    pub text: Cow<'a, str>,
    /// Where comments stand.
    pub comments: Comments,
}

/// Looks over a file. What is reported is taken out item by item.
pub fn file<'a>(text: &'a str, id: FileId, diags: &mut Diagnostics) -> Scanned<'a> {
    let mut scan = Scan::new(text, id, false);
    scan.run();
    if scan.brackets.is_open() {
        // The end came too early: look again, taking a declaration at the start of a line for a
        // sign that what is open there was meant to be closed before.
        scan = Scan::new(text, id, true);
        scan.run();
    }
    scan.finish(diags)
}

/// Looks over an expression; `None` where something was reported.
pub fn expression<'a>(text: &'a str, id: FileId, diags: &mut Diagnostics) -> Option<Scanned<'a>> {
    let mut scan = Scan::new(text, id, false);
    scan.run();
    let clean = !scan.brackets.is_open() && scan.found.is_empty();
    let scanned = scan.finish(diags);
    clean.then_some(scanned)
}

/// The state of one pass.
struct Scan<'a> {
    text: &'a str,
    file: FileId,
    /// Whether a declaration at the start of a line closes what is open.
    strict: bool,
    at: usize,
    brackets: Brackets,
    comments: Comments,
    found: Vec<Diagnostic>,
    /// Start of the item that is being read.
    item: usize,
    /// Whether that item has to be taken out.
    damaged: bool,
    /// Stretches to blank.
    blanked: Vec<(usize, usize)>,
    /// Quotes to put where a string was left open.
    quotes: Vec<(usize, u8)>,
    /// Whether an open string of the item holds brackets, whose partners are thus missing.
    torn: bool,
    /// How many `<` of types are open.
    angles: usize,
}

impl<'a> Scan<'a> {
    fn new(text: &'a str, file: FileId, strict: bool) -> Self {
        Self {
            text,
            file,
            strict,
            at: 0,
            brackets: Brackets::default(),
            comments: Comments::default(),
            found: Vec::new(),
            item: 0,
            damaged: false,
            blanked: Vec::new(),
            quotes: Vec::new(),
            torn: false,
            angles: 0,
        }
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.file, start, end)
    }

    fn run(&mut self) {
        let bytes = self.text.as_bytes();
        let mut line_start = true;
        while let Some(byte) = bytes.get(self.at).copied() {
            match byte {
                b'\n' => {
                    self.brackets.new_line();
                    line_start = true;
                    self.at += 1;
                    continue;
                }
                b' ' | b'\t' | b'\r' => {
                    self.brackets.blank(byte);
                    self.at += 1;
                    continue;
                }
                b'/' if bytes.get(self.at + 1) == Some(&b'/') => self.comment(),
                b'"' | b'\'' => self.string(false),
                b'{' | b'(' | b'[' => self.open(byte),
                b'}' | b')' | b']' => self.close(byte),
                b'a'..=b'z' | b'A'..=b'Z' | b'_' => self.word(line_start),
                _ => self.other(byte),
            }
            self.brackets.content();
            line_start = false;
        }
    }

    /// A word: the start of an item, the prefix of a string, or any other.
    fn word(&mut self, line_start: bool) {
        let rest = self.rest();
        let length = rest
            .bytes()
            .take_while(|b| b.is_ascii_alphanumeric() || *b == b'_')
            .count();
        let word = rest.get(..length).unwrap_or("");
        if line_start && super::keyword::ITEMS.contains(&word) {
            if self.brackets.is_empty() {
                self.end_item();
            } else if self.strict && self.brackets.first_column() && is_declaration(rest, length) {
                self.unclosed_before(self.at, "the next item begins here");
                self.end_item();
            }
        }
        self.at += length;
        let quote_follows = rest
            .get(length..)
            .is_some_and(|r| r.starts_with(['"', '\'']));
        let prefix = word.len() <= 2 && word.bytes().all(|b| matches!(b | 0x20, b'r' | b'b'));
        if quote_follows && prefix {
            self.string(word.bytes().any(|b| b | 0x20 == b'r'));
        }
    }

    fn other(&mut self, byte: u8) {
        match byte {
            b'<' => {
                self.angles += 1;
                if self.angles > MAX_NESTING {
                    self.too_deep(self.at);
                    self.angles = 0;
                }
            }
            b'>' => self.angles = self.angles.saturating_sub(1),
            b'?' | b'|' => {}
            _ => self.angles = 0,
        }
        self.at += 1;
    }

    fn comment(&mut self) {
        let length = self.rest().find('\n').unwrap_or(self.rest().len());
        let start = self.at;
        self.at += length;
        self.comments.add(self.text, start, self.at);
    }

    /// A string from its opening quote; reports one that is left open.
    fn string(&mut self, raw: bool) {
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
        self.found.push(
            found
                .label(self.span(line_end, line_end), "the line ends here")
                .help("close it on its line, or write a longer text between `\"\"\"`"),
        );
        let content = self.text.get(start + 1..line_end).unwrap_or("");
        let content = without_foreign_closers(content);
        self.torn |= content.contains(['{', '(', '[', '}', ')', ']']);
        // A quote in place of its last character lets the rest of the item be read.
        let last = start + content.len();
        if content.ends_with(|c: char| c.is_ascii()) && !content.contains('\\') {
            self.quotes
                .push((last, quote.as_bytes().first().copied().unwrap_or(b'"')));
            self.at = last + 1;
        } else {
            self.damaged = true;
        }
    }

    fn open(&mut self, byte: u8) {
        self.angles = 0;
        self.brackets.open(byte, self.at);
        if self.brackets.depth() == MAX_NESTING + 1 {
            self.too_deep(self.at);
        }
        self.at += 1;
    }

    fn too_deep(&mut self, at: usize) {
        if !self.damaged {
            let found = Diagnostic::new(
                &codes::LIMIT_EXCEEDED,
                format!("this is nested more than {MAX_NESTING} levels deep"),
                self.span(at, at + 1),
            )
            .help("name an inner part by `let`, or give it a type or a tool of its own");
            self.found.push(found);
        }
        self.damaged = true;
    }

    fn close(&mut self, byte: u8) {
        self.angles = 0;
        let here = self.span(self.at, self.at + 1);
        match self.brackets.close(byte) {
            Ok(skipped) => {
                // What was open inside is reported once, at the innermost.
                if let Some((opening, at)) = skipped {
                    let opening = opening as char;
                    let found = Diagnostic::new(
                        &codes::UNCLOSED,
                        format!("`{opening}` is never closed"),
                        self.span(at, at + 1),
                    )
                    .label(here, format!("`{}` closes what is around it", byte as char))
                    .help(format!("write `{}` where it ends", closing(opening)));
                    if !self.torn {
                        self.found.push(found);
                    }
                    self.damaged = true;
                }
            }
            Err(()) if self.headless() => self.damaged = true,
            Err(()) => {
                let byte = byte as char;
                let message = format!("`{byte}` closes nothing");
                self.found.push(
                    Diagnostic::new(&codes::UNCLOSED, message, here)
                        .help("remove it, or write what it should close"),
                );
                self.blanked.push((self.at, self.at + 1));
            }
        }
        self.at += 1;
    }

    /// Whether this closes a graph whose `{` is missing, which is reported.
    fn headless(&mut self) -> bool {
        let item = self.text.get(self.item..self.at).unwrap_or("");
        let head = item.lines().next().unwrap_or("").trim_ascii_end();
        if !head.starts_with("graph ") || head.contains(['{', '=']) || self.damaged {
            return false;
        }
        let end = self.item + head.len();
        let start = end - head.rsplit(' ').next().map_or(0, str::len);
        let message = format!("expected `{{` behind `{head}`");
        let found = Diagnostic::new(&codes::SYNTAX_ERROR, message, self.span(start, end))
            .label(self.span(self.at, self.at + 1), "what this should close")
            .fix(self.span(end, end), " {");
        self.found.push(found);
        true
    }

    /// Reports what is open at `at`, where the text must have closed it.
    fn unclosed_before(&mut self, at: usize, why: &str) {
        if let Some((opening, open_at)) = self.brackets.give_up() {
            let found = Diagnostic::new(
                &codes::UNCLOSED,
                format!("`{}` is never closed", opening as char),
                self.span(open_at, open_at + 1),
            )
            .label(self.span(at, at), why)
            .help(format!(
                "write `{}` where it ends",
                closing(opening as char)
            ));
            if !self.damaged && !self.torn {
                self.found.push(found);
            }
            self.damaged = true;
        }
    }

    /// The item before this place is over.
    fn end_item(&mut self) {
        if self.damaged {
            self.blanked.push((self.item, self.at));
        }
        self.damaged = false;
        self.torn = false;
        self.item = self.at;
    }

    fn finish(mut self, diags: &mut Diagnostics) -> Scanned<'a> {
        let end = self.text.trim_ascii_end().len();
        self.unclosed_before(end, "the text ends here");
        self.at = self.text.len();
        self.end_item();
        for found in self.found {
            diags.push(found);
        }
        let text = match self.blanked.is_empty() && self.quotes.is_empty() {
            true => Cow::Borrowed(self.text),
            false => Cow::Owned(mended(self.text, &self.blanked, &self.quotes)),
        };
        Scanned {
            text,
            comments: self.comments,
        }
    }
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

/// Whether a word at the start of a line, an item's keyword, begins an item indeed: `model x = ..`
/// does, `model x` is a property.
fn is_declaration(rest: &str, keyword: usize) -> bool {
    let Some(rest) = rest.get(keyword..) else {
        return false;
    };
    let name = rest.trim_start_matches([' ', '\t']);
    if name.len() == rest.len() {
        return false;
    }
    let after =
        name.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.');
    let next = after.trim_start_matches([' ', '\t']);
    next.starts_with(['{', '(', '=']) || next.starts_with("leaves")
}

/// The text with stretches blanked and quotes put in; line ends stay.
fn mended(text: &str, blanked: &[(usize, usize)], quotes: &[(usize, u8)]) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for (at, quote) in quotes {
        if let Some(byte) = bytes.get_mut(*at) {
            *byte = *quote;
        }
    }
    for (start, end) in blanked {
        for byte in bytes.get_mut(*start..*end).unwrap_or_default() {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
    }
    // Whole characters were replaced by ASCII, so this is UTF-8 still.
    String::from_utf8(bytes).unwrap_or_default()
}

/// The bracket that closes one.
fn closing(opening: char) -> char {
    match opening {
        '(' => ')',
        '[' => ']',
        '<' => '>',
        _ => '}',
    }
}
