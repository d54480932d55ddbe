//! Why a task, and with it a run, failed.

use serde_json::{Value as Json, json};

use crate::ir::ErrorKind;

use super::model::ModelError;
use super::store::StoreError;
use super::tool::ToolError;

/// A run-time error with the place that it comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct RunError {
    /// Its kind, the same word everywhere.
    pub kind: ErrorKind,
    /// What happened.
    pub message: String,
    /// Place in the source, `file:line:column`, where an expression or a node's own text is to blame.
    pub place: Option<String>,
    /// Name of the node.
    pub node: Option<String>,
    /// Path of the node through subgraphs, such as `cake_man/editor`.
    pub path: Option<String>,
    /// Attempts made; 0 where nothing is ever tried again.
    pub attempt: u32,
    /// The error of a subgraph that became this one.
    pub cause: Option<Box<RunError>>,
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
        }
    }

    /// The error at that place.
    pub fn at(mut self, place: String) -> Self {
        self.place.get_or_insert(place);
        self
    }

    /// The error in that node, where it isn't in one already.
    pub fn in_node(mut self, node: &str, path: &str) -> Self {
        self.node.get_or_insert_with(|| node.to_owned());
        self.path.get_or_insert_with(|| path.to_owned());
        self
    }

    /// The `error` object of a result (docs/cli.md).
    pub fn to_json(&self) -> Json {
        let mut json = json!({ "kind": self.kind.word(), "message": self.message });
        if let Some(entries) = json.as_object_mut() {
            for (key, value) in [
                ("node", &self.node),
                ("path", &self.path),
                ("place", &self.place),
            ] {
                if let Some(value) = value {
                    entries.insert(key.into(), json!(value));
                }
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
            place: text("place"),
            node: text("node"),
            path: text("path"),
            attempt: attempt.map_or(0, |n| u32::try_from(n).unwrap_or(u32::MAX)),
            cause: json
                .get("cause")
                .map(|cause| Box::new(Self::from_kept(cause))),
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
        RunError::new(error.kind, error.message)
    }
}

impl From<ToolError> for RunError {
    fn from(error: ToolError) -> Self {
        RunError::new(error.kind, error.message)
    }
}

impl From<StoreError> for RunError {
    fn from(error: StoreError) -> Self {
        RunError::new(ErrorKind::Store, error.to_string())
    }
}
