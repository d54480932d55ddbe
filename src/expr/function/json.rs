//! JSON as text.

use crate::value::Value;

use super::Row;
use super::args::{self, Computed};

pub(super) const FUNCTIONS: &[Row] = &[
    Row::global(
        "json_encode",
        &["(T) -> string"],
        encode,
        "The value as JSON, on one line.",
        r#"json_encode({"a": [1, null]}) == '{"a":[1,null]}'"#,
    ),
    Row::global(
        "json_decode",
        &["(string) -> json"],
        decode,
        "The value of a JSON text; an error where it is none.",
        r#"json_decode('{"a": 1}') == {"a": 1}"#,
    ),
];

fn encode(args: &[Value]) -> Computed {
    Ok(args::any(args, 0)?.to_json().to_string().into())
}

fn decode(args: &[Value]) -> Computed {
    serde_json::from_str(args::text(args, 0)?)
        .map(|json| Value::from_json(&json))
        .map_err(|error| format!("the text is no JSON: {error}"))
}
