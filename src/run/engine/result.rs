//! What a run came to, or why it did not start.

use serde_json::{Map as JsonMap, Value as Json, json};

use crate::ir::ErrorKind;
use crate::run::error::RunError;
use crate::run::half_join::HalfJoin;
use crate::run::interrupt::OpenInterrupt;
use crate::run::model::Usage;
use crate::run::permission::Permission;
use crate::run::store::{RunState, StoreError};

/// What a run came to.
#[derive(Debug, Clone)]
pub struct RunResult {
    /// How it ended.
    pub state: RunState,
    /// The thread.
    pub thread_id: String,
    /// The run.
    pub run_id: String,
    /// The latest checkpoint of the thread, where it is kept.
    pub checkpoint_id: Option<u64>,
    /// `out` fields that have a value.
    pub output: JsonMap<String, Json>,
    /// The whole state of the graph.
    pub values: JsonMap<String, Json>,
    /// Open interrupts.
    pub interrupts: Vec<OpenInterrupt>,
    /// Calls that people have permitted ahead of them, at the end of the run's own graph's last super-step.
    pub permissions: Vec<Permission>,
    /// Why it failed.
    pub error: Option<RunError>,
    /// Tokens.
    pub usage: Usage,
    /// Whether its input was taken. One that failed on its way in has left the thread as it was, and there is nothing to resume.
    pub begun: bool,
    /// Names of a caller's nodes that the run's graph left for, where it may ([`RunOptions::may_leave`](super::RunOptions::may_leave)).
    pub left: Vec<String>,
    /// Of a run that is done: joins that waited for members which never came, those of its own graph first. What they lead to has
    /// not run.
    pub half_joins: Vec<HalfJoin>,
    /// Tools that are `@idempotent(false)` of which a call had begun in what a new input has taken the place of, and nobody asks
    /// any more whether it happened.
    pub in_doubt: Vec<String>,
    /// What else people are told of it: tools that reported what their event does not take.
    pub warnings: Vec<String>,
}

impl RunResult {
    /// The result object of `graphc run` (docs/cli/result.md).
    pub fn to_json(&self) -> Json {
        let mut json = JsonMap::new();
        json.insert("status".into(), json!(self.state));
        json.insert("thread_id".into(), json!(self.thread_id));
        json.insert("run_id".into(), json!(self.run_id));
        if let Some(id) = self.checkpoint_id {
            json.insert("checkpoint_id".into(), json!(id.to_string()));
        }
        json.insert("output".into(), Json::Object(self.output.clone()));
        if !self.left.is_empty() {
            json.insert("left".into(), json!(self.left));
        }
        if !self.interrupts.is_empty() {
            json.insert(
                "interrupts".into(),
                self.interrupts.iter().map(OpenInterrupt::to_json).collect(),
            );
        }
        if !self.permissions.is_empty() {
            let permissions = self.permissions.iter().map(Permission::to_json);
            json.insert("permissions".into(), permissions.collect());
        }
        if let Some(error) = &self.error {
            json.insert("error".into(), error.to_json());
        }
        if !self.half_joins.is_empty() {
            json.insert("half_joins".into(), json!(self.half_joins));
        }
        if !self.in_doubt.is_empty() {
            json.insert("in_doubt".into(), json!(self.in_doubt));
        }
        if !self.warnings.is_empty() {
            json.insert("warnings".into(), json!(self.warnings));
        }
        json.insert("usage".into(), json!(self.usage));
        Json::Object(json)
    }
}

/// Why a run did not start. The thread is as it was.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StartError {
    /// The input, the thread or an answer does not fit.
    #[error("{message}")]
    Refused {
        /// What does not fit, and what would.
        message: String,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The thread belongs to a version of the flow that this one can't go on with.
    #[error("{message}")]
    Version {
        /// What has changed.
        message: String,
        /// What of the thread the flow has no more.
        gone: Gone,
    },
}

/// What of a thread a version of the flow has no more, as far as `migrate` can say what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Gone {
    /// A node.
    Node(String),
    /// A field.
    Field(String),
    /// The type or the bounds that a field's value keeps to.
    Value(String),
    /// A node that kept the state of the graph that it calls.
    Calls(String),
    /// A node that the run was to stop before.
    Stop(String),
    /// Two things that `migrate` gives one name.
    OneName,
    /// A question that a task has asked, and does not ask any more.
    Question,
    /// The graph that the thread belongs to: whatever runs on the thread is a run of it.
    Graph,
    /// Something that `migrate` has no words for.
    Other,
}

impl StartError {
    pub(super) fn refused(message: impl Into<String>) -> Self {
        StartError::Refused {
            message: message.into(),
        }
    }

    pub(super) fn from_run(error: RunError) -> Self {
        match error.kind {
            ErrorKind::Version => StartError::Version {
                gone: error.gone.map_or(Gone::Other, |gone| *gone),
                message: error.message,
            },
            _ => StartError::Refused {
                message: error.message,
            },
        }
    }
}
