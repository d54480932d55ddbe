//! The trait behind which every chat model stands.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::Stream;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use tokio_util::sync::CancellationToken;

use crate::base::secret::RunSecrets;
use crate::ir::ErrorKind;
use crate::value::List;

#[doc(no_inline)]
pub use crate::ir::FinishReason;

use super::memory::Access;
use super::nested::Nested;
use super::report::Reports;
use super::waits::Waits;

/// A chat model at some provider. Object safe: a Rust program adds its own in a few lines.
#[async_trait]
pub trait ChatModel: Send + Sync {
    /// Asks for a reply. The stream ends after [`ChatDelta::Finish`]; dropping it cancels the call.
    ///
    /// # Errors
    /// By kind; before the first delta or within the stream.
    async fn stream(
        &self,
        request: ChatRequest,
        cx: &CallContext,
    ) -> Result<ChatStream, ModelError>;

    /// The kind of provider that is asked and the model there, for traces; `model` is what the flow names. `None` where it
    /// does not know better than the flow.
    fn served_by<'m>(&'m self, _model: &'m str) -> Option<(&'m str, &'m str)> {
        None
    }
}

/// The parts of a reply as they arrive.
pub type ChatStream = Pin<Box<dyn Stream<Item = Result<ChatDelta, ModelError>> + Send>>;

/// What a model is asked.
#[derive(Debug, Clone)]
pub struct ChatRequest {
    /// Name of the model in the flow, for scripts and traces.
    pub model_name: String,
    /// Model at the provider.
    pub model: String,
    /// Messages, the system message first where there is one: maps of the built-in record `message`
    /// (`role`, `content`, `tool_calls`, `tool_call_id`, `name`), shared with the state.
    pub messages: List,
    /// Tools that it may call.
    pub tools: Vec<ToolSpec>,
    /// Whether it must call one.
    pub tool_choice: ToolChoice,
    /// Schema of the reply, where it must be JSON.
    pub output: Option<OutputSpec>,
    /// Sampling temperature.
    pub temperature: Option<f64>,
    /// Nucleus sampling.
    pub top_p: Option<f64>,
    /// Most tokens of the reply.
    pub max_tokens: Option<u32>,
    /// Tokens for thinking.
    pub thinking_budget: Option<u32>,
    /// `low`, `medium`, `high`.
    pub reasoning_effort: Option<String>,
    /// Seed for sampling.
    pub seed: Option<i64>,
    /// Whether the reply is wanted token by token.
    pub stream: bool,
}

/// A tool as a model sees it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ToolSpec {
    /// Its name.
    pub name: String,
    /// Doc comment.
    pub description: String,
    /// JSON Schema of its arguments, an object.
    pub parameters: Json,
}

/// Whether a model must call a tool.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ToolChoice {
    /// It decides.
    #[default]
    Auto,
    /// It may not.
    None,
    /// Any one.
    Required,
    /// This one.
    Tool(String),
}

/// The form that a structured reply must have.
#[derive(Debug, Clone, PartialEq)]
pub struct OutputSpec {
    /// Name of the type.
    pub name: String,
    /// Its JSON Schema.
    pub schema: Json,
}

/// A part of a reply.
#[derive(Debug, Clone, PartialEq)]
pub enum ChatDelta {
    /// More text.
    Text(String),
    /// More of the model's thinking.
    Reasoning(String),
    /// What the provider needs back in the next turn of the conversation, such as a signed thought.
    Opaque {
        /// Kind of the provider; others skip it.
        provider: String,
        /// Its own form.
        data: Json,
    },
    /// A whole tool call. Providers that send them in pieces put them together first.
    ToolCall(ToolCallRequest),
    /// Tokens used so far; the last one counts.
    Usage(Usage),
    /// The reply is whole.
    Finish(FinishReason),
}

/// What the parts of a reply come to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ChatReply {
    /// Its text.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// What its provider needs back.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub opaque: Vec<Opaque>,
    /// Calls that it asks for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCallRequest>,
    /// Tokens.
    pub usage: Usage,
    /// Why it ended; `None` where it has not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finish: Option<FinishReason>,
}

impl ChatReply {
    /// Takes in the next part.
    pub fn add(&mut self, delta: ChatDelta) {
        match delta {
            ChatDelta::Text(text) => self.text.push_str(&text),
            // Thinking is the provider's own; what the flow keeps is the reply.
            ChatDelta::Reasoning(_) => {}
            ChatDelta::Opaque { provider, data } => {
                let at = self.text.len();
                self.opaque.push(Opaque { at, provider, data });
            }
            ChatDelta::ToolCall(call) => self.tool_calls.push(call),
            ChatDelta::Usage(usage) => self.usage = usage,
            ChatDelta::Finish(reason) => self.finish = Some(reason),
        }
    }
}

/// What a provider needs back, at its place in the text of a reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Opaque {
    /// How many bytes of the text stand before it.
    pub at: usize,
    /// Kind of the provider; others skip it.
    pub provider: String,
    /// Its own form.
    pub data: Json,
}

/// A reply as it came: pieces of its text, none of them empty, and what stands between them.
pub fn pieces<'r>(
    text: &'r str,
    opaque: &'r [Opaque],
) -> impl Iterator<Item = Result<&'r str, &'r Opaque>> {
    let ends = opaque.iter().map(|part| (part.at, Some(part)));
    let mut from = 0;
    let all = ends
        .chain([(text.len(), None)])
        .flat_map(move |(at, part)| {
            let piece = text.get(from..at).filter(|piece| !piece.is_empty());
            from = at;
            [piece.map(Ok), part.map(Err)]
        });
    all.flatten()
}

/// A tool call that a model asks for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCallRequest {
    /// The provider's id of the call; empty where it has none.
    pub id: String,
    /// Name of the tool, which may be none of ours.
    pub name: String,
    /// Arguments as the model wrote them: JSON text, perhaps malformed.
    pub arguments: String,
}

/// Tokens of model calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the request, those of a cache included.
    pub input_tokens: u64,
    /// Tokens of the reply, those for thinking included.
    pub output_tokens: u64,
    /// Of the request, those that the provider had in its cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cached_tokens: u64,
    /// Of the request, those that it has put into its cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_write_tokens: u64,
    /// Of the reply, those for thinking.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reasoning_tokens: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Usage {
    /// Both together.
    pub fn total(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

impl std::ops::Sub for Usage {
    type Output = Usage;

    fn sub(self, other: Usage) -> Usage {
        Usage {
            input_tokens: self.input_tokens.saturating_sub(other.input_tokens),
            output_tokens: self.output_tokens.saturating_sub(other.output_tokens),
            cached_tokens: self.cached_tokens.saturating_sub(other.cached_tokens),
            cache_write_tokens: (self.cache_write_tokens).saturating_sub(other.cache_write_tokens),
            reasoning_tokens: self.reasoning_tokens.saturating_sub(other.reasoning_tokens),
        }
    }
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Usage) {
        let counts = [
            (&mut self.input_tokens, other.input_tokens),
            (&mut self.output_tokens, other.output_tokens),
            (&mut self.cached_tokens, other.cached_tokens),
            (&mut self.cache_write_tokens, other.cache_write_tokens),
            (&mut self.reasoning_tokens, other.reasoning_tokens),
        ];
        for (count, more) in counts {
            *count = count.saturating_add(more);
        }
    }
}

/// Where a model or tool call comes from and what bounds it.
#[derive(Debug, Clone)]
pub struct CallContext {
    /// The thread.
    pub thread_id: String,
    /// The run.
    pub run_id: String,
    /// Path of the node, such as `cake_man/editor`.
    pub node: String,
    /// Index of the send that made the task, where one did.
    pub send: Option<u32>,
    /// How many calls of this kind (attempts included) this node path has made before on this thread;
    /// for a tool, how many of this tool.
    pub ordinal: u64,
    /// Attempt at this call, from 1.
    pub attempt: u32,
    /// The same for every attempt at this call, also after a crash; different for every other call.
    pub idempotency_key: String,
    /// Where the call stands among those that are made at the same time: by super-step, node in the order declared, index
    /// of the send and position in the task. Compared entry by entry.
    pub rank: Vec<u64>,
    /// Longest time; the runtime enforces it too.
    pub timeout: Option<Duration>,
    /// Cancelled when the call is to end: as soon as the run is stopped for a model and for a tool that only reads, after the run's
    /// grace ([`CANCEL_GRACE`](super::grace::CANCEL_GRACE)) for any other tool.
    pub cancel: CancellationToken,
    /// Cancelled as soon as the run is stopped. For what a call waits for before it is sent: it has not happened then.
    pub stop: CancellationToken,
    /// For a tool of the standard library, what it works on.
    pub memory: Option<Access>,
    /// For a tool that runs a graph, what the run stands on; none outside of a run.
    pub nested: Option<Nested>,
    /// Where a tool reports while it works; none where it declares no event for that.
    pub reports: Option<Reports>,
    /// Secrets that this run was given, by name. They must not stand in what the call gives.
    pub secrets: Arc<RunSecrets>,
    /// Where a backend says that it waits for its turn, which counts as the time of nothing that is bounded: neither of the
    /// call nor of its node.
    pub waits: Waits,
}

/// Why a model call failed.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct ModelError {
    /// `Timeout`, `RateLimit`, `ServerError`, `Network`, `Auth`, `InvalidRequest`, `InvalidOutput`,
    /// `ContentFilter` or `Cancelled`.
    pub kind: ErrorKind,
    /// The provider's message, without secrets.
    pub message: String,
    /// When the provider wants to be asked again.
    pub retry_after: Option<Duration>,
}

impl ModelError {
    /// An error of that kind.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            retry_after: None,
        }
    }
}
