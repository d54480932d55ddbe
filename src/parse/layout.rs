//! Which brace is one too many, or lacks: what the layout of the lines says.
//!
//! Brackets alone show a surplus brace where everything is closed, often many lines behind the slip. How far lines are set in
//! shows where the writer thought to be: a block that is closed while the next line still stands inside of it was closed too
//! early, and a `}` that stands under a head without a `{` misses that one.

use super::keyword;

/// A line with code on it.
pub struct Line {
    /// Where its code begins.
    pub start: usize,
    /// Where its code ends, without comments and blanks.
    pub end: usize,
    /// Blanks before its code.
    indent: usize,
}

/// A bracket.
struct Brace {
    at: usize,
    /// Its line: an index.
    line: usize,
    /// Whether its line begins with it.
    first: bool,
    /// For one that closes, the brace that it closes: an index.
    closes: Option<usize>,
    /// Of which kind it is.
    kind: usize,
}

/// The lines and braces of an item up to where a `}` closes nothing.
#[derive(Default)]
pub struct Layout {
    lines: Vec<Line>,
    braces: Vec<Brace>,
    /// Which are open of each kind.
    open: [Vec<usize>; 3],
}

/// The kind of a bracket, opening or closing.
fn kind(bracket: u8) -> usize {
    match bracket {
        b'{' | b'}' => 0,
        b'(' | b')' => 1,
        _ => 2,
    }
}

/// What is wrong with the braces of an item.
#[derive(Debug, Clone, Copy)]
pub enum Culprit {
    /// This `}` is one too many.
    Surplus(usize),
    /// A `{` lacks behind the line with this code.
    Lacking {
        /// Where the code begins.
        start: usize,
        /// Where it ends.
        end: usize,
    },
}

impl Culprit {
    /// The place that it is found at.
    pub fn at(self) -> usize {
        match self {
            Self::Surplus(at) => at,
            Self::Lacking { end, .. } => end,
        }
    }
}

impl Layout {
    /// A token begins at `at`; the first one of its line where `first`.
    pub fn token(&mut self, at: usize, indent: usize, first: bool) {
        if first {
            self.lines.push(Line {
                start: at,
                end: at,
                indent,
            });
        }
    }

    /// The token ended at `end`.
    pub fn end(&mut self, end: usize) {
        if let Some(line) = self.lines.last_mut() {
            line.end = end;
        }
    }

    /// The token is a bracket.
    pub fn bracket(&mut self, at: usize, bracket: u8, opens: bool) {
        let kind = kind(bracket);
        let line = self.lines.len().saturating_sub(1);
        let index = self.braces.len();
        let closes = match opens {
            true => None,
            false => self.open.get_mut(kind).and_then(Vec::pop),
        };
        self.braces.push(Brace {
            at,
            line,
            first: self.lines.get(line).is_some_and(|line| line.start == at),
            closes,
            kind,
        });
        if opens && let Some(open) = self.open.get_mut(kind) {
            open.push(index);
        }
    }

    /// The bracket at `at`, which is open, was meant to be another one.
    pub fn reopen(&mut self, at: usize, bracket: u8) {
        let Some(index) = self.braces.iter().rposition(|brace| brace.at == at) else {
            return;
        };
        let other = kind(bracket);
        let Some(brace) = self.braces.get_mut(index) else {
            return;
        };
        let own = std::mem::replace(&mut brace.kind, other);
        if let Some(open) = self.open.get_mut(own)
            && open.last() == Some(&index)
        {
            open.pop();
        }
        // It is the innermost, so it was opened last.
        if let Some(open) = self.open.get_mut(other) {
            open.push(index);
        }
    }

    /// What is wrong, the last brace being one that closes nothing.
    pub fn culprit(&self, text: &str) -> Option<Culprit> {
        let head = self.lines.first()?;
        let words = text.get(head.start..head.end)?;
        let last = self.braces.len().checked_sub(1)?;
        let kind = self.braces.get(last)?.kind;
        let params = words.matches('(').count() == words.matches(')').count();
        if kind == 0 && words.starts_with("graph ") && params && !words.contains(['{', '=']) {
            return Some(lacking(head));
        }
        let of_kind = |brace: &usize| {
            self.braces
                .get(*brace)
                .is_some_and(|brace| brace.kind == kind)
        };
        let mut before = (0..last).filter(of_kind);
        let early = before.find(|brace| self.is_early(*brace, text));
        Some(self.resolve(early.unwrap_or(last), text))
    }

    /// Whether a brace closes a block of several lines while the next line stands inside of it.
    fn is_early(&self, brace: usize, text: &str) -> bool {
        let Some((close, open)) = self.pair(brace) else {
            return false;
        };
        let (Some(head), Some(own), Some(next)) = (
            self.lines.get(open.line),
            self.lines.get(close.line),
            self.lines.get(close.line + 1),
        ) else {
            return false;
        };
        let behind = text.get(close.at..own.end).unwrap_or("");
        open.line != close.line
            && next.indent > head.indent
            && behind
                .chars()
                .all(|c| matches!(c, '}' | ')' | ']' | ',' | ' '))
    }

    /// A closing brace and the one that it closes.
    fn pair(&self, brace: usize) -> Option<(&Brace, &Brace)> {
        let close = self.braces.get(brace)?;
        Some((close, self.braces.get(close.closes?)?))
    }

    /// What a closing brace that isn't where it should be is owed to.
    fn resolve(&self, mut brace: usize, text: &str) -> Culprit {
        // Each round goes to an earlier brace.
        loop {
            let Some(close) = self.braces.get(brace) else {
                return Culprit::Surplus(0);
            };
            let surplus = Culprit::Surplus(close.at);
            let own = self.lines.get(close.line).map_or(0, |line| line.indent);
            let of = self
                .pair(brace)
                .and_then(|(_, open)| self.lines.get(open.line));
            if !close.first || of.is_some_and(|head| head.indent == own) {
                return surplus;
            }
            // The line that the brace stands under.
            let before = self.lines.get(..close.line).unwrap_or_default();
            let Some(above) = before.iter().rposition(|line| line.indent <= own) else {
                return surplus;
            };
            let Some(head) = self.lines.get(above).filter(|head| head.indent == own) else {
                return surplus;
            };
            if above + 1 == close.line {
                return surplus;
            }
            let closed = (0..brace).rev().filter(|other| {
                self.pair(*other)
                    .is_some_and(|(other, open)| open.line == above && other.kind == close.kind)
            });
            match closed.max_by_key(|other| self.braces.get(*other).map(|brace| brace.at)) {
                Some(other) => {
                    let of_line = self.braces.get(other);
                    if let Some(other) = of_line.filter(|other| other.line == above) {
                        return match text.get(other.at + 1..head.end) {
                            Some("") => Culprit::Surplus(other.at),
                            _ => surplus,
                        };
                    }
                    brace = other;
                }
                None if close.kind == 0
                    && is_head(text.get(head.start..head.end).unwrap_or("")) =>
                {
                    return lacking(head);
                }
                None => return surplus,
            }
        }
    }
}

fn lacking(line: &Line) -> Culprit {
    Culprit::Lacking {
        start: line.start,
        end: line.end,
    }
}

/// Whether a line may go on with a `{`.
fn is_head(line: &str) -> bool {
    let word = super::mistake::first_word(line);
    line.starts_with(')') || keyword::begins_line(word)
}
