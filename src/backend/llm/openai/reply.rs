//! A reply, whole or in chunks.

use serde::Deserialize;
use serde_json::Value as Json;

use crate::backend::llm::protocol::Reader;
use crate::backend::llm::reply_parts::{ReplyParts, count, list, text, unreadable};
use crate::backend::wire::{Failure, Peer};
use crate::run::model::{FinishReason, Usage};

use super::calls::{Calls, Piece};

/// Reads one reply.
#[derive(Default)]
pub struct Completion {
    calls: Calls,
}

impl Reader for Completion {
    fn whole(
        &mut self,
        reply: &Json,
        peer: Peer<'_>,
        reply_parts: &mut ReplyParts,
    ) -> Result<(), Failure> {
        let Some(choice) = reply.pointer("/choices/0") else {
            return Err(unreadable(peer, "it has no choice"));
        };
        let Some(message) = choice.get("message").filter(|message| message.is_object()) else {
            return Err(unreadable(peer, "its choice has no message"));
        };
        self.message(message, peer, reply_parts)?;
        end(text(choice, "/finish_reason"), reply_parts);
        reply_parts.usage_of(reply);
        Ok(())
    }

    fn event(
        &mut self,
        event: &Json,
        peer: Peer<'_>,
        reply_parts: &mut ReplyParts,
    ) -> Result<(), Failure> {
        if !event.is_object() {
            return Err(unreadable(peer, "a chunk is no object"));
        }
        reply_parts.usage_of(event);
        let Some(choice) = event.pointer("/choices/0") else {
            return Ok(());
        };
        reply_parts.begin();
        if let Some(delta) = choice.get("delta") {
            self.message(delta, peer, reply_parts)?;
        }
        let word = text(choice, "/finish_reason");
        if !word.is_empty() {
            end(word, reply_parts);
        }
        Ok(())
    }

    fn close(&mut self, reply_parts: &mut ReplyParts) {
        self.calls.finish().for_each(|call| reply_parts.call(call));
    }
}

impl Completion {
    /// A message, or the part of one that a chunk adds.
    fn message(
        &mut self,
        message: &Json,
        peer: Peer<'_>,
        reply_parts: &mut ReplyParts,
    ) -> Result<(), Failure> {
        // vLLM, llama.cpp and DeepSeek name its thinking one way, Ollama and OpenRouter the other.
        let thought = match text(message, "/reasoning_content") {
            "" => text(message, "/reasoning"),
            thought => thought,
        };
        reply_parts.thought(thought);
        match message.get("content") {
            Some(Json::String(content)) => reply_parts.text(content),
            Some(Json::Array(parts)) => {
                parts
                    .iter()
                    .for_each(|part| reply_parts.text(text(part, "/text")));
            }
            _ => {}
        }
        reply_parts.refusal(text(message, "/refusal"));
        for piece in list(message, "/tool_calls") {
            let piece = Piece::deserialize(piece);
            let piece =
                piece.map_err(|error| unreadable(peer, &format!("a tool call: {error}")))?;
            self.calls.add(piece);
        }
        Ok(())
    }
}

fn end(word: &str, reply_parts: &mut ReplyParts) {
    reply_parts.end(match word {
        "content_filter" => FinishReason::ContentFilter,
        "length" => FinishReason::Length,
        "tool_calls" | "function_call" => FinishReason::ToolCalls,
        _ => FinishReason::Stop,
    });
}

impl ReplyParts {
    /// `usage` of a reply or a chunk, where it has one.
    fn usage_of(&mut self, reply: &Json) {
        if let Some(usage) = reply.get("usage").filter(|usage| usage.is_object()) {
            self.usage(Usage {
                input_tokens: count(usage, "/prompt_tokens"),
                output_tokens: count(usage, "/completion_tokens"),
                cached_tokens: count(usage, "/prompt_tokens_details/cached_tokens"),
                cache_write_tokens: count(usage, "/prompt_tokens_details/cache_write_tokens"),
                reasoning_tokens: count(usage, "/completion_tokens_details/reasoning_tokens"),
            });
        }
    }
}
