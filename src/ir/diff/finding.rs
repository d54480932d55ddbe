//! What is found between two versions.

use serde::Serialize;

use crate::ir::text::Place;

/// How much a change asks of those whom it meets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Group {
    /// Nothing.
    Compatible,
    /// Something has to be said or done before: a `migrate` entry, a binding of a tool, a look at threads that go on
    /// under another rule.
    NeedsMigration,
    /// What worked doesn't work any more.
    Breaking,
}

impl Group {
    /// In words.
    pub fn word(self) -> &'static str {
        match self {
            Group::Compatible => "compatible",
            Group::NeedsMigration => "needs migration",
            Group::Breaking => "breaking",
        }
    }
}

/// Whom a change meets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// Who runs the flow, takes its output and events, or serves its tools.
    Callers,
    /// Threads that began under the old version and go on under the new one.
    Threads,
    /// Who reads what the flow asks models and people.
    People,
}

impl Side {
    /// In words.
    pub fn word(self) -> &'static str {
        match self {
            Side::Callers => "callers",
            Side::Threads => "threads",
            Side::People => "people",
        }
    }
}

/// One change.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// How much it asks.
    pub group: Group,
    /// Of whom.
    pub side: Side,
    /// What kind of change it is, for other programs: `input-added`, `node-gone`.
    pub code: &'static str,
    /// What changed, in words.
    pub message: String,
    /// Where in the old version; its file is an index of the old flow's `files`.
    pub old: Option<Place>,
    /// Where in the new version.
    pub new: Option<Place>,
}
