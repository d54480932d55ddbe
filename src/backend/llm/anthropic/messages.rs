//! The conversation: turns of the user and the assistant, one after the other.

use serde_json::{Value as Json, json};

use crate::backend::llm::message::{self, Call, Message, Part, held};
use crate::project::spec::provider::Kind;
use crate::value::List;

/// What a request says of a conversation.
#[derive(Debug, Default)]
pub struct Conversation {
    /// All system messages, as blocks.
    pub system: Vec<Json>,
    /// Turns: a role and its blocks. Results of tools are the user's.
    pub turns: Vec<(&'static str, Vec<Json>)>,
}

impl Conversation {
    /// That of a request.
    pub fn of(messages: &List) -> Self {
        let mut conversation = Self::default();
        for message in message::read(messages) {
            conversation.add(message);
        }
        conversation
    }

    fn add(&mut self, message: Message<'_>) {
        match message.role {
            "system" => self
                .system
                .extend(message.parts.into_iter().filter_map(block)),
            "tool" => {
                let content = message.parts.into_iter().filter_map(block);
                let result = json!({
                    "type": "tool_result",
                    "tool_use_id": id(message.answers),
                    "content": content.collect::<Vec<_>>(),
                });
                self.turn("user", vec![result]);
            }
            "assistant" => {
                let parts = message.parts.into_iter().filter_map(block);
                let blocks = parts.chain(message.calls.into_iter().map(call));
                self.turn("assistant", blocks.collect());
            }
            _ => {
                let blocks = message.parts.into_iter().filter_map(block);
                self.turn("user", blocks.collect());
            }
        }
    }

    /// Adds to the last turn, where that is of the same role: all results of a turn must stand in one.
    fn turn(&mut self, role: &'static str, blocks: Vec<Json>) {
        if blocks.is_empty() {
            return;
        }
        match self.turns.last_mut() {
            Some((last, all)) if *last == role => all.extend(blocks),
            _ => self.turns.push((role, blocks)),
        }
    }

    /// Whether the model may think: a turn that it is in, because tools were called, must have begun with signed thinking, and
    /// has none where another model made it.
    pub fn may_think(&self) -> bool {
        let is = |block: &Json, kind: &str| block.get("type").is_some_and(|ty| ty == kind);
        let asked = |(role, blocks): &(&str, Vec<Json>)| {
            *role == "user" && !blocks.iter().any(|block| is(block, "tool_result"))
        };
        let in_turn = self.turns.iter().rev().take_while(|turn| !asked(turn));
        let mut said = in_turn.filter(|(role, _)| *role == "assistant");
        let signed = |blocks: &[Json]| {
            let first = blocks.first();
            first.is_some_and(|block| is(block, "thinking") || is(block, "redacted_thinking"))
        };
        said.all(|(_, blocks)| signed(blocks))
    }
}

fn block(part: Part<'_>) -> Option<Json> {
    Some(match part {
        // A text of blanks alone is refused.
        Part::Text(text) if text.trim().is_empty() => return None,
        Part::Text(text) => json!({ "type": "text", "text": text }),
        Part::Image(url, _) => {
            let source = match held(url) {
                Some((kind, data)) => json!({ "type": "base64", "media_type": kind, "data": data }),
                None => json!({ "type": "url", "url": url }),
            };
            json!({ "type": "image", "source": source })
        }
        Part::Opaque(provider, block) if provider == Kind::Anthropic.word() => block,
        Part::Opaque(..) => return None,
        Part::Other(block) => block,
    })
}

fn call(call: Call<'_>) -> Json {
    let (id, name) = (id(call.id), call.name);
    json!({ "type": "tool_use", "id": id, "name": name, "input": call.object() })
}

/// An id as the server takes it, also of a call that another provider has made: letters, digits, `_` and `-`.
fn id(id: &str) -> String {
    let allowed = |c: char| match c.is_ascii_alphanumeric() || c == '-' {
        true => c,
        false => '_',
    };
    id.chars().map(allowed).collect()
}
