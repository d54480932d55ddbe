//! The texts of a compilation and the places in them.

use std::sync::{Arc, OnceLock};

use serde::Serialize;

use super::{FileId, Span};

/// A place in a text, for people and for other programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Location {
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1, in characters.
    pub column: u32,
    /// Offset, from 0, in bytes.
    pub offset: u32,
}

/// One text with the name that people know it by. Copies share the text.
#[derive(Debug, Clone)]
pub struct SourceFile {
    /// Path as shown in messages: relative where it was given so, with `/`.
    pub name: Arc<str>,
    /// The whole text.
    pub text: Arc<str>,
    /// Byte offset of the start of each line.
    line_starts: Arc<[u32]>,
    /// How many characters stand before each thousandth byte; counted when a place far into a line is first asked for.
    counted: Arc<OnceLock<Vec<usize>>>,
}

/// So many bytes lie between two counts of characters.
const STRETCH: usize = 1_024;

impl SourceFile {
    fn new(name: &str, text: Arc<str>) -> Self {
        let ends = text.match_indices('\n').map(|(at, _)| at as u32 + 1);
        let starts: Vec<u32> = std::iter::once(0).chain(ends).collect();
        Self {
            name: name.into(),
            text,
            line_starts: starts.into(),
            counted: Arc::default(),
        }
    }

    /// How many characters begin before a byte.
    fn characters(&self, before: usize) -> usize {
        let begins = |bytes: &[u8]| bytes.iter().filter(|byte| **byte & 0xC0 != 0x80).count();
        let bytes = self.text.as_bytes();
        let counted = self.counted.get_or_init(|| {
            let mut sum = 0;
            let stretches = bytes.chunks(STRETCH).map(|stretch| {
                let before = sum;
                sum += begins(stretch);
                before
            });
            stretches.collect()
        });
        let at = before / STRETCH;
        let rest = bytes.get(at * STRETCH..before).map_or(0, begins);
        let known = counted.get(at).copied();
        known.unwrap_or_else(|| begins(bytes) - rest) + rest
    }

    /// The same text under another name.
    pub fn named(&self, name: &str) -> Self {
        Self {
            name: name.into(),
            ..self.clone()
        }
    }

    /// The place of a byte offset; past the end it is the end.
    pub fn location(&self, offset: u32) -> Location {
        let offset = offset.min(self.text.len() as u32);
        let line = self
            .line_starts
            .partition_point(|start| *start <= offset)
            .max(1);
        let start = self.line_starts.get(line - 1).copied().unwrap_or(0);
        let before = start as usize..offset as usize;
        let column = match before.len() > 2 * STRETCH && self.text.get(before.clone()).is_some() {
            true => self.characters(before.end) - self.characters(before.start),
            false => self.text.get(before).map_or(0, |text| text.chars().count()),
        };
        Location {
            line: line as u32,
            column: column as u32 + 1,
            offset,
        }
    }

    /// The byte offset of a line and column counted from 1, columns in characters.
    pub fn offset(&self, line: u32, column: u32) -> u32 {
        let start = self
            .line_starts
            .get(line.max(1) as usize - 1)
            .copied()
            .unwrap_or(self.text.len() as u32);
        let rest = self.text.get(start as usize..).unwrap_or("");
        let within: usize = rest
            .chars()
            .take(column.max(1) as usize - 1)
            .map(char::len_utf8)
            .sum();
        start + within as u32
    }
}

/// All texts of one compilation. A [`FileId`] is an index into it.
#[derive(Debug, Clone, Default)]
pub struct SourceMap {
    files: Vec<SourceFile>,
}

impl SourceMap {
    /// An empty map.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a text and gives its id. A name may be added twice; each has its own id.
    pub fn add(&mut self, name: &str, text: &str) -> FileId {
        self.push(SourceFile::new(name, text.into()))
    }

    /// The same, of a text that others hold too.
    pub fn add_shared(&mut self, name: &str, text: Arc<str>) -> FileId {
        self.push(SourceFile::new(name, text))
    }

    /// Adds a file of another map and gives its id in this one.
    pub fn push(&mut self, file: SourceFile) -> FileId {
        self.files.push(file);
        FileId(self.files.len() as u32 - 1)
    }

    /// The file, where the id is of this map.
    pub fn file(&self, id: FileId) -> Option<&SourceFile> {
        self.files.get(id.0 as usize)
    }

    /// All files, in the order of their ids.
    pub fn files(&self) -> impl Iterator<Item = (FileId, &SourceFile)> {
        self.files
            .iter()
            .enumerate()
            .map(|(i, f)| (FileId(i as u32), f))
    }

    /// The text that a span covers; empty where it lies outside.
    pub fn text(&self, span: Span) -> &str {
        self.file(span.file)
            .and_then(|f| f.text.get(span.start as usize..span.end as usize))
            .unwrap_or("")
    }

    /// Name of a span's file; `<unknown>` for a foreign id.
    pub fn name(&self, id: FileId) -> &str {
        self.file(id).map_or("<unknown>", |f| &f.name)
    }

    /// Start of a span as a place.
    pub fn location(&self, span: Span) -> Location {
        self.file(span.file).map_or(
            Location {
                line: 1,
                column: 1,
                offset: 0,
            },
            |f| f.location(span.start),
        )
    }
}
