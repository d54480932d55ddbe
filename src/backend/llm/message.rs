//! Messages as protocols write them: of what parts, with which calls.

use std::borrow::Cow;

use serde_json::{Value as Json, json};

use crate::expr::function::message::parts;
use crate::value::{List, Value};

/// A message of a request.
#[derive(Debug, Clone, PartialEq)]
pub struct Message<'m> {
    /// `system`, `user`, `assistant` or `tool`.
    pub role: &'m str,
    /// Its content, without empty texts.
    pub parts: Vec<Part<'m>>,
    /// Calls of an assistant.
    pub calls: Vec<Call<'m>>,
    /// The call that a tool's message answers.
    pub answers: &'m str,
    /// Who speaks; of a tool's message, its tool. May be empty.
    pub name: &'m str,
}

/// A part of a content.
#[derive(Debug, Clone, PartialEq)]
pub enum Part<'m> {
    /// A text.
    Text(Cow<'m, str>),
    /// A picture: an address, which may hold it.
    Image(&'m str, &'m Value),
    /// What a provider of that kind has given and needs back.
    Opaque(&'m str, Json),
    /// A part of a provider's own, given as it is.
    Other(Json),
}

/// A call in an assistant's message.
#[derive(Debug, Clone, PartialEq)]
pub struct Call<'m> {
    /// Its id.
    pub id: &'m str,
    /// The tool.
    pub name: &'m str,
    /// Its arguments; a text is what the model wrote and nobody could read.
    pub args: Json,
}

impl Call<'_> {
    /// The arguments as a model writes them.
    pub fn text(&self) -> String {
        match &self.args {
            Json::Null => "{}".to_owned(),
            Json::String(written) => written.clone(),
            args => args.to_string(),
        }
    }

    /// The arguments as an object, for protocols that take nothing else.
    pub fn object(self) -> Json {
        match self.args {
            Json::Object(_) => self.args,
            Json::Null => json!({}),
            other => json!({ "arguments": other }),
        }
    }
}

/// Reads the messages of a request.
pub fn read(messages: &List) -> impl Iterator<Item = Message<'_>> {
    messages.iter().map(message)
}

/// Reads one.
pub fn message(message: &Value) -> Message<'_> {
    let text = |key: &str| message.get(key).and_then(Value::as_str);
    let role = text("role").unwrap_or("user");
    let calls = message.get("tool_calls").and_then(Value::as_list);
    Message {
        role,
        parts: content(message.get("content"), role),
        calls: calls.map_or(Vec::new(), |calls| calls.iter().map(call).collect()),
        answers: text("tool_call_id").unwrap_or(""),
        name: text("name").unwrap_or(""),
    }
}

impl Message<'_> {
    /// All of its texts as one.
    pub fn text(&self) -> String {
        let texts = self.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.as_ref()),
            _ => None,
        });
        texts.collect()
    }
}

fn content<'m>(content: Option<&'m Value>, role: &str) -> Vec<Part<'m>> {
    let whole = match content {
        None | Some(Value::Null) => return Vec::new(),
        Some(Value::String(text)) => Part::Text(Cow::Borrowed(text)),
        Some(other) => match parts(other, Some(role)) {
            Some(parts) => {
                return parts
                    .iter()
                    .map(part)
                    .filter(|part| !is_empty(part))
                    .collect();
            }
            None => Part::Text(Cow::Owned(other.to_json().to_string())),
        },
    };
    match is_empty(&whole) {
        true => Vec::new(),
        false => vec![whole],
    }
}

fn is_empty(part: &Part<'_>) -> bool {
    matches!(part, Part::Text(text) if text.is_empty())
}

fn part(part: &Value) -> Part<'_> {
    if let Some(text) = part.as_str() {
        return Part::Text(Cow::Borrowed(text));
    }
    let text = |key: &str| part.get(key).and_then(Value::as_str);
    let image = || part.get("image_url")?.get("url")?.as_str();
    match text("type") {
        Some("text") if text("text").is_some() => {
            Part::Text(Cow::Borrowed(text("text").unwrap_or("")))
        }
        Some("image_url") if image().is_some() => Part::Image(image().unwrap_or(""), part),
        Some("opaque") => {
            let data = part.get("data").map_or(Json::Null, Value::to_json);
            Part::Opaque(text("provider").unwrap_or(""), data)
        }
        _ => Part::Other(part.to_json()),
    }
}

fn call(call: &Value) -> Call<'_> {
    let text = |key: &str| call.get(key).and_then(Value::as_str).unwrap_or("");
    Call {
        id: text("id"),
        name: text("name"),
        args: call.get("args").map_or(Json::Null, Value::to_json),
    }
}

/// Media type and base64 of an address that holds what it names: `data:image/png;base64,..`.
pub fn held(address: &str) -> Option<(&str, &str)> {
    address.strip_prefix("data:")?.split_once(";base64,")
}
