//! What a model has said so far, whatever the protocol.

use std::collections::VecDeque;

use serde_json::Value as Json;

use crate::backend::wire::{Failure, Peer};
use crate::ir::ErrorKind;
use crate::run::model::{ChatDelta, FinishReason, ToolCallRequest, Usage};

use super::form::Form;
use super::schema::unwrapped;
use crate::project::spec::provider::Structured;

/// Parts of a reply that can be given out, and what is held back until it is whole.
#[derive(Debug, Default)]
pub struct ReplyParts {
    ready: VecDeque<ChatDelta>,
    calls: Vec<ToolCallRequest>,
    refusal: String,
    /// Text of a value that is wrapped: given once it is whole.
    held: Option<String>,
    /// The tool whose arguments are the reply.
    tool: Option<String>,
    /// Why the reply ended, once it is known. Usage may come behind it.
    reason: Option<FinishReason>,
    /// Whether nothing follows.
    closed: bool,
    /// Whether anything of a reply has come.
    begun: bool,
}

impl ReplyParts {
    /// Nothing yet, of a reply of that form.
    pub fn new(form: Option<&Form>) -> Self {
        let tool = form.filter(|form| form.way == Structured::Tool);
        Self {
            held: form.filter(|form| form.wrapped).map(|_| String::new()),
            tool: tool.map(|form| form.name.clone()),
            ..Self::default()
        }
    }

    /// More text.
    pub fn text(&mut self, text: &str) {
        self.begun = true;
        match &mut self.held {
            _ if text.is_empty() => {}
            Some(held) => held.push_str(text),
            None => self.ready.push_back(ChatDelta::Text(text.to_owned())),
        }
    }

    /// More of its thinking.
    pub fn thought(&mut self, text: &str) {
        self.begun = true;
        if !text.is_empty() {
            self.ready.push_back(ChatDelta::Reasoning(text.to_owned()));
        }
    }

    /// What the provider needs back in the next turn.
    pub fn opaque(&mut self, provider: &str, data: Json) {
        self.begun = true;
        self.ready.push_back(ChatDelta::Opaque {
            provider: provider.to_owned(),
            data,
        });
    }

    /// A whole call.
    pub fn call(&mut self, mut call: ToolCallRequest) {
        self.begun = true;
        if call.arguments.trim().is_empty() {
            call.arguments = "{}".to_owned();
        }
        self.calls.push(call);
    }

    /// Why it gives no answer.
    pub fn refusal(&mut self, text: &str) {
        self.begun = true;
        self.refusal.push_str(text);
    }

    /// Tokens so far.
    pub fn usage(&mut self, usage: Usage) {
        self.ready.push_back(ChatDelta::Usage(usage));
    }

    /// A reply has begun, or goes on.
    pub fn begin(&mut self) {
        self.begun = true;
    }

    /// The reply has ended, but usage may follow.
    pub fn end(&mut self, reason: FinishReason) {
        self.begun = true;
        self.reason = Some(reason);
    }

    /// Nothing follows.
    pub fn close(&mut self) {
        self.closed = true;
    }

    /// Whether nothing follows.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Whether it is known why the reply ended.
    pub fn has_ended(&self) -> bool {
        self.reason.is_some()
    }

    /// Whether anything of a reply has come.
    pub fn has_begun(&self) -> bool {
        self.begun
    }

    /// The next part that can be given out.
    pub fn pop(&mut self) -> Option<ChatDelta> {
        self.ready.pop_front()
    }

    /// The reply is whole: what was held back is given out.
    ///
    /// # Errors
    /// `ContentFilter` where the model refused.
    pub fn finish(&mut self, peer: Peer<'_>) -> Result<(), Failure> {
        self.closed = true;
        if !self.refusal.is_empty() {
            let message = format!(
                "the model of `{}` refused: {}",
                peer.name,
                peer.secrets.scrub(self.refusal.trim())
            );
            return Err(Failure::new(ErrorKind::ContentFilter, message));
        }
        let mut reason = self.reason.unwrap_or(FinishReason::Stop);
        let mut calls = std::mem::take(&mut self.calls);
        if let Some(tool) = self.tool.take()
            && let Some(at) = calls.iter().position(|call| call.name == tool)
        {
            let reply = calls.swap_remove(at).arguments;
            calls.clear();
            // Words before it are none of the reply.
            self.ready
                .retain(|delta| !matches!(delta, ChatDelta::Text(_)));
            match &mut self.held {
                Some(held) => *held = reply,
                None => self.ready.push_back(ChatDelta::Text(reply)),
            }
            if reason == FinishReason::ToolCalls {
                reason = FinishReason::Stop;
            }
        }
        let held = self.held.take().filter(|held| !held.is_empty());
        let held = held.map(|held| ChatDelta::Text(unwrapped(held)));
        self.ready.extend(held);
        // Calls count whatever the word says: some servers say `stop`.
        if reason == FinishReason::Stop && !calls.is_empty() {
            reason = FinishReason::ToolCalls;
        }
        self.ready
            .extend(calls.into_iter().map(ChatDelta::ToolCall));
        self.ready.push_back(ChatDelta::Finish(reason));
        Ok(())
    }
}

/// A count of tokens, as servers send it: `7.0` is one as well, and what is none counts as nothing. What only counts does not
/// decide whether a reply holds.
pub fn count(of: &Json, place: &str) -> u64 {
    let count = of.pointer(place);
    let whole = count.and_then(Json::as_f64).filter(|count| *count >= 0.0);
    let exact = count.and_then(Json::as_u64);
    exact
        .or(whole.map(|count| count as u64))
        .unwrap_or_default()
}

/// The text at a place of a reply; empty where there is none.
pub fn text<'j>(of: &'j Json, place: &str) -> &'j str {
    of.pointer(place).and_then(Json::as_str).unwrap_or("")
}

/// The list at a place of a reply; empty where there is none.
pub fn list<'j>(of: &'j Json, place: &str) -> &'j [Json] {
    let list = of.pointer(place).and_then(Json::as_array);
    list.map_or(&[], Vec::as_slice)
}

/// A reply that is none.
pub fn unreadable(peer: Peer<'_>, why: &str) -> Failure {
    let message = format!("`{}` sent a reply that can't be read: {why}", peer.name);
    Failure::server(message)
}
