//! Why a task, and with it a run, failed.

use std::fmt;

use serde_json::{Value as Json, json};

use crate::base::size::beginning;
use crate::ir::ErrorKind;

use super::engine::Gone;
use super::model::ModelError;
use super::store::StoreError;
use super::tool::ToolError;

/// Most bytes of what a model's provider or a tool says of its failure.
const FROM_OUTSIDE: usize = 4 << 10;

/// A part of the flow's source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// File, relative to the folder of the flow's first.
    pub file: String,
    /// Line and column of its first character, from 1.
    pub start: (u32, u32),
    /// Line and column behind its last one.
    pub end: (u32, u32),
}

/// Where it begins, `file:line:column`.
impl fmt::Display for Passage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.start.0, self.start.1)
    }
}

impl Passage {
    /// The passage that its own text and `place_end` stand for.
    fn from_kept(place: &str, end: Option<&str>) -> Option<Self> {
        let (rest, column) = place.rsplit_once(':')?;
        let (file, line) = rest.rsplit_once(':')?;
        let start = (line.parse().ok()?, column.parse().ok()?);
        let end = end.and_then(|end| end.split_once(':'));
        let end = end.and_then(|(line, column)| Some((line.parse().ok()?, column.parse().ok()?)));
        Some(Self {
            file: file.to_owned(),
            start,
            end: end.unwrap_or(start),
        })
    }
}

/// A run-time error with the place that it comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct RunError {
    /// Its kind, the same word everywhere.
    pub kind: ErrorKind,
    /// What happened.
    pub message: String,
    /// The part of the source that is to blame: of an expression the part that failed.
    pub place: Option<Box<Passage>>,
    /// Name of the node.
    pub node: Option<String>,
    /// Path of the node through subgraphs, such as `cake_man/editor`.
    pub path: Option<String>,
    /// Attempts made; 0 where nothing is ever tried again.
    pub attempt: u32,
    /// The error of a subgraph that became this one.
    pub cause: Option<Box<RunError>>,
    /// Of kind `version`: what of the thread the flow has no more.
    pub gone: Option<Box<Gone>>,
    /// A limit was reached that this setting lifts: an option such as `--max-tasks`, or that of a graph in words. A resume alone
    /// comes to it again.
    pub lifted_by: Option<Box<str>>,
}

impl RunError {
    /// An error of that kind, without a place so far.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            place: None,
            node: None,
            path: None,
            attempt: 0,
            cause: None,
            gone: None,
            lifted_by: None,
        }
    }

    /// An error about a limit that this setting lifts.
    pub fn lifted_by(self, setting: impl Into<String>) -> Self {
        Self {
            lifted_by: Some(setting.into().into()),
            ..self
        }
    }

    /// The setting that lifts the limit that was reached.
    pub fn setting(&self) -> Option<&str> {
        self.lifted_by.as_deref()
    }

    /// An error of kind `version` about something that the flow has no more.
    pub fn gone(message: impl Into<String>, gone: Gone) -> Self {
        Self {
            gone: Some(Box::new(gone)),
            ..Self::new(ErrorKind::Version, message)
        }
    }

    /// The error at that place.
    pub fn at(mut self, place: Passage) -> Self {
        self.place.get_or_insert_with(|| Box::new(place));
        self
    }

    /// The error in that node, where it isn't in one already.
    pub fn in_node(mut self, node: &str, path: &str) -> Self {
        self.node.get_or_insert_with(|| node.to_owned());
        self.path.get_or_insert_with(|| path.to_owned());
        self
    }

    /// The `error` object of a result (docs/cli/errors.md).
    pub fn to_json(&self) -> Json {
        let mut json = json!({ "kind": self.kind.word(), "message": self.message });
        if let Some(entries) = json.as_object_mut() {
            let texts = [
                ("node", self.node.as_deref()),
                ("path", self.path.as_deref()),
                ("lifted_by", self.setting()),
            ];
            for (key, value) in texts {
                if let Some(value) = value {
                    entries.insert(key.into(), json!(value));
                }
            }
            if let Some(place) = &self.place {
                let (line, column) = place.end;
                entries.insert("place".into(), json!(place.to_string()));
                entries.insert("place_end".into(), json!(format!("{line}:{column}")));
            }
        }
        json
    }

    /// All of it as JSON, for [`RunError::from_kept`].
    pub fn to_kept(&self) -> Json {
        let mut json = self.to_json();
        if let Some(entries) = json.as_object_mut() {
            entries.insert("attempt".into(), json!(self.attempt));
            if let Some(cause) = &self.cause {
                entries.insert("cause".into(), cause.to_kept());
            }
        }
        json
    }

    /// The error that [`RunError::to_kept`] was made of.
    pub fn from_kept(json: &Json) -> Self {
        let text = |key| json.get(key).and_then(Json::as_str).map(str::to_owned);
        let kind = text("kind").and_then(|word| ErrorKind::from_word(&word));
        let attempt = json.get("attempt").and_then(Json::as_u64);
        Self {
            kind: kind.unwrap_or(ErrorKind::Expression),
            message: text("message").unwrap_or_default(),
            place: text("place")
                .and_then(|place| Passage::from_kept(&place, text("place_end").as_deref()))
                .map(Box::new),
            node: text("node"),
            path: text("path"),
            attempt: attempt.map_or(0, |n| u32::try_from(n).unwrap_or(u32::MAX)),
            cause: json
                .get("cause")
                .map(|cause| Box::new(Self::from_kept(cause))),
            gone: None,
            lifted_by: text("lifted_by").map(String::into_boxed_str),
        }
    }

    /// The built-in record `error` that handlers see.
    pub fn to_record(&self) -> Json {
        json!({
            "kind": self.kind.word(),
            "message": self.message,
            "node": self.node.as_deref().unwrap_or_default(),
            "attempt": self.attempt,
            "cause": self.cause.as_ref().map(|cause| cause.to_record()),
        })
    }
}

impl From<ModelError> for RunError {
    fn from(error: ModelError) -> Self {
        RunError::new(error.kind, beginning(&error.message, FROM_OUTSIDE))
    }
}

impl From<ToolError> for RunError {
    fn from(error: ToolError) -> Self {
        RunError::new(error.kind, beginning(&error.message, FROM_OUTSIDE))
    }
}

impl From<StoreError> for RunError {
    fn from(error: StoreError) -> Self {
        RunError::new(ErrorKind::Store, error.to_string())
    }
}
