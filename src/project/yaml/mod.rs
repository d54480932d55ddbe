//! YAML files with places: the tree, where a part of it stands, and a cursor that reads typed parts
//! and reports what is wrong with them.
//!
//! The tree is plain JSON, because that is all that `graphc.yaml` and `.test.yaml` may hold: text
//! keys, no tags, no key twice. A place is looked up again in the text when something is reported
//! about it ([`place`]), so that nothing is paid for places while all is well.

mod cursor;
mod parse;
mod place;
mod words;

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::base::{FileId, SourceMap, Span};
use crate::diag::{Code, Diagnostic, Diagnostics};

pub use cursor::{Cursor, MOST_FINDINGS, Table, more};

/// One step from a tree to a part of it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Step {
    /// Under that key.
    Key(String),
    /// At that position, from 0.
    Index(usize),
}

impl fmt::Debug for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&show_path(std::slice::from_ref(self)))
    }
}

/// The way from a tree to a part of it.
pub type Path = Vec<Step>;

/// `a.b[2]`, for messages; empty for the whole.
pub fn show_path(path: &[Step]) -> String {
    let mut out = String::new();
    for step in path {
        match step {
            Step::Index(i) => out.push_str(&format!("[{i}]")),
            Step::Key(key) if out.is_empty() => out.push_str(key),
            Step::Key(key) => out.push_str(&format!(".{key}")),
        }
    }
    out
}

/// A YAML file that was read.
#[derive(Debug, Clone)]
pub struct Document {
    /// The file.
    pub file: FileId,
    /// The tree; `null` for an empty file.
    pub root: Json,
    /// The code that findings about this file have.
    pub code: &'static Code,
    text: Arc<str>,
    /// Where the text begins in its file.
    base: usize,
}

impl Document {
    /// Reads a line of JSON of a file; `base` is where it begins there.
    ///
    /// # Errors
    /// One diagnostic with the place: not JSON.
    pub fn line(
        file: FileId,
        base: usize,
        text: &str,
        code: &'static Code,
    ) -> Result<Document, Diagnostics> {
        let at = |column: usize| Span::new(file, base + column.saturating_sub(1), base + column);
        let root = serde_json::from_str(text).map_err(|error| {
            let why = error.to_string();
            let why = why.split(" at line ").next().unwrap_or_default();
            let mut found = Diagnostics::new();
            let message = format!("this line is not JSON: {why}");
            found.push(Diagnostic::new(code, message, at(error.column())));
            found
        })?;
        Ok(Document {
            file,
            root,
            code,
            text: text.into(),
            base,
        })
    }

    /// Reads a file of `sources`.
    ///
    /// # Errors
    /// One diagnostic with the place: not YAML, a key twice, a tag, a key that is no text.
    pub fn parse(
        sources: &SourceMap,
        file: FileId,
        code: &'static Code,
    ) -> Result<Document, Diagnostics> {
        let text: Arc<str> = sources
            .file(file)
            .map_or("".into(), |source| source.text.clone());
        match parse::parse(&text) {
            Ok(root) => Ok(Document {
                file,
                root,
                code,
                text,
                base: 0,
            }),
            Err(fault) => {
                let start = place::offset(&text, fault.at);
                let span = Span::new(file, start, place::scalar_end(&text, start));
                let mut found = Diagnostics::new();
                found.push(Diagnostic::new(code, fault.message, span).maybe_help(fault.help));
                Err(found)
            }
        }
    }

    /// Where a part stands: a scalar, or the beginning of a list or map.
    pub fn span(&self, path: &[Step]) -> Span {
        self.locate(path, place::Part::Value)
    }

    /// Where the key of a part stands; the part itself for an element of a list.
    pub fn key_span(&self, path: &[Step]) -> Span {
        self.locate(path, place::Part::Key)
    }

    fn locate(&self, path: &[Step], part: place::Part) -> Span {
        // JSON is YAML but for some escapes: a line with one has its beginning as the place of all its parts.
        let start = place::offset(&self.text, place::locate(&self.text, path, part));
        let end = place::scalar_end(&self.text, start);
        Span::new(self.file, self.base + start, self.base + end)
    }
}
