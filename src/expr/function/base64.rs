//! `base64.encode` and `base64.decode`: bytes as text. CEL's encoders extension.

use ::base64::Engine;
use ::base64::alphabet::STANDARD as ALPHABET;
use ::base64::engine::general_purpose::STANDARD;
use ::base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use crate::value::{MAX_TEXT, TEXT_TOO_LONG, Value};

use super::Row;
use super::args::{self, Computed};

pub(super) const FUNCTIONS: &[Row] = &[
    Row::global(
        "base64.encode",
        &["(bytes) -> string"],
        encode,
        "The bytes as text, in base64 with padding.",
        r#"base64.encode(bytes("hello")) == "aGVsbG8=""#,
    ),
    Row::global(
        "base64.decode",
        &["(string) -> bytes"],
        decode,
        "The bytes that a text in base64 stands for, with padding or without; an error where it is none.",
        r#"string(base64.decode("aGVsbG8")) == "hello""#,
    ),
];

/// The usual letters; padding may be left out.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &ALPHABET,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

fn encode(args: &[Value]) -> Computed {
    match args::any(args, 0)? {
        // Four letters for three bytes.
        Value::Bytes(bytes) if bytes.len() / 3 * 4 > MAX_TEXT => Err(TEXT_TOO_LONG.to_owned()),
        Value::Bytes(bytes) => Ok(STANDARD.encode(bytes).into()),
        other => Err(args::expected("`bytes`", other)),
    }
}

fn decode(args: &[Value]) -> Computed {
    let text = args::text(args, 0)?;
    match LENIENT.decode(text.as_bytes()) {
        Ok(bytes) => Ok(Value::Bytes(bytes.into())),
        Err(_) => Err("the text is not in base64".into()),
    }
}
