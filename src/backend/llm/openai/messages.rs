//! The conversation in a request.

use serde_json::{Map as JsonMap, Value as Json, json};

use crate::backend::llm::message::{self, Call, Message, Part};
use crate::run::model::ToolSpec;
use crate::value::{List, Value};

/// A tool as a request shows it.
pub fn tool(tool: &ToolSpec) -> Json {
    json!({ "type": "function", "function": tool })
}

/// The messages of a request; their `id`, `usage` and `finish` are ours alone and stay here.
pub fn write(messages: &List) -> Vec<Json> {
    messages.iter().map(message).collect()
}

/// A message as a request has it.
pub fn message(message: &Value) -> Json {
    let Message {
        role,
        parts,
        calls,
        answers,
        name,
    } = message::message(message);
    let mut out = JsonMap::new();
    out.insert("role".into(), role.into());
    // A reply that only calls tools has no content; an empty text is refused by some servers.
    let content = match content(parts) {
        content if content == "" && !calls.is_empty() => Json::Null,
        content => content,
    };
    out.insert("content".into(), content);
    if !calls.is_empty() {
        out.insert("tool_calls".into(), calls.iter().map(call).collect());
    }
    if role == "tool" {
        out.insert("tool_call_id".into(), answers.into());
    } else if !name.is_empty() {
        out.insert("name".into(), name.into());
    }
    Json::Object(out)
}

/// Text alone as it is, which every server takes, and parts as a list. What another provider needs back is left out.
fn content(parts: Vec<Part<'_>>) -> Json {
    let opaque = |part: &Part<'_>| matches!(part, Part::Opaque(..));
    let (opaque, parts): (Vec<_>, Vec<_>) = parts.into_iter().partition(opaque);
    let texts = parts.iter().map(|part| match part {
        Part::Text(text) => Some(text.as_ref()),
        _ => None,
    });
    let texts: Option<Vec<&str>> = texts.collect();
    match texts {
        Some(texts) if texts.len() < 2 || !opaque.is_empty() => texts.concat().into(),
        _ => parts.into_iter().map(part).collect(),
    }
}

fn part(part: Part<'_>) -> Json {
    match part {
        Part::Text(text) => json!({ "type": "text", "text": text }),
        Part::Image(_, whole) => whole.to_json(),
        Part::Opaque(_, json) | Part::Other(json) => json,
    }
}

fn call(call: &Call<'_>) -> Json {
    let function = json!({ "name": call.name, "arguments": call.text() });
    json!({ "id": call.id, "type": "function", "function": function })
}
