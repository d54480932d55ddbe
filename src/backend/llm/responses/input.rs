//! The conversation, as items.

use serde_json::{Value as Json, json};

use crate::backend::llm::message::{self, Part};
use crate::project::spec::provider::Kind;
use crate::value::List;

/// The items of a request.
pub fn write(messages: &List) -> Vec<Json> {
    let mut items = Vec::new();
    for message in message::read(messages) {
        match message.role {
            "tool" => items.push(json!({
                "type": "function_call_output", "call_id": message.answers, "output": message.text(),
            })),
            "assistant" => {
                for part in message.parts {
                    match part {
                        Part::Text(text) => items.push(json!({ "role": "assistant", "content": text })),
                        Part::Opaque(provider, item) if provider == Kind::OpenAiResponses.word() => {
                            items.push(item);
                        }
                        Part::Opaque(..) | Part::Image(..) => {}
                        Part::Other(item) => items.push(item),
                    }
                }
                items.extend(message.calls.iter().map(|call| {
                    json!({
                        "type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.text(),
                    })
                }));
            }
            role => {
                let parts = message.parts.into_iter().filter_map(part);
                items.push(json!({ "role": role, "content": parts.collect::<Vec<_>>() }));
            }
        }
    }
    items
}

fn part(part: Part<'_>) -> Option<Json> {
    Some(match part {
        Part::Text(text) => json!({ "type": "input_text", "text": text }),
        Part::Image(url, _) => json!({ "type": "input_image", "image_url": url, "detail": "auto" }),
        Part::Opaque(..) => return None,
        Part::Other(json) => json,
    })
}
