//! Messages of a conversation.

use crate::value::{List, Map, Value};

use super::Function;
use super::args::{self, Computed};

const SIGNATURES: &[&str] = &["(T) -> message"];

pub(super) const FUNCTIONS: &[Function] = &[
    Function::global(
        "user",
        SIGNATURES,
        |args| message("user", args),
        "A message of the user. The content is a text, or JSON such as a list of parts.",
        r#"user("hello").content == "hello""#,
    )
    .quick(),
    Function::global(
        "ai",
        SIGNATURES,
        |args| message("assistant", args),
        "A message of the model.",
        r#"ai("hi").role == "assistant""#,
    )
    .quick(),
    Function::global(
        "system",
        SIGNATURES,
        |args| message("system", args),
        "An instruction to the model.",
        r#"system("be brief").role == "system""#,
    )
    .quick(),
    Function::global(
        "remove",
        &["(string) -> message"],
        |args| {
            Ok(record(
                "remove",
                Value::Null,
                [("id", args::any(args, 0)?.clone())],
            ))
        },
        "Takes the message with that id out of a field under `add_messages`.",
        r#"remove("m-1").id == "m-1""#,
    )
    .quick(),
];

fn message(role: &str, args: &[Value]) -> Computed {
    Ok(record(role, args::any(args, 0)?.clone(), []))
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
    ]);
    for (key, value) in more {
        map.insert(key, value);
    }
    Value::Map(map)
}
