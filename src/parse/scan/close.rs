//! Brackets: what each closes, and what is never closed.

use crate::diag::{Diagnostic, codes};

use super::super::bracket::{self, Meant};
use super::super::{keyword, mistake};
use super::{MAX_NESTING, Scan};

impl Scan<'_> {
    pub(super) fn open(&mut self, byte: u8) {
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

    pub(super) fn too_deep(&mut self, at: usize) {
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

    pub(super) fn close(&mut self, byte: u8) {
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

    /// A closing bracket, as it is or as it was meant.
    pub(super) fn closed(&mut self, byte: u8) {
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
        let suspect = self.brackets.suspect_from(*outermost);
        let (opening, at) = suspect
            .as_ref()
            .map_or((opening, at), |(opening, at)| (opening, at));
        // What is open inside is reported once, at the innermost.
        let why = format!("`{}` closes what is around it", byte as char);
        let found = self.never_closed(*opening, *at, self.at, &why);
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

    /// A bracket that is never closed, which shows at `end`.
    fn never_closed(&self, opening: u8, at: usize, end: usize, why: &str) -> Diagnostic {
        let closing = bracket::closing(opening) as char;
        Diagnostic::new(
            &codes::UNCLOSED,
            format!("`{}` is never closed", opening as char),
            self.span(at, at + 1),
        )
        .label(self.span(end, end + usize::from(why.starts_with('`'))), why)
        .help(format!("write `{closing}` where it ends"))
    }

    /// Reports what is open at `at`, where the text must have closed it.
    pub(super) fn unclosed_before(&mut self, at: usize, why: &str) {
        if let Some((opening, open_at)) = self.brackets.give_up() {
            let found = self.never_closed(opening, open_at, at, why);
            if !self.damaged && !self.torn {
                self.found.push(found);
            }
            self.damaged = true;
        }
    }
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
    let word = mistake::first_word(code);
    let after = code.get(word.len()..).unwrap_or("").trim_ascii_start();
    !word.is_empty()
        && !after.starts_with([',', '.', '(', ')', ']', '}'])
        && (after.starts_with("->") || after.starts_with(':') || keyword::begins_line(word))
}
