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

use std::borrow::Cow;

use crate::base::{FileId, Span};
use crate::diag::{Diagnostic, Diagnostics, Edit, codes};

use super::bracket::{self, Brackets, Meant};
use super::comment::Comments;
use super::comment_sign::Foreign;
use super::layout::{Culprit, Layout};
use super::opening::{ends_head, wants_brace};

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

/// What is wrong with the braces of an item in which the one at `at` closes nothing.
fn culprit(
    text: &str,
    id: FileId,
    item: usize,
    at: usize,
    traced: &[(Culprit, usize)],
) -> Option<Culprit> {
    let line = text.get(..item)?.rfind('\n').map_or(0, |at| at + 1);
    let mut scan = Scan::new(text.get(..=at)?, id);
    scan.at = line;
    scan.traced = traced.to_vec();
    scan.layout = Some(Layout::default());
    scan.run();
    let found = scan.layout?.culprit(text)?;
    let again = traced.iter().any(|(other, _)| other.at() == found.at());
    (!again).then_some(found)
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
    /// Brackets that were read as `{`, each with the place of its finding.
    reopened: Vec<(usize, usize)>,
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

    /// Comes to a place where a brace is one too many or lacks; says whether that was a brace.
    fn trace(&mut self, culprit: Culprit, cause: usize) -> bool {
        match culprit {
            Culprit::Surplus(at) if at == self.at => {
                self.found.push(self.too_many(at, cause));
                self.blanked.push((at, at + 1));
                self.surplus.push(at);
                let line = self.text.get(..at).unwrap_or("");
                let line = line.rfind('\n').map_or(0, |at| at + 1);
                self.spoilt.push(self.span(line, at + 1));
                self.lost.push(at);
                self.brackets.content(b'}');
                self.at += 1;
                true
            }
            Culprit::Lacking { start, end } if end == self.at => {
                let head = self.text.get(start..end).unwrap_or("");
                let last = end - head.rsplit(' ').next().map_or(0, str::len);
                let found = Diagnostic::new(
                    &codes::SYNTAX_ERROR,
                    format!("expected `{{` behind `{head}`"),
                    self.span(last, end),
                );
                self.found.push(
                    found
                        .label(self.span(cause, cause + 1), "so this closes nothing")
                        .fix(self.span(end, end), " {"),
                );
                let behind = self.text.get(end..).unwrap_or("").as_bytes();
                let blank = |at: usize| matches!(behind.get(at), Some(b' ' | b'\t' | b'\r'));
                match (0..2).find(|at| blank(*at)) {
                    Some(at) => self.replaced.push((end + at, b'{')),
                    None => self.damaged = true,
                }
                self.open_brace(end);
                false
            }
            _ => false,
        }
    }

    fn too_many(&self, at: usize, cause: usize) -> Diagnostic {
        let here = self.span(at, at + 1);
        let shown = self.text.get(at..at + 1).unwrap_or("}");
        if at == cause {
            return Diagnostic::new(&codes::UNCLOSED, format!("`{shown}` closes nothing"), here)
                .help("remove it, or write what it should close");
        }
        Diagnostic::new(
            &codes::UNCLOSED,
            format!("this `{shown}` is one too many"),
            here,
        )
        .label(self.span(cause, cause + 1), "so this one closes nothing")
        .help("remove it, or write what it should close")
    }

    fn open_brace(&mut self, at: usize) {
        self.brackets.open(b'{', at);
        if let Some(layout) = &mut self.layout {
            layout.bracket(at, b'{', true);
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
        let length = self.rest().find('\n').unwrap_or(self.rest().len());
        let start = self.at;
        self.at += length;
        self.comments.add(self.text, start, self.at);
    }

    /// Passes over a comment that begins as in other languages.
    fn foreign_comment(&mut self) -> bool {
        let Some(end) = self.foreign.take(self.text, self.at) else {
            return false;
        };
        self.comments.add(self.text, self.at, end);
        self.at = end;
        true
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
        let between = self.text.get(cut + 1..line_end).unwrap_or("");
        let count = |sign: char| between.matches(sign).count();
        match count('{') == count('}') && count('(') == count(')') && count('[') == count(']') {
            // The text without what follows its end lets the rest of the item be read.
            true => self.blanked.push((cut + 1, line_end)),
            false => self.damaged = true,
        }
    }

    fn open(&mut self, byte: u8) {
        self.angles = 0;
        let byte = match byte != b'{' && self.opens_wrong() {
            true => b'{',
            false => byte,
        };
        self.brackets.open(byte, self.at);
        if let Some(layout) = &mut self.layout {
            layout.bracket(self.at, byte, true);
        }
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
        if byte != b'}' && self.closes_reopened() {
            self.at += 1;
            return;
        }
        let here = self.span(self.at, self.at + 1);
        let meant = match self.brackets.expects(byte) || self.opened_wrong(byte) {
            true => Meant::Itself,
            false => {
                let rest = self.text.get(self.at + 1..).unwrap_or("");
                self.brackets.meant(byte, &bracket::closers(rest))
            }
        };
        match meant {
            Meant::Instead(other) => {
                let opening = self.brackets.innermost().unwrap_or(self.at);
                let opened = bracket::opening(other) as char;
                let message = format!("`{opened}` is closed by `{}`", byte as char);
                if !self.torn {
                    self.found.push(
                        Diagnostic::new(&codes::UNCLOSED, message, here)
                            .label(self.span(opening, opening + 1), "opened here")
                            .help(format!("write `{}`", other as char)),
                    );
                }
                self.replaced.push((self.at, other));
                self.reported.push(self.at);
                // Either of the two may be the wrong one; what stands before them goes on with them.
                let between = self.text.get(opening..self.at).unwrap_or("");
                if !between.contains('\n') {
                    self.uncertain(opening.saturating_sub(1), self.at + 1);
                }
                self.closed(other);
            }
            Meant::Nothing => self.nothing(byte, false),
            Meant::Itself => self.closed(byte),
        }
        self.at += 1;
    }

    /// Whether a bracket stands where only a `{` can, `node a: update (`, which is then reported.
    fn opens_wrong(&mut self) -> bool {
        let before = self.text.get(..self.at).unwrap_or("");
        let code = before.trim_end_matches([' ', '\t']);
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ']';
        if code.len() == before.len() || !code.ends_with(word) {
            return false;
        }
        let line = code.rfind('\n').map_or(0, |at| at + 1);
        let head = code.get(line..).unwrap_or("").trim_ascii();
        let wrong = ends_head(head);
        if wrong {
            self.wrong_opening(self.at, head);
        }
        wrong
    }

    /// Reports a bracket that opens what a `{` was to open.
    fn wrong_opening(&mut self, at: usize, head: &str) {
        let opened = self.text.get(at..at + 1).unwrap_or("(");
        // Of a line with several blocks, the last one.
        let head = head.rsplit('{').next().unwrap_or(head).trim_ascii();
        let here = self.span(at, at + 1);
        let message = format!("expected `{{` behind `{head}`, found `{opened}`");
        let found = Diagnostic::new(&codes::SYNTAX_ERROR, message, here).fix(here, "{");
        self.replaced.push((at, b'{'));
        self.reopened.push((at, self.found.len()));
        // What lies in a text that is left open is no bracket.
        if !self.torn {
            self.found.push(found);
        }
    }

    /// Closes a block that another bracket opened by that one's own closing bracket; says whether there is such a block.
    fn closes_reopened(&mut self) -> bool {
        let last = self.reopened.last().copied();
        let Some((_, found)) = last.filter(|(at, _)| self.brackets.innermost() == Some(*at)) else {
            return false;
        };
        let here = self.span(self.at, self.at + 1);
        if let Some(found) = self.found.get_mut(found) {
            found.fix.push(Edit {
                span: here,
                text: "}".to_owned(),
            });
        }
        self.replaced.push((self.at, b'}'));
        self.closed(b'}');
        true
    }

    /// Whether a brace closes what was meant to be one, `node a: update ( .. }`, which is then reported.
    fn opened_wrong(&mut self, byte: u8) -> bool {
        let Some(at) = self.brackets.opened_for().filter(|_| byte == b'}') else {
            return false;
        };
        let before = self.text.get(..at).unwrap_or("");
        let line = before.rfind('\n').map_or(0, |at| at + 1);
        let head = before.get(line..).unwrap_or("").trim_ascii();
        let behind = self.text.get(at + 1..self.at).unwrap_or("");
        if !wants_brace(head, behind) {
            return false;
        }
        self.wrong_opening(at, head);
        self.brackets.reopen(b'{');
        if let Some(layout) = &mut self.layout {
            layout.reopen(at, b'{');
        }
        true
    }

    /// A closing bracket, as it is or as it was meant.
    fn closed(&mut self, byte: u8) {
        match self.brackets.close(byte) {
            Ok(skipped) => {
                if !skipped.is_empty() {
                    self.forgotten(&skipped, byte);
                }
                if let Some(layout) = &mut self.layout {
                    layout.bracket(self.at, byte, false);
                }
            }
            Err(()) => self.nothing(byte, true),
        }
    }

    /// A bracket that closes nothing, because of what is opened or closed before it where `owed`.
    fn nothing(&mut self, byte: u8, owed: bool) {
        if owed {
            if let Some(layout) = &mut self.layout {
                layout.bracket(self.at, byte, false);
            }
            self.closes_nothing.get_or_insert((self.item, self.at));
        }
        let message = format!("`{}` closes nothing", byte as char);
        let here = self.span(self.at, self.at + 1);
        if !self.torn {
            self.found.push(
                Diagnostic::new(&codes::UNCLOSED, message, here)
                    .help("remove it, or write what it should close"),
            );
        }
        self.blanked.push((self.at, self.at + 1));
        match byte {
            // The grammar may find what it was to close.
            b']' => self.surplus.push(self.at),
            _ => self.reported.push(self.at),
        }
        self.uncertain(self.at, self.at + 1);
    }

    /// It isn't certain what was meant on the line of `from`, up to `to`.
    fn uncertain(&mut self, from: usize, to: usize) {
        let line = self.text.get(..from).unwrap_or("");
        let line = line.rfind('\n').map_or(0, |at| at + 1);
        self.spoilt.push(self.span(line, to));
        self.lost.push(from);
    }

    /// Brackets, the outermost first, that are still open where `byte` closes what is around them.
    fn forgotten(&mut self, skipped: &[(u8, usize)], byte: u8) {
        let (Some((_, outermost)), Some((opening, at))) = (skipped.first(), skipped.last()) else {
            return;
        };
        let here = self.span(self.at, self.at + 1);
        let suspect = self.brackets.suspect_from(*outermost);
        let (opening, at) = suspect
            .as_ref()
            .map_or((opening, at), |(opening, at)| (opening, at));
        let shown = *opening as char;
        // What is open inside is reported once, at the innermost.
        let found = Diagnostic::new(
            &codes::UNCLOSED,
            format!("`{shown}` is never closed"),
            self.span(*at, at + 1),
        )
        .label(here, format!("`{}` closes what is around it", byte as char))
        .help(format!(
            "write `{}` where it ends",
            bracket::closing(*opening) as char
        ));
        if !self.torn {
            self.found.push(found);
        }
        self.reported.push(*outermost);
        self.uncertain(*outermost, self.at);
        let closers = skipped
            .iter()
            .rev()
            .map(|(opening, _)| bracket::closing(*opening));
        let closers: Vec<u8> = closers.collect();
        match recover_end(self.text, (*at, self.at), closers.len()) {
            Some(from) => self.replaced.extend(
                closers
                    .into_iter()
                    .enumerate()
                    .map(|(i, byte)| (from + i, byte)),
            ),
            None => self.blanked.push((*outermost, self.at)),
        }
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
                bracket::closing(opening) as char
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
            self.spoilt.push(self.span(self.item, self.at));
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
        let foreign = self.foreign.findings(self.text, self.file);
        for found in self.found.into_iter().chain(foreign) {
            diags.push(found);
        }
        let mended = !(self.blanked.is_empty() && self.replaced.is_empty());
        self.blanked.extend(self.comments.places());
        let mut text = match mended || !self.blanked.is_empty() {
            false => Cow::Borrowed(self.text),
            true => Cow::Owned(mended_text(self.text, &self.blanked, &self.replaced)),
        };
        if mended && !is_balanced(&text, self.file) {
            // A bracket was put into a text in quotes: nothing is certain any more.
            let all = [(0, self.text.len())];
            text = Cow::Owned(mended_text(self.text, &all, &[]));
            self.spoilt.push(Span::new(self.file, 0, self.text.len()));
        }
        for places in [&mut self.reported, &mut self.surplus, &mut self.lost] {
            places.sort_unstable();
        }
        Scanned {
            text,
            lost: self.lost,
            comments: self.comments,
            damaged: self.spoilt,
            torn: self.reported,
            surplus: self.surplus,
        }
    }
}

/// Whether all brackets and quotes of a text are closed.
fn is_balanced(text: &str, file: FileId) -> bool {
    let mut scan = Scan::new(text, file);
    scan.run();
    scan.found.is_empty() && !scan.brackets.is_open()
}

/// Where the closing brackets can be put, `count` of them, that lack between the last opening one and the closing one
/// around it: before the next line that begins with a word of the language, or else before that closing one. There must be
/// blanks to put them over.
fn recover_end(text: &str, (opening, closer): (usize, usize), count: usize) -> Option<usize> {
    let between = text.get(opening..closer)?;
    let mut lines = between.match_indices('\n').map(|(at, _)| opening + at + 1);
    let next = lines.find(|line| {
        let code = text.get(*line..closer).unwrap_or("");
        begins_line(code.trim_ascii_start())
    });
    let (end, blanks) = match next {
        Some(line) => {
            let code = text.get(line..closer)?;
            (
                line + count,
                code.len() - code.trim_start_matches(' ').len(),
            )
        }
        None => {
            let code = between.trim_end_matches(' ');
            (closer, between.len() - code.len())
        }
    };
    (blanks >= count).then(|| end - count)
}

/// Whether a line begins with a word of the language, or as an edge or a field does.
fn begins_line(code: &str) -> bool {
    let word = super::mistake::first_word(code);
    let after = code.get(word.len()..).unwrap_or("").trim_ascii_start();
    let lists = [
        super::keyword::ITEMS,
        super::keyword::MEMBERS,
        super::keyword::PROPERTIES,
        super::keyword::TOOL_LINES,
        &["when", "else"],
    ];
    !word.is_empty()
        && !after.starts_with([',', '.', '(', ')', ']', '}'])
        && (after.starts_with("->")
            || after.starts_with(':')
            || lists.iter().any(|words| words.contains(&word)))
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

/// The text with stretches blanked and replaced put in; line ends stay.
fn mended_text(text: &str, blanked: &[(usize, usize)], replaced: &[(usize, u8)]) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for (at, byte) in replaced {
        if let Some(old) = bytes.get_mut(*at) {
            *old = *byte;
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
