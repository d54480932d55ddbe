//! The trait behind which every tool without a body stands.

use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Map as JsonMap, Value as Json};
use tokio::sync::OwnedSemaphorePermit;

use crate::ir::ErrorKind;

use super::model::CallContext;
use super::probe::Probed;

/// Something that runs tool calls. Object safe: a Rust program adds its own in a few lines.
#[async_trait]
pub trait ToolBackend: Send + Sync {
    /// Waits for a place among the calls at the same time. The run asks for it ahead of each call, and keeps it until the call has
    /// ended. A call that waits here has not begun: it is stopped with the run ([`CallContext::stop`]).
    ///
    /// # Errors
    /// `Cancelled` where the run was stopped meanwhile.
    async fn acquire(&self, _cx: &CallContext) -> Result<Permit, ToolError> {
        Ok(Permit::default())
    }

    /// Makes the call and gives its result as JSON; the runtime checks it against the declared type.
    ///
    /// # Errors
    /// By kind; `ToolError` where the tool itself says no.
    async fn call(&self, call: ToolCall, cx: &CallContext) -> Result<Json, ToolError>;

    /// Tries whether a call would find what it needs, without making one: for `graphc check --online`. It ends by itself.
    async fn probe(&self) -> Probed {
        Probed::Skipped("only a call would show it".to_owned())
    }

    /// Ends what is kept open between calls, such as a session with a server. A later call opens it again. What is not closed is ended
    /// when it is dropped.
    async fn close(&self) {}
}

/// A call's places among the calls at the same time; dropping it gives them back.
#[derive(Debug, Default)]
pub struct Permit {
    _places: Vec<OwnedSemaphorePermit>,
}

impl From<Vec<OwnedSemaphorePermit>> for Permit {
    fn from(places: Vec<OwnedSemaphorePermit>) -> Self {
        Self { _places: places }
    }
}

/// A call of a tool, its arguments already checked against the declared types.
#[derive(Debug, Clone)]
pub struct ToolCall {
    /// Name of the tool in the flow.
    pub tool: String,
    /// Arguments by name, defaults filled in.
    pub args: JsonMap<String, Json>,
}

/// Why a tool call failed.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct ToolError {
    /// `ToolError`, or what kept the call from being made (`Timeout`, `Network`, ...).
    pub kind: ErrorKind,
    /// For the model and for people, without secrets.
    pub message: String,
    /// When the backend wants to be asked again.
    pub retry_after: Option<Duration>,
    /// Whether the call may have had its effect all the same: then one that must not be made twice (`@idempotent(false)`)
    /// is not made again before somebody has said that it hasn't. `false` of a call that never began, and of one that was refused.
    pub in_doubt: bool,
}

impl ToolError {
    /// An error of that kind, which says whether it leaves doubt ([`ErrorKind::leaves_doubt`]).
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            retry_after: None,
            in_doubt: kind.leaves_doubt(),
        }
    }

    /// The error of a call that has had no effect.
    pub fn unsent(self) -> Self {
        Self {
            in_doubt: false,
            ..self
        }
    }

    /// The error of a call that may have had its effect.
    pub fn doubted(self) -> Self {
        Self {
            in_doubt: true,
            ..self
        }
    }
}
