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
}

impl Document {
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
        let start = place::offset(&self.text, place::locate(&self.text, path, part));
        Span::new(self.file, start, place::scalar_end(&self.text, start))
    }
}
