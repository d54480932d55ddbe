//! A reply: its items, whole or as events.

use serde_json::Value as Json;

use crate::backend::llm::protocol::Reader;
use crate::backend::llm::reply_parts::{ReplyParts, count, list, text, unreadable};
use crate::backend::wire::{Failure, Peer};
use crate::project::spec::provider::Kind;
use crate::run::model::{FinishReason, ToolCallRequest, Usage};

/// Reads one reply.
#[derive(Default)]
pub struct Response {
    /// Whether items came by themselves; the whole reply behind them has them again.
    items: bool,
    /// Whether texts came in pieces; their items have them again.
    pieces: bool,
}

impl Reader for Response {
    fn whole(
        &mut self,
        reply: &Json,
        peer: Peer<'_>,
        reply_parts: &mut ReplyParts,
    ) -> Result<(), Failure> {
        if !reply.get("output").is_some_and(Json::is_array) {
            return Err(unreadable(peer, "it has no `output`"));
        }
        self.end(reply, peer, reply_parts)
    }

    fn event(
        &mut self,
        event: &Json,
        peer: Peer<'_>,
        reply_parts: &mut ReplyParts,
    ) -> Result<(), Failure> {
        let delta = text(event, "/delta");
        match text(event, "/type") {
            "response.output_text.delta" => {
                self.pieces = true;
                reply_parts.text(delta);
            }
            "response.refusal.delta" => {
                self.pieces = true;
                reply_parts.refusal(delta);
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                reply_parts.thought(delta);
            }
            "response.output_item.done" => {
                self.items = true;
                if let Some(item) = event.get("item") {
                    self.item(item, reply_parts);
                }
            }
            "response.completed" | "response.incomplete" | "response.failed" => {
                let response = event.get("response").unwrap_or(event);
                self.end(response, peer, reply_parts)?;
                reply_parts.close();
            }
            "error" => return Err(Failure::reported(peer, event)),
            _ => {}
        }
        Ok(())
    }
}

impl Response {
    fn item(&mut self, item: &Json, reply_parts: &mut ReplyParts) {
        match text(item, "/type") {
            "message" if !self.pieces => {
                for part in list(item, "/content") {
                    reply_parts.text(text(part, "/text"));
                    reply_parts.refusal(text(part, "/refusal"));
                }
            }
            "function_call" => reply_parts.call(ToolCallRequest {
                id: text(item, "/call_id").to_owned(),
                name: text(item, "/name").to_owned(),
                arguments: text(item, "/arguments").to_owned(),
            }),
            // Without its encrypted content the server would look for one that it has not stored.
            "reasoning" if !text(item, "/encrypted_content").is_empty() => {
                let mut item = item.clone();
                if let Some(item) = item.as_object_mut() {
                    item.remove("status");
                }
                reply_parts.opaque(Kind::OpenAiResponses.word(), item);
            }
            _ => {}
        }
    }

    /// The reply as a whole, at its end.
    fn end(
        &mut self,
        response: &Json,
        peer: Peer<'_>,
        reply_parts: &mut ReplyParts,
    ) -> Result<(), Failure> {
        if let Some(usage) = response.get("usage").filter(|usage| usage.is_object()) {
            reply_parts.usage(Usage {
                input_tokens: count(usage, "/input_tokens"),
                output_tokens: count(usage, "/output_tokens"),
                cached_tokens: count(usage, "/input_tokens_details/cached_tokens"),
                cache_write_tokens: 0,
                reasoning_tokens: count(usage, "/output_tokens_details/reasoning_tokens"),
            });
        }
        if response.get("error").is_some_and(|error| !error.is_null()) {
            return Err(Failure::reported(peer, response));
        }
        let status = text(response, "/status");
        if matches!(status, "failed" | "cancelled") {
            let message = format!("`{}` ended its reply as {status}", peer.name);
            return Err(Failure::server(message));
        }
        if !self.items {
            list(response, "/output")
                .iter()
                .for_each(|item| self.item(item, reply_parts));
        }
        reply_parts.end(match text(response, "/incomplete_details/reason") {
            "max_output_tokens" => FinishReason::Length,
            "content_filter" => FinishReason::ContentFilter,
            _ => FinishReason::Stop,
        });
        Ok(())
    }
}
