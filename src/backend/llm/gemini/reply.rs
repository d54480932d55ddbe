//! A reply, whole or in chunks of the same form.

use serde_json::{Value as Json, json};

use crate::backend::llm::message;
use crate::backend::llm::protocol::Reader;
use crate::backend::llm::reply_parts::{ReplyParts, count, list, text, unreadable};
use crate::backend::wire::{Failure, Peer};
use crate::ir::ErrorKind;
use crate::project::spec::provider::Kind;
use crate::run::model::{ChatRequest, FinishReason, ToolCallRequest, Usage};

/// Reads one reply.
pub struct Candidate {
    /// Number of the next call that has no id.
    calls: u64,
}

/// What the id of a call begins with that has none of its own; its number follows.
const MADE_UP: &str = "call_";

impl Candidate {
    /// Of the reply to a request. The ids that it makes up follow those of the conversation.
    pub fn of(request: &ChatRequest) -> Self {
        let messages = message::read(&request.messages);
        let calls = messages.flat_map(|message| message.calls);
        let numbers = calls.filter_map(|call| call.id.strip_prefix(MADE_UP)?.parse::<u64>().ok());
        Self {
            calls: numbers.max().map_or(0, |last| last.saturating_add(1)),
        }
    }
}

impl Reader for Candidate {
    fn whole(
        &mut self,
        reply: &Json,
        peer: Peer<'_>,
        reply_parts: &mut ReplyParts,
    ) -> Result<(), Failure> {
        self.event(reply, peer, reply_parts)?;
        match reply_parts.has_begun() {
            true => Ok(()),
            false => Err(unreadable(peer, "it has no candidate")),
        }
    }

    fn event(
        &mut self,
        event: &Json,
        peer: Peer<'_>,
        reply_parts: &mut ReplyParts,
    ) -> Result<(), Failure> {
        if let Some(usage) = event.get("usageMetadata") {
            let thoughts = count(usage, "/thoughtsTokenCount");
            reply_parts.usage(Usage {
                input_tokens: count(usage, "/promptTokenCount"),
                output_tokens: count(usage, "/candidatesTokenCount").saturating_add(thoughts),
                cached_tokens: count(usage, "/cachedContentTokenCount"),
                cache_write_tokens: 0,
                reasoning_tokens: thoughts,
            });
        }
        let blocked = text(event, "/promptFeedback/blockReason");
        if !blocked.is_empty() {
            let message = format!(
                "`{}` refused the request for its content: {blocked}",
                peer.name
            );
            return Err(Failure::new(ErrorKind::ContentFilter, message));
        }
        let Some(candidate) = event.pointer("/candidates/0") else {
            return Ok(());
        };
        reply_parts.begin();
        for part in list(candidate, "/content/parts") {
            self.part(part, reply_parts);
        }
        let reason = text(candidate, "/finishReason");
        match reason {
            "" => {}
            // What the model wrote is no call; another attempt may be.
            "MALFORMED_FUNCTION_CALL"
            | "UNEXPECTED_TOOL_CALL"
            | "TOO_MANY_TOOL_CALLS"
            | "MISSING_THOUGHT_SIGNATURE" => {
                let why = text(candidate, "/finishMessage");
                let message = format!("the model of `{}` ended with {reason}: {why}", peer.name);
                let message = message.trim_end_matches([':', ' ']);
                return Err(Failure::new(ErrorKind::InvalidOutput, message));
            }
            "MAX_TOKENS" => reply_parts.end(FinishReason::Length),
            "SAFETY" | "RECITATION" | "LANGUAGE" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII"
            | "MODEL_ARMOR" => reply_parts.end(FinishReason::ContentFilter),
            _ if reason.starts_with("IMAGE_") => reply_parts.end(FinishReason::ContentFilter),
            _ => reply_parts.end(FinishReason::Stop),
        }
        Ok(())
    }
}

impl Candidate {
    fn part(&mut self, part: &Json, reply_parts: &mut ReplyParts) {
        let thought = part.get("thought") == Some(&Json::Bool(true));
        match thought {
            true => reply_parts.thought(text(part, "/text")),
            false => reply_parts.text(text(part, "/text")),
        }
        let signature = part.get("thoughtSignature").filter(|_| !thought);
        let Some(call) = part.get("functionCall") else {
            if let Some(signature) = signature {
                reply_parts.opaque(
                    Kind::Gemini.word(),
                    json!({ "thoughtSignature": signature }),
                );
            }
            return;
        };
        // Servers of earlier models number none; a result must name its call.
        let id = match text(call, "/id") {
            "" => {
                let number = self.calls;
                self.calls = number.saturating_add(1);
                format!("{MADE_UP}{number}")
            }
            id => id.to_owned(),
        };
        if let Some(signature) = signature {
            let data = json!({ "call": id, "thoughtSignature": signature });
            reply_parts.opaque(Kind::Gemini.word(), data);
        }
        reply_parts.call(ToolCallRequest {
            id,
            name: text(call, "/name").to_owned(),
            arguments: call.get("args").map_or(String::new(), Json::to_string),
        });
    }
}
