//! The conversation in a request.

use serde_json::{Map as JsonMap, Value as Json, json};

use crate::expr::function::message::parts;
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
    let text = |key: &str| message.get(key).and_then(Value::as_str);
    let role = text("role").unwrap_or("user");
    let calls: Vec<Json> = message
        .get("tool_calls")
        .and_then(Value::as_list)
        .map_or(Vec::new(), |calls| calls.iter().map(call).collect());
    let mut out = JsonMap::new();
    out.insert("role".into(), role.into());
    let content = content(message.get("content"), role);
    // A reply that only calls tools has no content; an empty text is refused by some servers.
    let content = match calls.is_empty() || content != "" {
        true => content,
        false => Json::Null,
    };
    out.insert("content".into(), content);
    if !calls.is_empty() {
        out.insert("tool_calls".into(), Json::Array(calls));
    }
    if role == "tool" {
        let id = text("tool_call_id").unwrap_or("");
        out.insert("tool_call_id".into(), id.into());
    } else if let Some(name) = text("name").filter(|name| !name.is_empty()) {
        out.insert("name".into(), name.into());
    }
    Json::Object(out)
}

/// Text as it is, a list as parts, anything else as JSON text.
fn content(content: Option<&Value>, role: &str) -> Json {
    match content {
        None | Some(Value::Null) => "".into(),
        Some(Value::String(text)) => text.as_ref().into(),
        Some(other) => match parts(other, Some(role)) {
            Some(parts) => parts.iter().map(part).collect(),
            None => other.to_json().to_string().into(),
        },
    }
}

fn part(part: &Value) -> Json {
    match part {
        Value::String(text) => json!({ "type": "text", "text": text.as_ref() }),
        other => other.to_json(),
    }
}

fn call(call: &Value) -> Json {
    let text = |key: &str| call.get(key).and_then(Value::as_str).unwrap_or("");
    let arguments = match call.get("args") {
        None | Some(Value::Null) => "{}".to_owned(),
        // What the model wrote and nobody could read goes back as it was.
        Some(Value::String(written)) => written.to_string(),
        Some(args) => args.to_json().to_string(),
    };
    let function = json!({ "name": text("name"), "arguments": arguments });
    json!({ "id": text("id"), "type": "function", "function": function })
}
