//! Messages of a conversation.

use crate::value::{Map, Value};

use super::Function;
use super::args::{self, Computed};

const SIGNATURES: &[&str] = &["(T) -> message"];

pub(super) const FUNCTIONS: &[Function] = &[
    Function::global(
        "user",
        SIGNATURES,
        |args| message("user", args),
        "A message of the user. The content is a text, or JSON such as a list of parts.",
        r#"user("hello") == {"role": "user", "content": "hello"}"#,
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
];

fn message(role: &str, args: &[Value]) -> Computed {
    Ok(Value::Map(Map::from_iter([
        ("role", Value::from(role)),
        ("content", args::any(args, 0)?.clone()),
    ])))
}
