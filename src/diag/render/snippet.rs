//! The texts that one report quotes, laid end to end so that its labels may lie in several files.
//!
//! miette knows one text per report. Here each file that a label lies in gets its own stretch of
//! one space of offsets, in the order of the labels, and a stretch is never read across its end:
//! so every file gets a frame of its own, under its own name, in the same report. What lies far
//! above the first label in the same file gets a later stretch, so that the first frame is always
//! the one that the report is about. A label in a very long line gets a stretch that shows only
//! what is around it.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use miette::{MietteError, MietteSpanContents, SourceCode, SourceSpan, SpanContents};

use crate::base::{FileId, SourceFile, SourceMap, Span};

/// A span over more lines than this is shown by its first line: a frame that fills the screen
/// hides the message.
const MOST_LINES: usize = 12;

/// A label that ends more than this many lines above the first one gets a frame after it.
const NEAR_LINES: usize = 3;

/// A line of more bytes than this is shown in part.
const LONG_LINE: usize = 400;

/// How many bytes of a long line are shown before and after a label, and of the label itself.
const AROUND: usize = 80;

/// The files of a run that were quoted so far, each made ready once.
#[derive(Debug, Default)]
pub struct Shelf {
    files: BTreeMap<FileId, Arc<Text>>,
}

/// A file made safe to show.
#[derive(Debug)]
struct Text {
    name: String,
    /// Byte for byte as long as the file's text, plus one line end, so that the empty line after
    /// the last line end can be shown too.
    text: String,
    /// Start of each line.
    lines: Vec<usize>,
}

/// The stretches that one report quotes.
#[derive(Debug, Default)]
pub struct Quoted {
    stretches: Vec<Stretch>,
}

/// A file's place in the space of offsets.
#[derive(Debug)]
struct Stretch {
    id: FileId,
    text: Arc<Text>,
    /// Offset of the file's first byte.
    base: usize,
    /// Line of the first label, from 0.
    first: usize,
    /// The bytes of the file that may be shown.
    window: Range<usize>,
}

impl Shelf {
    fn text(&mut self, id: FileId, file: &SourceFile) -> Arc<Text> {
        let text = self.files.entry(id);
        text.or_insert_with(|| Arc::new(Text::new(file))).clone()
    }
}

impl Quoted {
    /// Finds or makes the stretch that shows a span, and gives the span's place in the space of
    /// offsets; `None` where its file isn't known.
    pub fn place(
        &mut self,
        span: Span,
        sources: &SourceMap,
        shelf: &mut Shelf,
    ) -> Option<SourceSpan> {
        let text = shelf.text(span.file, sources.file(span.file)?);
        let marked = text.marked(span);
        let known = self.stretches.iter().find(|s| s.shows(span.file, &marked));
        let (base, window) = match known {
            Some(stretch) => (stretch.base, stretch.window.clone()),
            None => self.add(span.file, text, &marked),
        };
        let end = marked.end.min(window.end);
        Some((base + marked.start, end - marked.start).into())
    }

    fn add(&mut self, id: FileId, text: Arc<Text>, marked: &Range<usize>) -> (usize, Range<usize>) {
        let base = self.stretches.last().map_or(0, |last| last.end() + 1);
        let window = text.window(marked);
        self.stretches.push(Stretch {
            id,
            base,
            first: text.line_of(marked.start),
            window: window.clone(),
            text,
        });
        (base, window)
    }
}

impl Stretch {
    fn end(&self) -> usize {
        self.base + self.text.text.len()
    }

    /// Whether the bytes of that file can be shown here.
    fn shows(&self, id: FileId, marked: &Range<usize>) -> bool {
        let whole = self.window.len() == self.text.text.len();
        let near = match whole {
            true => self.text.window(marked) == self.window,
            false => self.window.start <= marked.start && marked.end <= self.window.end,
        };
        self.id == id && near && self.text.line_of(marked.end) + NEAR_LINES >= self.first
    }
}

impl SourceCode for Quoted {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        lines_before: usize,
        lines_after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let stretch = self
            .stretches
            .iter()
            .find(|stretch| (stretch.base..stretch.end()).contains(&span.offset()))
            .ok_or(MietteError::OutOfBounds)?;
        let (file, base) = (&stretch.text, stretch.base);
        let start = span.offset() - base;
        let end = start + span.len();
        if end > file.text.len() {
            return Err(MietteError::OutOfBounds);
        }
        let (first, last) = (file.line_of(start), file.line_of(end));
        let (range, top, bottom) = match (lines_before, lines_after) {
            (0, 0) => (start..end, first, last),
            _ => {
                let top = first.saturating_sub(lines_before);
                let bottom = (last + lines_after).min(file.last_line()).max(last);
                let lines = file.line_start(top)..file.line_start(bottom + 1);
                let range =
                    lines.start.max(stretch.window.start)..lines.end.min(stretch.window.end);
                (range.clone(), file.line_of(range.start), bottom)
            }
        };
        let before = file.text.get(file.line_start(top)..range.start);
        let data = file.text.as_bytes().get(range.clone());
        Ok(Box::new(MietteSpanContents::new_named(
            file.name.clone(),
            data.ok_or(MietteError::OutOfBounds)?,
            (base + range.start, range.len()).into(),
            top,
            before.map_or(0, |before| before.chars().count()),
            bottom + 1 - top,
        )))
    }
}

impl Text {
    fn new(file: &SourceFile) -> Self {
        let text = format!("{}\n", visible(&file.text));
        let ends = text.match_indices('\n').map(|(at, _)| at + 1);
        let mut lines: Vec<usize> = std::iter::once(0).chain(ends).collect();
        lines.pop();
        Self {
            name: visible(&file.name),
            text,
            lines,
        }
    }

    /// The start of the character that holds the byte `at`.
    fn boundary(&self, at: usize) -> usize {
        let whole = |at: &usize| self.text.is_char_boundary(*at);
        (0..=at).rev().find(whole).unwrap_or(0)
    }

    /// Index of the line that holds the byte `at`.
    fn line_of(&self, at: usize) -> usize {
        let after = self.lines.partition_point(|start| *start <= at);
        after.saturating_sub(1)
    }

    /// First byte of a line; the end of the text past the last one.
    fn line_start(&self, line: usize) -> usize {
        self.lines.get(line).copied().unwrap_or(self.text.len())
    }

    /// Index of the last line that is worth showing as context: the empty one after the last line
    /// end is not.
    fn last_line(&self) -> usize {
        let last = self.lines.len().saturating_sub(1);
        match self.line_start(last) + 1 == self.text.len() {
            true => last.saturating_sub(1),
            false => last,
        }
    }

    /// The bytes to mark for a span: within the file, without blanks at the end, and only the
    /// first line of a long stretch.
    fn marked(&self, span: Span) -> Range<usize> {
        let length = self.text.len() - 1;
        let start = self.boundary((span.start as usize).min(length));
        let end = self.boundary((span.end as usize).clamp(start, length));
        let lines = self.line_of(end) - self.line_of(start);
        let end = match lines > MOST_LINES {
            true => self.line_start(self.line_of(start) + 1) - 1,
            false => end,
        };
        let covered = self.text.get(start..end).unwrap_or("");
        match covered.trim_end().len() {
            0 => start..end.min(start + 1),
            trimmed => start..start + trimmed,
        }
    }

    /// What may be shown around the marked bytes: the whole text, or, where a line of the frame
    /// is very long, a part of the first marked line.
    fn window(&self, marked: &Range<usize>) -> Range<usize> {
        let (first, last) = (self.line_of(marked.start), self.line_of(marked.end));
        let mut frame = first.saturating_sub(1)..=last + 1;
        let long = |line: usize| self.line_start(line + 1) - self.line_start(line) > LONG_LINE;
        if !frame.any(long) {
            return 0..self.text.len();
        }
        let line = self.line_start(first)..self.line_start(first + 1);
        let from = marked.start.saturating_sub(AROUND).max(line.start);
        let to = (marked.end.min(marked.start + AROUND) + AROUND).min(line.end);
        self.boundary(from)..self.boundary(to)
    }
}

/// The text with every character that could steer a terminal or hide what is written (escapes,
/// other controls, changes of writing direction) replaced by one of the same length in bytes.
pub fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        out.push(match c {
            '\n' | '\t' => c,
            '\r' if chars.peek() == Some(&'\n') => c,
            '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                '\u{fffd}'
            }
            c if c.is_ascii_control() => '?',
            '\u{61c}' => '¿',
            c if c.is_control() => '¿',
            c => c,
        });
    }
    out
}

/// The same, but for colours, bold and dim: what this program itself writes. Text that others made has been through
/// [`visible`] before it is put between them.
pub fn visible_styled(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let mut out = visible(parts.next().unwrap_or_default());
    for part in parts {
        let end = part
            .find(|c: char| !c.is_ascii_digit() && c != ';')
            .unwrap_or(part.len());
        let (codes, rest) = part.split_at(end);
        let is_style = |code: &str| {
            matches!(code, "" | "0" | "1" | "2" | "3" | "4" | "22" | "39") || colour(code)
        };
        match rest.strip_prefix('m') {
            Some(rest) if codes.split(';').all(is_style) => {
                out += &format!("\x1b[{codes}m{}", visible(rest));
            }
            _ => out += &format!("?[{}", visible(part)),
        }
    }
    out
}

/// Whether a code sets the colour of the text, not that behind it.
fn colour(code: &str) -> bool {
    let code = code.parse::<u8>();
    code.is_ok_and(|code| (30..38).contains(&code) || (90..98).contains(&code))
}
