//! The texts that one report quotes, laid end to end so that its labels may lie in several files.
//!
//! miette knows one text per report. Here each file that a label lies in gets its own stretch of
//! one space of offsets, in the order of the labels, and a stretch is never read across its end:
//! so every file gets a frame of its own, under its own name, in the same report. What lies far
//! above the first label in the same file gets a later stretch, so that the first frame is always
//! the one that the report is about.

use miette::{MietteError, MietteSpanContents, SourceCode, SourceSpan, SpanContents};

use crate::base::{FileId, SourceFile, SourceMap, Span};

/// A span over more lines than this is shown by its first line: a frame that fills the screen
/// hides the message.
const MOST_LINES: u32 = 12;

/// A label that ends more than this many lines above the first one gets a frame after it.
const NEAR_LINES: u32 = 3;

/// The files that one report quotes.
#[derive(Debug, Default)]
pub struct Quoted {
    files: Vec<QuotedFile>,
}

/// One file, made safe to show, at its place in the space of offsets.
#[derive(Debug)]
struct QuotedFile {
    id: FileId,
    /// Line of the first label, from 1.
    first: u32,
    name: String,
    /// Offset of the first byte.
    base: usize,
    /// The text, byte for byte as long as the file's, plus one line end, so that the empty line
    /// after the last line end can be shown too.
    text: String,
    /// Start of each line, within `text`.
    lines: Vec<usize>,
}

impl Quoted {
    /// Adds the span's file where it is new, and gives the place of the span in the space of
    /// offsets; `None` where the span's file isn't known.
    pub fn place(&mut self, span: Span, sources: &SourceMap) -> Option<SourceSpan> {
        let file = sources.file(span.file)?;
        let (start, end) = shown(span, file);
        let (top, bottom) = (
            file.location(start as u32).line,
            file.location(end as u32).line,
        );
        let known = self.files.iter().find(|quoted| {
            quoted.id == span.file && bottom.saturating_add(NEAR_LINES) >= quoted.first
        });
        let base = match known {
            Some(quoted) => quoted.base,
            None => self.add(span.file, file, top),
        };
        Some((base + start, end - start).into())
    }

    fn add(&mut self, id: FileId, file: &SourceFile, first: u32) -> usize {
        let base = self.files.last().map_or(0, |last| last.end() + 1);
        let text = format!("{}\n", visible(&file.text));
        let ends = text.match_indices('\n').map(|(at, _)| at + 1);
        let mut lines: Vec<usize> = std::iter::once(0).chain(ends).collect();
        lines.pop();
        self.files.push(QuotedFile {
            id,
            first,
            name: visible(&file.name),
            base,
            text,
            lines,
        });
        base
    }
}

impl QuotedFile {
    fn end(&self) -> usize {
        self.base + self.text.len()
    }

    /// Index of the line that holds the byte `at`.
    fn line_of(&self, at: usize) -> usize {
        self.lines
            .partition_point(|start| *start <= at)
            .saturating_sub(1)
    }

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
}

impl SourceCode for Quoted {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        lines_before: usize,
        lines_after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let file = self
            .files
            .iter()
            .find(|file| (file.base..file.end()).contains(&span.offset()))
            .ok_or(MietteError::OutOfBounds)?;
        let start = span.offset() - file.base;
        let end = start + span.len();
        if end > file.text.len() {
            return Err(MietteError::OutOfBounds);
        }
        let (first, last) = (file.line_of(start), file.line_of(end));
        let whole_lines = lines_before > 0 || lines_after > 0;
        let top = first.saturating_sub(lines_before);
        let bottom = (last + lines_after).min(file.last_line()).max(last);
        let range = match whole_lines {
            true => file.line_start(top)..file.line_start(bottom + 1),
            false => start..end,
        };
        let column = match whole_lines {
            true => 0,
            false => file
                .text
                .get(file.line_start(first)..start)
                .map_or(0, |before| before.chars().count()),
        };
        let data = file
            .text
            .as_bytes()
            .get(range.clone())
            .ok_or(MietteError::OutOfBounds)?;
        Ok(Box::new(MietteSpanContents::new_named(
            file.name.clone(),
            data,
            (file.base + range.start, range.len()).into(),
            top,
            column,
            bottom + 1 - top,
        )))
    }
}

/// The bytes to mark for a span: within the file, without blanks at the end, and only the first
/// line of a long stretch.
fn shown(span: Span, file: &SourceFile) -> (usize, usize) {
    let length = file.text.len();
    let start = (span.start as usize).min(length);
    let end = (span.end as usize).clamp(start, length);
    let covered = file.text.get(start..end).unwrap_or("");
    let lines = file.location(span.end).line - file.location(span.start.min(span.end)).line;
    let marked = match lines > MOST_LINES {
        true => covered.lines().next().unwrap_or(""),
        false => covered,
    };
    match marked.trim_end().len() {
        0 if covered.is_empty() => (start, end),
        0 => (
            start,
            start + covered.chars().next().map_or(0, char::len_utf8),
        ),
        trimmed => (start, start + trimmed),
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
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
            c if c.is_ascii_control() => '?',
            c if c.is_control() => '¿',
            c => c,
        });
    }
    out
}
