//! Kinds of run-time error, and what is tried again.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::expr::ty::ERROR_KINDS;

/// The kind of a run-time error: `error.kind` in flows, in results and in scenarios (`docs/cli/errors.md`). The order is that of
/// [`ERROR_KINDS`].
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// More super-steps than the run may make.
    RecursionLimit,
    /// Something took longer than it may.
    Timeout,
    /// The run's budget is spent.
    Budget,
    /// The run was cancelled.
    Cancelled,
    /// An expression or template failed.
    Expression,
    /// A `require` did not hold.
    Require,
    /// The flow went to `fail(..)`.
    Fail,
    /// A tool failed.
    ToolError,
    /// A person refused the call of a tool.
    Unapproved,
    /// A model's or tool's result is not of its type.
    InvalidOutput,
    /// Input, arguments or an answer are not of their type.
    InvalidInput,
    /// The provider asks to slow down.
    RateLimit,
    /// The provider failed.
    ServerError,
    /// The provider could not be reached, or the connection broke.
    Network,
    /// The provider refused the credentials.
    Auth,
    /// The provider refused the request.
    InvalidRequest,
    /// The provider refused the content.
    ContentFilter,
    /// The store failed.
    Store,
    /// The thread belongs to another version of the flow.
    Version,
}

impl ErrorKind {
    /// All kinds, in the order of `docs/cli/errors.md`.
    pub const ALL: [ErrorKind; 19] = [
        ErrorKind::RecursionLimit,
        ErrorKind::Timeout,
        ErrorKind::Budget,
        ErrorKind::Cancelled,
        ErrorKind::Expression,
        ErrorKind::Require,
        ErrorKind::Fail,
        ErrorKind::ToolError,
        ErrorKind::Unapproved,
        ErrorKind::InvalidOutput,
        ErrorKind::InvalidInput,
        ErrorKind::RateLimit,
        ErrorKind::ServerError,
        ErrorKind::Network,
        ErrorKind::Auth,
        ErrorKind::InvalidRequest,
        ErrorKind::ContentFilter,
        ErrorKind::Store,
        ErrorKind::Version,
    ];

    /// Whether another model may give what this one has not.
    pub fn leads_to_fallback(self) -> bool {
        matches!(
            self,
            ErrorKind::Timeout
                | ErrorKind::InvalidOutput
                | ErrorKind::RateLimit
                | ErrorKind::ServerError
                | ErrorKind::Network
                | ErrorKind::Auth
                | ErrorKind::InvalidRequest
                | ErrorKind::ContentFilter
        )
    }

    /// Whether a call that fails so may have had its effect all the same, where no more is known of it: it was cut off,
    /// or what it gave can't be read.
    pub fn leaves_doubt(self) -> bool {
        matches!(
            self,
            ErrorKind::Timeout
                | ErrorKind::Network
                | ErrorKind::ServerError
                | ErrorKind::Cancelled
                | ErrorKind::InvalidOutput
        )
    }

    /// The word in flows and machine output, such as `rate_limit`.
    pub fn word(self) -> &'static str {
        ERROR_KINDS.get(self as usize).copied().unwrap_or_default()
    }

    /// The kind of a word.
    pub fn from_word(word: &str) -> Option<ErrorKind> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }

    /// Kinds that a `retry` without `on` tries again: those that may pass by themselves.
    pub const TRANSIENT: [ErrorKind; 5] = [
        ErrorKind::Timeout,
        ErrorKind::RateLimit,
        ErrorKind::ServerError,
        ErrorKind::Network,
        ErrorKind::InvalidOutput,
    ];
}

/// How often and when a failed effect is tried again.
///
/// The wait before attempt `n` (from 2) is `initial * factor^(n-2)`, at most `max`, plus up to half
/// of itself where `jitter` is on; a provider's `Retry-After` counts where it is longer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Retry {
    /// Attempts in all, the first included; at least 1.
    pub attempts: u32,
    /// First wait, in milliseconds.
    pub initial_ms: u64,
    /// What each wait is multiplied by to get the next.
    pub factor: f64,
    /// Longest wait, in milliseconds.
    pub max_ms: u64,
    /// Whether waits are spread by chance.
    pub jitter: bool,
    /// Kinds that are tried again.
    pub on: Vec<ErrorKind>,
}

impl Default for Retry {
    /// Three attempts, 500 ms, doubled, at most a minute, spread, on what may pass by itself.
    fn default() -> Self {
        Self {
            attempts: 3,
            initial_ms: 500,
            factor: 2.0,
            max_ms: 60_000,
            jitter: true,
            on: ErrorKind::TRANSIENT.to_vec(),
        }
    }
}
