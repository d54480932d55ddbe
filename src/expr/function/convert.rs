//! Conversions: `int uint float double string bytes bool timestamp duration dyn type required`.

use crate::expr::eval::brief;
use crate::value::{Value, show_duration};

use super::args::{self, Computed};
use super::{Carries, Row};
use super::{span, time};

pub(super) const FUNCTIONS: &[Row] = &[
    Row::global(
        "int",
        &[
            "(int) -> int",
            "(uint) -> int",
            "(float) -> int",
            "(string) -> int",
            "(timestamp) -> int",
            "(json) -> int",
        ],
        int,
        "A whole number of a number (a fraction is cut off), a text, or a timestamp (seconds since 1970).",
        r#"int("-3") + int(2.9) == -1"#,
    )
    .carries(Carries::Number),
    Row::global(
        "uint",
        &[
            "(uint) -> uint",
            "(int) -> uint",
            "(float) -> uint",
            "(string) -> uint",
            "(json) -> uint",
        ],
        uint,
        "An unsigned number of a number or a text.",
        r#"uint("3") == 3u"#,
    )
    .carries(Carries::Number),
    Row::global(
        "float",
        &[
            "(float) -> float",
            "(int) -> float",
            "(uint) -> float",
            "(string) -> float",
            "(json) -> float",
        ],
        float,
        "A `float` of a number or a text.",
        "float(3) / 2.0 == 1.5",
    )
    .carries(Carries::Number),
    Row::global(
        "double",
        &[
            "(float) -> float",
            "(int) -> float",
            "(uint) -> float",
            "(string) -> float",
            "(json) -> float",
        ],
        float,
        "CEL's name of `float`.",
        r#"double("1.5") == 1.5"#,
    )
    .carries(Carries::Number),
    Row::global(
        "string",
        &[
            "(string) -> string",
            "(bool) -> string",
            "(int) -> string",
            "(uint) -> string",
            "(float) -> string",
            "(bytes) -> string",
            "(timestamp) -> string",
            "(duration) -> string",
            "(type) -> string",
            "(json) -> string",
        ],
        string,
        "The text of a number, a bool, `bytes` in UTF-8, a timestamp (RFC 3339) or a duration (seconds).",
        r#"string(1.5) + string(true) == "1.5true""#,
    ),
    Row::global(
        "bytes",
        &["(string) -> bytes", "(bytes) -> bytes", "(json) -> bytes"],
        bytes,
        "The UTF-8 bytes of a text.",
        r#"size(bytes("é")) == 2"#,
    ),
    Row::global(
        "bool",
        &["(bool) -> bool", "(string) -> bool", "(json) -> bool"],
        bool,
        "A bool of a text such as `true` or `false`.",
        r#"bool("true")"#,
    )
    .carries(Carries::Nothing),
    Row::global(
        "timestamp",
        &[
            "(timestamp) -> timestamp",
            "(string) -> timestamp",
            "(int) -> timestamp",
            "(json) -> timestamp",
        ],
        timestamp,
        "A point in time, of RFC 3339 text or of seconds since 1970.",
        r#"timestamp("1970-01-01T00:01:00Z") == timestamp(60)"#,
    )
    .carries(Carries::Number),
    Row::global(
        "duration",
        &[
            "(duration) -> duration",
            "(string) -> duration",
            "(json) -> duration",
        ],
        duration,
        "A span of time, of text such as `1h30m`, `-1.5s` or `20ms`.",
        r#"duration("1h30m") == duration("5400s")"#,
    )
    .carries(Carries::Number),
    Row::global(
        "dyn",
        &["(T) -> json"],
        |args| args::any(args, 0).cloned(),
        "The value itself, of no particular type.",
        "dyn(1) == 1.0",
    )
    .carries(Carries::Same)
    .quick(),
    Row::global(
        "type",
        &["(T) -> type"],
        type_of,
        "The type of a value.",
        "type(1) == int",
    )
    .carries(Carries::Nothing)
    .quick(),
    Row::global(
        "required",
        &["(T?) -> T"],
        required,
        "The value of a `T?`; an error where it is null.",
        "required(1) == 1",
    )
    .carries(Carries::Same)
    .quick(),
];

fn int(args: &[Value]) -> Computed {
    let value = args::any(args, 0)?;
    let int = match value {
        Value::Int(i) => Some(*i),
        Value::Uint(u) => i64::try_from(*u).ok(),
        // Both ends are excluded: the nearest floats to them lie outside.
        Value::Float(f) if *f > i64::MIN as f64 && *f < i64::MAX as f64 => Some(*f as i64),
        Value::Float(_) => None,
        Value::String(text) => return parse(text, "an `int`").map(Value::Int),
        Value::Timestamp(t) => Some(time::seconds(*t)),
        other => return Err(args::expected("a number, text or timestamp", other)),
    };
    int.map(Value::Int)
        .ok_or_else(|| format!("`{value:?}` is out of range"))
}

fn uint(args: &[Value]) -> Computed {
    let value = args::any(args, 0)?;
    let uint = match value {
        Value::Uint(u) => Some(*u),
        Value::Int(i) => u64::try_from(*i).ok(),
        Value::Float(f) if *f >= 0.0 && *f < u64::MAX as f64 => Some(*f as u64),
        Value::Float(_) => None,
        Value::String(text) => return parse(text, "a `uint`").map(Value::Uint),
        other => return Err(args::expected("a number or text", other)),
    };
    uint.map(Value::Uint)
        .ok_or_else(|| format!("`{value:?}` is out of range"))
}

fn parse<T: std::str::FromStr>(text: &str, what: &str) -> Result<T, String> {
    text.parse()
        .map_err(|_| format!("the text {} is not {what}", quoted(text)))
}

/// A text as it would be written, cut where it is long.
pub(super) fn quoted(text: &str) -> String {
    brief(&Value::text(text))
}

fn float(args: &[Value]) -> Computed {
    match args::any(args, 0)? {
        Value::Float(f) => Ok(Value::Float(*f)),
        Value::Int(i) => Ok(Value::Float(*i as f64)),
        Value::Uint(u) => Ok(Value::Float(*u as f64)),
        Value::String(text) => parse(text, "a `float`").map(Value::Float),
        other => Err(args::expected("a number or text", other)),
    }
}

fn string(args: &[Value]) -> Computed {
    Ok(match args::any(args, 0)? {
        text @ Value::String(_) => text.clone(),
        Value::Bool(b) => b.to_string().into(),
        Value::Int(i) => i.to_string().into(),
        Value::Uint(u) => u.to_string().into(),
        Value::Float(f) => show_float(*f).into(),
        Value::Bytes(bytes) => std::str::from_utf8(bytes)
            .map_err(|_| "the bytes are not UTF-8")?
            .into(),
        Value::Timestamp(t) => t.to_string().into(),
        Value::Duration(d) => show_duration(*d).into(),
        Value::Type(name) => Value::String(name.clone()),
        other => {
            let help = match other {
                Value::List(_) | Value::Map(_) => "; `json_encode` gives the text of any value",
                _ => "",
            };
            let message = args::expected("a number, bool, bytes or time", other);
            return Err(format!("{message}{help}"));
        }
    })
}

/// The shortest digits that give the number back; with an exponent where it is very large or small.
pub(super) fn show_float(f: f64) -> String {
    let size = f.abs();
    if f.is_infinite() {
        return if f > 0.0 { "+Inf" } else { "-Inf" }.into();
    }
    match f == 0.0 || (1e-4..1e21).contains(&size) || f.is_nan() {
        true => f.to_string(),
        false => {
            let text = format!("{f:e}");
            let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
            match exponent.strip_prefix('-') {
                Some(small) => format!("{digits}e-{small:0>2}"),
                None => format!("{digits}e+{exponent:0>2}"),
            }
        }
    }
}

fn bytes(args: &[Value]) -> Computed {
    match args::any(args, 0)? {
        Value::String(text) => Ok(Value::Bytes(text.as_bytes().into())),
        bytes @ Value::Bytes(_) => Ok(bytes.clone()),
        other => Err(args::expected("a text", other)),
    }
}

fn bool(args: &[Value]) -> Computed {
    match args::any(args, 0)? {
        Value::Bool(b) => Ok(Value::Bool(*b)),
        Value::String(text) => match &**text {
            "true" | "True" | "TRUE" | "t" | "1" => Ok(Value::Bool(true)),
            "false" | "False" | "FALSE" | "f" | "0" => Ok(Value::Bool(false)),
            other => Err(format!("the text {} is not a `bool`", quoted(other))),
        },
        other => Err(args::expected("a text", other)),
    }
}

fn timestamp(args: &[Value]) -> Computed {
    match args::any(args, 0)? {
        Value::Timestamp(t) => Ok(Value::Timestamp(*t)),
        Value::String(text) => time::parse_timestamp(text).map(Value::Timestamp),
        Value::Int(seconds) => jiff::Timestamp::from_second(*seconds)
            .ok()
            .filter(|t| time::in_range(*t))
            .map(Value::Timestamp)
            .ok_or_else(|| format!("`{seconds}` is out of range")),
        other => Err(args::expected("a text or seconds", other)),
    }
}

fn duration(args: &[Value]) -> Computed {
    match args::any(args, 0)? {
        Value::Duration(d) => Ok(Value::Duration(*d)),
        Value::String(text) => span::parse_duration(text)
            .map(Value::Duration)
            .ok_or_else(|| {
                let text = quoted(text);
                format!("the text {text} is not a `duration`, such as `1h30m` or `1.5s`")
            }),
        other => Err(args::expected("a text", other)),
    }
}

fn type_of(args: &[Value]) -> Computed {
    let name = match args::any(args, 0)? {
        Value::Null => "null_type",
        Value::Float(_) => "double",
        Value::Timestamp(_) => "google.protobuf.Timestamp",
        Value::Duration(_) => "google.protobuf.Duration",
        Value::Optional(_) => "optional_type",
        other => other.kind(),
    };
    Ok(Value::Type(name.into()))
}

fn required(args: &[Value]) -> Computed {
    match args::any(args, 0)? {
        Value::Null => Err("the value is null".into()),
        value => Ok(value.clone()),
    }
}
