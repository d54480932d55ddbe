//! A stretch of one source file.

use serde::{Deserialize, Serialize};

/// Which file of a [`SourceMap`](super::SourceMap) a span lies in.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize,
)]
pub struct FileId(pub u32);

/// A half-open range of bytes, `start..end`, in one file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The spans in order, those that overlap as one. Spans that lie in each other may be as many as the text is long, and
    /// what looks at the text of each would look at it as often.
    pub fn merged(spans: impl IntoIterator<Item = Span>) -> Vec<Span> {
        let mut spans: Vec<Span> = spans.into_iter().collect();
        spans.sort();
        let mut merged: Vec<Span> = Vec::new();
        for span in spans {
            match merged.last_mut() {
                Some(last) if last.file == span.file && span.start < last.end => {
                    last.end = last.end.max(span.end);
                }
                _ => merged.push(span),
            }
        }
        merged
    }

    /// The bytes `start..end` of `file`.
    pub fn new(file: FileId, start: usize, end: usize) -> Self {
        let at = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
        Self {
            file,
            start: at(start),
            end: at(end),
        }
    }

    /// The smallest span that holds both; `self` where they lie in different files.
    pub fn to(self, other: Span) -> Span {
        if self.file != other.file {
            return self;
        }
        Span {
            file: self.file,
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }

    /// Takes `bytes` off its start and its end.
    pub fn move_back(&mut self, bytes: u32) {
        self.start = self.start.saturating_sub(bytes);
        self.end = self.end.saturating_sub(bytes);
    }

    /// The empty span at the start of this one, where something is missing.
    pub fn before(self) -> Span {
        Span {
            end: self.start,
            ..self
        }
    }

    /// The empty span at the end of this one, where something is missing.
    pub fn after(self) -> Span {
        Span {
            start: self.end,
            ..self
        }
    }

    /// Whether all of `part` lies within this one.
    pub fn holds(self, part: Span) -> bool {
        self.file == part.file && self.start <= part.start && part.end <= self.end
    }

    /// Length in bytes.
    pub fn len(self) -> usize {
        (self.end.saturating_sub(self.start)) as usize
    }

    /// Whether it covers no byte.
    pub fn is_empty(self) -> bool {
        self.end <= self.start
    }
}

impl std::fmt::Debug for Span {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}@{}..{}", self.file.0, self.start, self.end)
    }
}

/// A thing and the place it was written at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spanned<T> {
    /// The thing.
    pub node: T,
    /// Its place.
    pub span: Span,
}

impl<T> Spanned<T> {
    /// `node`, written at `span`.
    pub fn new(node: T, span: Span) -> Self {
        Self { node, span }
    }
}

impl<T> std::ops::Deref for Spanned<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.node
    }
}
