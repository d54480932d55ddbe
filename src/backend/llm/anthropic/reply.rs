//! A reply: its blocks, whole or as events.

use std::collections::BTreeMap;

use serde_json::{Map as JsonMap, Value as Json};

use crate::backend::llm::protocol::Reader;
use crate::backend::llm::reply_parts::{ReplyParts, count, list, text, unreadable};
use crate::backend::wire::{Failure, Peer};
use crate::project::spec::provider::Kind;
use crate::run::model::{FinishReason, ToolCallRequest, Usage};

/// Reads one reply.
#[derive(Default)]
pub struct Message {
    /// Blocks under way, by index.
    open: BTreeMap<u64, Block>,
    /// Counts so far: the end of a stream has only some of them.
    usage: JsonMap<String, Json>,
}

/// A block as it began, and what was added to it.
struct Block {
    begun: Json,
    input: String,
    thinking: String,
    signature: String,
}

impl Reader for Message {
    fn whole(
        &mut self,
        reply: &Json,
        peer: Peer<'_>,
        reply_parts: &mut ReplyParts,
    ) -> Result<(), Failure> {
        if !reply.get("content").is_some_and(Json::is_array) {
            return Err(unreadable(peer, "it has no `content`"));
        }
        for block in list(reply, "/content") {
            reply_parts.text(text(block, "/text"));
            reply_parts.thought(text(block, "/thinking"));
            whole(block.clone(), None, reply_parts);
        }
        self.count(reply.get("usage"), reply_parts);
        end(text(reply, "/stop_reason"), reply_parts);
        Ok(())
    }

    fn event(
        &mut self,
        event: &Json,
        peer: Peer<'_>,
        reply_parts: &mut ReplyParts,
    ) -> Result<(), Failure> {
        let index = || event.get("index").and_then(Json::as_u64).unwrap_or(0);
        match text(event, "/type") {
            "message_start" => {
                reply_parts.begin();
                self.count(event.pointer("/message/usage"), reply_parts);
            }
            "content_block_start" => {
                let begun = event.get("content_block").cloned().unwrap_or_default();
                reply_parts.text(text(&begun, "/text"));
                let block = Block {
                    thinking: text(&begun, "/thinking").to_owned(),
                    signature: text(&begun, "/signature").to_owned(),
                    input: String::new(),
                    begun,
                };
                self.open.insert(index(), block);
            }
            "content_block_delta" => {
                reply_parts.text(text(event, "/delta/text"));
                reply_parts.thought(text(event, "/delta/thinking"));
                if let Some(block) = self.open.get_mut(&index()) {
                    block.input.push_str(text(event, "/delta/partial_json"));
                    block.thinking.push_str(text(event, "/delta/thinking"));
                    block.signature.push_str(text(event, "/delta/signature"));
                }
            }
            "content_block_stop" => {
                if let Some(block) = self.open.remove(&index()) {
                    block.end(reply_parts);
                }
            }
            "message_delta" => {
                self.count(event.get("usage"), reply_parts);
                let reason = text(event, "/delta/stop_reason");
                if !reason.is_empty() {
                    end(reason, reply_parts);
                }
            }
            "message_stop" => match reply_parts.has_ended() {
                true => reply_parts.close(),
                false => return Err(unreadable(peer, "it has no `stop_reason`")),
            },
            "error" => return Err(Failure::reported(peer, event)),
            _ => {}
        }
        Ok(())
    }
}

impl Block {
    fn end(self, reply_parts: &mut ReplyParts) {
        let mut block = self.begun;
        if let Some(entries) = block.as_object_mut()
            && entries.get("type").is_some_and(|ty| ty == "thinking")
        {
            entries.insert("thinking".to_owned(), self.thinking.into());
            entries.insert("signature".to_owned(), self.signature.into());
        }
        whole(block, Some(self.input), reply_parts);
    }
}

/// A block that is whole, but for its text, which was said. `input` are the arguments of a call, where they came in pieces.
fn whole(block: Json, input: Option<String>, reply_parts: &mut ReplyParts) {
    match text(&block, "/type") {
        "tool_use" => {
            let begun = block
                .get("input")
                .filter(|input| **input != serde_json::json!({}));
            let input = input.filter(|input| !input.is_empty());
            reply_parts.call(ToolCallRequest {
                id: text(&block, "/id").to_owned(),
                name: text(&block, "/name").to_owned(),
                arguments: input.or(begun.map(Json::to_string)).unwrap_or_default(),
            });
        }
        // Without a signature it can't be shown again.
        "thinking" if text(&block, "/signature").is_empty() => {}
        "thinking" | "redacted_thinking" => reply_parts.opaque(Kind::Anthropic.word(), block),
        _ => {}
    }
}

fn end(reason: &str, reply_parts: &mut ReplyParts) {
    reply_parts.end(match reason {
        "max_tokens" | "model_context_window_exceeded" => FinishReason::Length,
        "tool_use" => FinishReason::ToolCalls,
        "refusal" => FinishReason::ContentFilter,
        _ => FinishReason::Stop,
    });
}

impl Message {
    /// Takes in counts. What is read from the cache and written to it counts as input here, as with other providers.
    fn count(&mut self, usage: Option<&Json>, reply_parts: &mut ReplyParts) {
        let Some(usage) = usage.and_then(Json::as_object) else {
            return;
        };
        let known = usage.iter().filter(|(_, count)| !count.is_null());
        self.usage
            .extend(known.map(|(name, count)| (name.clone(), count.clone())));
        let usage = Json::Object(self.usage.clone());
        let cached = count(&usage, "/cache_read_input_tokens");
        let written = count(&usage, "/cache_creation_input_tokens");
        let fresh = count(&usage, "/input_tokens");
        reply_parts.usage(Usage {
            input_tokens: fresh.saturating_add(cached).saturating_add(written),
            output_tokens: count(&usage, "/output_tokens"),
            cached_tokens: cached,
            cache_write_tokens: written,
            reasoning_tokens: 0,
        });
    }
}
