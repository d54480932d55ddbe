//! Messages of a conversation.

use ::base64::Engine as _;
use ::base64::engine::general_purpose::STANDARD;

use crate::expr::ty::TEXT;
use crate::value::{List, Map, Value};

use super::args::{self, Computed};
use super::{Carries, Compute, Row};

pub(super) const FUNCTIONS: &[Row] = &[
    speaker(
        "user",
        |args| message("user", args),
        "A message of the user. The content is a text, or a list of parts: texts and what `image` gives.",
        r#"user("hello").text == "hello""#,
    ),
    speaker(
        "assistant",
        |args| message("assistant", args),
        "A message of the model.",
        r#"assistant("hi").role == "assistant""#,
    ),
    speaker(
        "ai",
        |args| message("assistant", args),
        "Another name of `assistant`.",
        r#"ai("hi").role == "assistant""#,
    ),
    speaker(
        "system",
        |args| message("system", args),
        "An instruction to the model.",
        r#"system("be brief").role == "system""#,
    ),
    Row::global(
        "tool",
        &["(string, string) -> message"],
        |args| {
            let [text, id] = [args::text(args, 0)?, args::text(args, 1)?]
                .map(|text| Value::String(text.clone()));
            Ok(record("tool", text, [("tool_call_id", id)]))
        },
        "What a tool has answered to the call with that id, as a model reads it.",
        r#"tool("12 degrees", "call-1").tool_call_id == "call-1""#,
    )
    .carries(Carries::Message)
    .quick(),
    Row::global(
        "image",
        &["(string) -> json", "(bytes) -> json"],
        |args| {
            let url = match args::any(args, 0)? {
                Value::Bytes(bytes) => Value::from(data_url(bytes)?),
                _ => Value::String(args::text(args, 0)?.clone()),
            };
            let url = Value::Map(Map::from_iter([("url", url)]));
            let part = [("type", Value::from("image_url")), ("image_url", url)];
            Ok(Value::Map(Map::from_iter(part)))
        },
        "A picture as a part of a message: its address, or its bytes (PNG, JPEG, GIF or WebP).",
        r#"user(["what is this?", image("https://x.org/a.png")]).text == "what is this?""#,
    ),
    Row::global(
        "remove",
        &["(string) -> message"],
        |args| {
            let id = Value::String(args::text(args, 0)?.clone());
            Ok(record("remove", Value::Null, [("id", id)]))
        },
        "Takes the message with that id out of a field under `add_messages`.",
        r#"remove("m-1").id == "m-1""#,
    )
    .quick(),
];

/// A maker of messages of one role.
const fn speaker(
    name: &'static str,
    call: Compute,
    doc: &'static str,
    example: &'static str,
) -> Row {
    Row::global(name, &["(T) -> message"], call, doc, example)
        .carries(Carries::Message)
        .quick()
}

fn message(role: &str, args: &[Value]) -> Computed {
    Ok(record(role, args::any(args, 0)?.clone(), []))
}

/// A picture as an address that holds it.
fn data_url(bytes: &[u8]) -> Result<String, String> {
    let kind = match bytes {
        [0x89, b'P', b'N', b'G', ..] => "png",
        [b'G', b'I', b'F', b'8', ..] => "gif",
        [b'R', b'I', b'F', b'F', rest @ ..] if rest.get(4..8) == Some(b"WEBP") => "webp",
        [0xff, 0xd8, 0xff, ..] => "jpeg",
        _ => return Err("the bytes are no picture (PNG, JPEG, GIF or WebP)".into()),
    };
    Ok(format!(
        "data:image/{kind};base64,{}",
        STANDARD.encode(bytes)
    ))
}

/// A record `message`, every field of which has a value: `more` has those that differ from the
/// defaults.
pub fn record(
    role: &str,
    content: Value,
    more: impl IntoIterator<Item = (&'static str, Value)>,
) -> Value {
    let mut map = Map::from_iter([
        ("id", Value::Null),
        ("role", Value::from(role)),
        ("content", content),
        ("tool_calls", Value::List(List::new())),
        ("tool_call_id", Value::Null),
        ("name", Value::Null),
        ("usage", Value::Null),
        ("finish", Value::Null),
    ]);
    for (key, value) in more {
        map.insert(key, value);
    }
    Value::Map(map)
}

/// A field as expressions and templates read it: what is stored, or the text of a message.
pub(in crate::expr) fn field(map: &Map, name: &str) -> Option<Value> {
    let stored = map.get(name).cloned();
    stored.or_else(|| (name == TEXT && is_message(map)).then(|| Value::String(text(map).into())))
}

fn is_message(map: &Map) -> bool {
    ["role", "content", "tool_calls"]
        .iter()
        .all(|name| map.get(name).is_some())
}

/// The text of a message: its content, or the text parts of it joined. Content that is neither is written as JSON, as a
/// model is shown it.
pub fn text(message: &Map) -> String {
    match message.get("content") {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.to_string(),
        Some(content) => match parts(content, message.get("role").and_then(Value::as_str)) {
            Some(parts) => parts.iter().filter_map(text_of_part).collect(),
            None => content.to_json().to_string(),
        },
    }
}

/// The parts of a content that has some. A tool's result may be a list that is data, not parts.
pub fn parts<'v>(content: &'v Value, role: Option<&str>) -> Option<&'v List> {
    let parts = content.as_list().filter(|_| role != Some("tool"))?;
    let is_part = |part: &Value| {
        part.as_str().is_some() || part.get("type").and_then(Value::as_str).is_some()
    };
    parts.iter().all(is_part).then_some(parts)
}

fn text_of_part(part: &Value) -> Option<&str> {
    part.as_str()
        .or_else(|| part.get("text").and_then(Value::as_str))
}
