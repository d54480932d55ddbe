//! The look over a text before the grammar reads it: brackets, strings and comments.
//!
//! One pass from left to right. It finds what is never closed and points at its opening, bounds
//! the depth of brackets (so that no later stage needs a deep stack), and notes comments. It takes them out
//! of the text (blanks of the same length): to look for one between any two words would cost the grammar
//! more than all else. What it reports it also takes out, so that
//! the grammar sees balanced brackets only and the rest of the file is still checked.
//!
//! Invariant: the returned text has the length of the given one, no comments, every bracket and quote in it is
//! closed, and brackets nest no deeper than [`MAX_NESTING`] (`tests/parse.rs` holds it).

mod close;
mod finish;
mod reopen;
mod string;
mod surplus;

use std::borrow::Cow;

use crate::base::foreign::expression::Index;
use crate::base::{FileId, Span};
use crate::diag::{Diagnostic, Diagnostics, codes};

use super::bracket::Brackets;
use super::comment::Comments;
use super::comment_sign::{self, Foreign};
use super::layout::{Culprit, Layout};

use reopen::Reopened;
use surplus::culprit;

/// How deep brackets may nest. The grammar takes about 12 KiB of stack a level in a debug build, so that
/// this fits the 2 MiB of a thread; pest's own check of the stack is thus left out (it costs a fifth
/// of the time).
pub const MAX_NESTING: usize = 100;

/// How many braces that close nothing are traced to where the mistake is, in one file.
const MAX_TRACED: usize = 16;

/// A text ready for the grammar.
pub struct Scanned<'a> {
    /// The text without comments and what is reported.
    pub text: Cow<'a, str>,
    /// Of what the text declares.
    pub index: Index,
    /// Where comments stand.
    pub comments: Comments<'a>,
    /// Stretches of which it isn't certain what was meant.
    pub damaged: Vec<Span>,
    /// Places that are reported: more is not to be said of the pieces around them.
    pub torn: Vec<usize>,
    /// Closing braces that are reported as too many and taken out. The grammar may find that what opens one lacks.
    pub surplus: Vec<usize>,
    /// Places around which it isn't certain what was meant.
    pub lost: Vec<usize>,
}

/// Looks over a file. What is reported is taken out, or mended where it is clear what was meant.
pub fn file<'a>(text: &'a str, id: FileId, diags: &mut Diagnostics) -> Scanned<'a> {
    let mut traced = Vec::new();
    let mut scan = Scan::new(text, id);
    scan.run();
    while let Some((item, at)) = scan.closes_nothing.filter(|_| traced.len() < MAX_TRACED) {
        let Some(culprit) = culprit(text, id, item, at, &traced) else {
            break;
        };
        traced.push((culprit, at));
        traced.sort_by_key(|(culprit, _)| culprit.at());
        scan = Scan::new(text, id);
        scan.traced = traced.clone();
        scan.run();
    }
    if scan.brackets.is_open() {
        // The end came too early: look again, taking a declaration at the start of a line for a
        // sign that what is open there was meant to be closed before.
        scan = Scan::new(text, id);
        scan.strict = true;
        scan.traced = traced;
        scan.run();
    }
    scan.finish(diags)
}

/// Looks over an expression; `None` where something was reported.
pub fn expression<'a>(text: &'a str, id: FileId, diags: &mut Diagnostics) -> Option<Scanned<'a>> {
    let mut scan = Scan::new(text, id);
    scan.run();
    let clean = !scan.brackets.is_open() && scan.found.is_empty() && scan.foreign.is_empty();
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
    comments: Comments<'a>,
    /// Comments that begin with another sign.
    foreign: Foreign,
    /// Where the last string of one line ended in which a letter follows at once: it may have been meant to go on.
    cut: Option<usize>,
    found: Vec<Diagnostic>,
    /// Start of the item that is being read.
    item: usize,
    /// Whether that item has to be taken out.
    damaged: bool,
    /// Stretches to blank.
    blanked: Vec<(usize, usize)>,
    /// Bytes to put where a string was left open, or a bracket is another one than was meant.
    replaced: Vec<(usize, u8)>,
    /// Brackets that were read as `{`.
    reopened: Vec<Reopened>,
    /// Whether an open string of the item holds brackets, whose partners are thus missing.
    torn: bool,
    /// How many `<` of types are open.
    angles: usize,
    /// What is wrong with braces, in order, each with the brace that closed nothing because of it.
    traced: Vec<(Culprit, usize)>,
    /// How many of those were come to.
    met: usize,
    /// The first brace that closes nothing, and the item that it stands behind.
    closes_nothing: Option<(usize, usize)>,
    /// The layout of lines and braces, where it is asked for.
    layout: Option<Layout>,
    /// See [`Scanned`].
    spoilt: Vec<Span>,
    /// See [`Scanned`].
    reported: Vec<usize>,
    /// See [`Scanned`].
    surplus: Vec<usize>,
    /// See [`Scanned`].
    lost: Vec<usize>,
}

impl<'a> Scan<'a> {
    fn new(text: &'a str, file: FileId) -> Self {
        Self {
            text,
            file,
            strict: false,
            at: 0,
            brackets: Brackets::default(),
            comments: Comments::default(),
            foreign: Foreign::default(),
            cut: None,
            found: Vec::new(),
            item: 0,
            damaged: false,
            blanked: Vec::new(),
            replaced: Vec::new(),
            reopened: Vec::new(),
            torn: false,
            angles: 0,
            traced: Vec::new(),
            met: 0,
            closes_nothing: None,
            layout: None,
            spoilt: Vec::new(),
            reported: Vec::new(),
            surplus: Vec::new(),
            lost: Vec::new(),
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
            if let Some((next, cause)) = self.traced.get(self.met).copied()
                && next.at() <= self.at
            {
                self.met += 1;
                if self.trace(next, cause) {
                    continue;
                }
            }
            match byte {
                b'\n' => {
                    self.brackets.new_line();
                    line_start = true;
                    self.at += 1;
                }
                b' ' | b'\t' | b'\r' => {
                    self.brackets.blank(byte);
                    self.at += 1;
                }
                b'/' if bytes.get(self.at + 1) == Some(&b'/') => self.comment(),
                b'#' | b'/' if self.foreign_comment() => {}
                _ => {
                    self.token(byte, line_start);
                    self.brackets.content(byte);
                    line_start = false;
                }
            }
        }
    }

    fn token(&mut self, byte: u8, line_start: bool) {
        if let Some(layout) = &mut self.layout {
            let (indent, first) = self.brackets.indent();
            layout.token(self.at, indent, first);
        }
        match byte {
            b'"' | b'\'' => self.string(false),
            b'{' | b'(' | b'[' => self.open(byte),
            b'}' | b')' | b']' => self.close(byte),
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => self.word(line_start),
            _ => self.other(byte),
        }
        if let Some(layout) = &mut self.layout {
            layout.end(self.at);
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
            // `model`, `retry` and `prompt` are words of graphs and nodes, too.
            let is_item =
                !matches!(word, "model" | "retry" | "prompt") || is_declaration(rest, length);
            if self.brackets.is_empty() && is_item {
                self.end_item();
            } else if self.brackets.is_open()
                && self.strict
                && self.brackets.first_column()
                && is_declaration(rest, length)
            {
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
        if self.divides() {
            return;
        }
        let length = self.rest().find('\n').unwrap_or(self.rest().len());
        let start = self.at;
        self.at += length;
        self.comments.add(self.text, start, self.at);
    }

    /// A `//` that is no comment but meant to divide.
    fn divides(&mut self) -> bool {
        let before = self.text.get(..self.at).unwrap_or("");
        let line = before.rfind('\n').map_or(0, |at| at + 1);
        let line = before.get(line..).unwrap_or("").trim_end_matches(' ');
        let divides = comment_sign::divides(line, self.rest());
        if divides {
            let sign = self.span(self.at, self.at + 2);
            let found = Diagnostic::new(&codes::SYNTAX_ERROR, "`//` begins a comment", sign);
            let help = "write `/`, which cuts the quotient of two `int` off";
            self.found.push(found.help(help).fix(sign, "/"));
            self.blanked.push((self.at + 1, self.at + 2));
            self.at += 2;
        }
        divides
    }

    /// Passes over a comment that begins as in other languages.
    fn foreign_comment(&mut self) -> bool {
        if self.is_of_cut_text() {
            return true;
        }
        let Some(end) = self.foreign.take(self.text, self.at) else {
            return false;
        };
        self.comments.add(self.text, self.at, end);
        self.at = end;
        true
    }

    /// The item before this place is over.
    fn end_item(&mut self) {
        if self.damaged {
            self.blanked.push((self.item, self.at));
            self.spoilt.push(self.span(self.item, self.at));
        }
        self.damaged = false;
        self.torn = false;
        self.item = self.at;
    }
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
