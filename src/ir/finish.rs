//! How the replies of models end.

use serde::{Deserialize, Serialize};

/// Why a reply ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    /// The model was done.
    Stop,
    /// The token limit was reached.
    Length,
    /// It wants tools to be called.
    ToolCalls,
    /// The provider cut it off for its content.
    ContentFilter,
}

impl FinishReason {
    /// Its word: in a `message`, `finish`.
    pub fn word(self) -> &'static str {
        match self {
            FinishReason::Stop => "stop",
            FinishReason::Length => "length",
            FinishReason::ToolCalls => "tool_calls",
            FinishReason::ContentFilter => "content_filter",
        }
    }
}
