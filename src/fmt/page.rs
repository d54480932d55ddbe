//! From a row of layout commands to text: which groups fit on their line.
//!
//! A group is written on one line where it and what follows up to the next place that may break
//! fit, and otherwise all of its own breaks are line ends. Widths are sums from the row's start, made once; so the whole
//! takes time in proportion to the text, whatever nests in what.

use std::borrow::Cow;

use super::WIDTH;

/// How much further a line begins for each level.
const INDENT: usize = 2;

/// A layout command.
#[derive(Debug, Clone)]
pub(super) enum Op<'a> {
    /// A token or comment; it may hold line ends, which then stay as they are.
    Text(Cow<'a, str>),
    /// So many blanks, if something follows on the line.
    Blanks(usize),
    /// A line end in a group that is broken, a blank in one that isn't.
    Line,
    /// A line end in a group that is broken, else nothing.
    Soft,
    /// An empty line before the next line end.
    Blank,
    /// No group around it fits on a line.
    Break,
    /// Text where the group is broken.
    IfBroken(&'static str),
    /// Text where it isn't.
    IfFlat(&'static str),
    /// A comment for the end of the line, wherever that is.
    Suffix(Cow<'a, str>),
    /// In a broken group: the end of the line is near; comments that don't fit behind it go below.
    Flush,
    /// A group begins.
    Open,
    /// It ends.
    Close,
    /// Lines begin a level further in.
    In,
    /// And back.
    Out,
}

impl Op<'_> {
    /// Width on a line in a group that is not broken.
    fn width(&self) -> usize {
        match self {
            Op::Text(text) => first_line(text).chars().count(),
            Op::Blanks(count) => *count,
            Op::Line => 1,
            Op::IfFlat(text) => text.len(),
            _ => 0,
        }
    }

    /// Whether it forbids that a group stands on one line.
    fn is_hard(&self) -> bool {
        match self {
            Op::Text(text) => text.contains('\n'),
            op => matches!(op, Op::Break),
        }
    }
}

fn first_line(text: &str) -> &str {
    text.split('\n').next().unwrap_or("")
}

/// The width of a row on one line; `None` where it can't stand on one.
pub(super) fn flat_width(ops: &[Op]) -> Option<usize> {
    let hard = ops.iter().any(Op::is_hard);
    (!hard).then(|| ops.iter().map(Op::width).sum())
}

/// The sums that say what fits.
struct Widths {
    /// Width of all before a place.
    before: Vec<usize>,
    /// Commands before a place that forbid one line.
    hard: Vec<usize>,
    /// Width from a place to the next that may break.
    rest: Vec<usize>,
    /// For each group's opening, the place after its end.
    ends: Vec<usize>,
}

impl Widths {
    fn new(ops: &[Op]) -> Self {
        let mut widths = Self {
            before: vec![0],
            hard: vec![0],
            rest: vec![0; ops.len() + 1],
            ends: vec![ops.len(); ops.len()],
        };
        let mut open = Vec::new();
        let (mut before, mut hard) = (0, 0);
        for (i, op) in ops.iter().enumerate() {
            before += op.width();
            hard += usize::from(op.is_hard());
            widths.before.push(before);
            widths.hard.push(hard);
            match op {
                Op::Open => open.push(i),
                Op::Close => {
                    if let Some(end) = open.pop().and_then(|start| widths.ends.get_mut(start)) {
                        *end = i + 1;
                    }
                }
                _ => {}
            }
        }
        let mut rest = 0;
        for (i, op) in ops.iter().enumerate().rev() {
            rest = match op {
                Op::Line | Op::Soft => 0,
                Op::Text(text) if text.contains('\n') => op.width(),
                // What is around a group of which this is asked is broken.
                Op::IfBroken(text) => rest + text.len(),
                Op::IfFlat(_) => rest,
                op => rest + op.width(),
            };
            if let Some(slot) = widths.rest.get_mut(i) {
                *slot = rest;
            }
        }
        widths
    }

    /// Whether the group that opens at `start` fits where `column` characters stand already.
    fn fits(&self, start: usize, column: usize) -> bool {
        let at = |row: &[usize], i: usize| row.get(i).copied().unwrap_or(0);
        let end = at(&self.ends, start);
        let width = at(&self.before, end) - at(&self.before, start);
        let hard = at(&self.hard, end) > at(&self.hard, start);
        !hard && column + width + at(&self.rest, end) <= WIDTH
    }
}

/// Writes the row.
pub(super) fn print(ops: Vec<Op>, line_end: &str) -> String {
    let widths = Widths::new(&ops);
    let mut page = Page {
        out: String::new(),
        line_end,
        column: 0,
        indent: 0,
        blanks: 0,
        blank_line: false,
        suffixes: Vec::new(),
    };
    let mut broken = vec![true];
    for (i, op) in ops.into_iter().enumerate() {
        let in_broken = broken.last().copied().unwrap_or(true);
        match op {
            Op::Text(text) => page.text(&text),
            Op::Blanks(count) => page.blanks = count,
            Op::Line | Op::Soft if in_broken => page.new_line(),
            Op::Line => page.blanks = 1,
            Op::Blank => page.blank_line = true,
            Op::IfBroken(text) if in_broken => page.text(text),
            Op::IfFlat(text) if !in_broken => page.text(text),
            Op::Suffix(text) => page.suffixes.push(text),
            Op::Flush if in_broken => page.flush(),
            Op::Open => {
                let column = page.column + page.blanks;
                broken.push(in_broken && !widths.fits(i, column));
            }
            Op::Close => {
                broken.pop();
            }
            Op::In => page.indent += INDENT,
            Op::Out => page.indent = page.indent.saturating_sub(INDENT),
            Op::Soft | Op::IfBroken(_) | Op::IfFlat(_) | Op::Flush | Op::Break => {}
        }
    }
    page.flush();
    page.trailing();
    if !page.out.is_empty() {
        page.out.push_str(line_end);
    }
    page.out
}

/// Writes the row in one line, however wide. Texts with line ends keep them.
pub(super) fn flat(ops: Vec<Op>) -> String {
    let (mut out, mut blanks) = (String::new(), 0);
    for op in ops {
        let text = match op {
            Op::Text(text) => text,
            Op::IfFlat(text) => text.into(),
            Op::Blanks(_) | Op::Line => {
                blanks = 1;
                continue;
            }
            _ => continue,
        };
        out.extend(std::iter::repeat_n(' ', std::mem::take(&mut blanks)));
        out.push_str(&text);
    }
    out
}

/// The text so far.
struct Page<'a, 'o> {
    out: String,
    line_end: &'o str,
    /// Characters on the line.
    column: usize,
    /// Where lines begin.
    indent: usize,
    /// Blanks to write if something follows.
    blanks: usize,
    /// Whether an empty line comes with the next line end.
    blank_line: bool,
    /// Comments for the end of the line.
    suffixes: Vec<Cow<'a, str>>,
}

impl Page<'_, '_> {
    fn text(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.out.extend(std::iter::repeat_n(' ', self.blanks));
        self.column += std::mem::take(&mut self.blanks);
        self.out.push_str(text);
        match text.rsplit_once('\n') {
            Some((_, last)) => self.column = last.chars().count(),
            None => self.column += text.chars().count(),
        }
    }

    fn new_line(&mut self) {
        self.flush();
        self.trailing();
        self.end_line();
        if std::mem::take(&mut self.blank_line) {
            self.out.push_str(self.line_end);
        }
        self.blanks = self.indent;
    }

    fn end_line(&mut self) {
        self.out.push_str(self.line_end);
        self.column = 0;
        self.blanks = 0;
    }

    /// Writes comments until one is left, which the line end takes.
    fn flush(&mut self) {
        while self.suffixes.len() > 1 {
            self.trailing();
            self.end_line();
            self.blanks = self.indent;
        }
    }

    /// Writes a comment behind what stands on the line.
    fn trailing(&mut self) {
        if !self.suffixes.is_empty() {
            let comment = self.suffixes.remove(0);
            if self.column > 0 {
                self.blanks = 1;
            }
            self.text(&comment);
        }
    }
}
