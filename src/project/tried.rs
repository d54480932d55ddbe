//! What trying the outside of a flow came to: the rows of `graphc check --online`.

use serde::Serialize;

use crate::base::Span;
use crate::diag::Diagnostic;

/// What kind of thing is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// Where threads are kept.
    Store,
    /// A secret that each run is given.
    Secret,
    /// A server of models.
    Provider,
    /// A model of a flow.
    Model,
    /// The model that makes vectors for long-term memory.
    Embeddings,
    /// An MCP server.
    McpServer,
    /// A tool of a flow.
    Tool,
}

impl What {
    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            What::Store => "store",
            What::Secret => "secret",
            What::Provider => "provider",
            What::Model => "model",
            What::Embeddings => "embeddings",
            What::McpServer => "mcp server",
            What::Tool => "tool",
        }
    }
}

/// What a try came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// A call would find what it needs.
    Ok,
    /// Nothing was tried.
    Skipped,
    /// A call may fail.
    Warning,
    /// A call would fail.
    Missing,
}

impl State {
    /// All, the best first.
    pub const ALL: [State; 4] = [State::Ok, State::Skipped, State::Warning, State::Missing];

    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            State::Ok => "ok",
            State::Skipped => "skipped",
            State::Warning => "warning",
            State::Missing => "missing",
        }
    }
}

/// One thing that was tried.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Its kind.
    pub what: What,
    /// Its name in the flow or in `graphc.yaml`.
    pub name: String,
    /// Where it is written; `None` for what is known without a file.
    pub span: Option<Span>,
    /// What the try came to.
    pub state: State,
    /// What answered, or why nothing was tried; empty where there are findings.
    pub note: String,
    /// What is missing or doubtful, with the way out.
    pub findings: Vec<Diagnostic>,
}
