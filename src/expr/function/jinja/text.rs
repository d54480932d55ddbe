//! Filters of texts. A number, a bool and a time count as the text that they print as.

use std::borrow::Cow;

use crate::value::Value;

use super::super::Row;
use super::super::args::{self, Computed};
use super::filter;
use super::list::{bounded, flag, text_or};
use super::print::printed;
use super::printf::format;

/// What counts as a text.
const CHANGE: &[&str] = &["(string | int | float | bool) -> string"];

/// Any value.
const ANY: &[&str] = &["(K?) -> string"];

pub(super) const FILTERS: &[Row] = &[
    filter(
        "|capitalize",
        CHANGE,
        |args| Ok(capitalized(&text(args, 0)?).into()),
        "The text with a capital first letter, the others small.",
    ),
    filter(
        "|escape",
        ANY,
        escape,
        "The text with `<`, `>`, `&` and quotes as HTML has them.",
    ),
    filter(
        "|format",
        &["(string, K...) -> string"],
        |args| format(&text(args, 0)?, args.get(1..).unwrap_or_default()),
        "The text with each `%s`, `%d`, `%5.2f` .. replaced by the next value.",
    )
    .named(&[".."]),
    filter(
        "|indent",
        &["(string | int | float | bool, int?, bool?, bool?) -> string"],
        indent,
        "The lines behind the first moved to the right.",
    )
    .named(&["width", "first", "blank"]),
    filter(
        "|lower",
        CHANGE,
        |args| Ok(text(args, 0)?.to_lowercase().into()),
        "The text in small letters.",
    ),
    filter(
        "|replace",
        &["(string | int | float | bool, string, string) -> string"],
        |args| replaced(&text(args, 0)?, &text(args, 1)?, &text(args, 2)?),
        "The text with one part replaced by another.",
    )
    .named(&["_from", "_to"]),
    filter(
        "|safe",
        &["(T) -> T"],
        |args| Ok(args::any(args, 0)?.clone()),
        "The value as it is.",
    ),
    filter(
        "|split",
        &["(string, string?, int?) -> list<string>"],
        |args| {
            let most = match args.get(2) {
                None | Some(Value::Null) => usize::MAX,
                Some(_) => usize::try_from(args::int(args, 2)?).map_or(usize::MAX, |n| n + 1),
            };
            split(&text(args, 0)?, args.get(1), most)
        },
        "The parts between white space, or between a text.",
    )
    .named(&["_separator", "_most"]),
    filter(
        "|string",
        ANY,
        |args| Ok(text(args, 0)?.into_owned().into()),
        "As it prints.",
    ),
    filter(
        "|title",
        CHANGE,
        title,
        "The text with each word capitalized.",
    ),
    filter(
        "|tojson",
        &["(K?, bool | int?) -> string"],
        |args| match args.get(1) {
            None | Some(Value::Null | Value::Bool(false)) => json(args::any(args, 0)?, None),
            Some(Value::Bool(true)) => json(args::any(args, 0)?, Some(2)),
            Some(_) => json(args::any(args, 0)?, Some(args::count(args, 1)?)),
        },
        "JSON, with `indent` in several lines.",
    )
    .named(&["indent"]),
    filter(
        "|trim",
        &["(string | int | float | bool, string?) -> string"],
        |args| {
            let of = text(args, 0)?;
            Ok(match text_or(args, 1, "")? {
                "" => of.trim().into(),
                signs => of.trim_matches(|c| signs.contains(c)).into(),
            })
        },
        "The text without white space at its ends.",
    )
    .named(&["_characters"]),
    filter(
        "|upper",
        CHANGE,
        |args| Ok(text(args, 0)?.to_uppercase().into()),
        "The text in capital letters.",
    ),
];

/// What a value prints as.
pub(super) fn text(args: &[Value], at: usize) -> Result<Cow<'_, str>, String> {
    printed(args::any(args, at)?)
}

pub(super) fn texts<'a>(parts: impl Iterator<Item = &'a str>) -> Value {
    parts.map(Value::from).collect::<Vec<_>>().into()
}

pub(super) fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    let first: String = chars
        .next()
        .into_iter()
        .flat_map(char::to_uppercase)
        .collect();
    first + &chars.as_str().to_lowercase()
}

fn replaced(of: &str, from: &str, to: &str) -> Computed {
    let more = of.matches(from).count().saturating_mul(to.len());
    bounded(of.len().saturating_add(more))?;
    Ok(of.replace(from, to).into())
}

/// The parts of a text, `most` at most.
pub(super) fn split(of: &str, by: Option<&Value>, most: usize) -> Computed {
    Ok(match by.filter(|by| !by.is_null()).map(Value::as_str) {
        Some(Some("")) => return Err("the separator is empty".to_owned()),
        Some(Some(by)) => texts(of.splitn(most, by)),
        Some(None) => return Err("the separator is no text".to_owned()),
        None if most == usize::MAX => texts(of.split_whitespace()),
        None => {
            let (mut parts, mut rest) = (Vec::new(), of.trim_start());
            while parts.len() + 1 < most
                && let Some(end) = rest.find(char::is_whitespace)
            {
                let (part, behind) = rest.split_at(end);
                parts.push(part);
                rest = behind.trim_start();
            }
            texts(parts.into_iter().chain((!rest.is_empty()).then_some(rest)))
        }
    })
}

fn escape(args: &[Value]) -> Computed {
    let mut out = String::new();
    for c in text(args, 0)?.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#x27;"),
            '/' => out.push_str("&#x2f;"),
            c => out.push(c),
        }
    }
    Ok(out.into())
}

pub(super) fn title(args: &[Value]) -> Computed {
    let (mut out, mut begins) = (String::new(), true);
    for c in text(args, 0)?.chars() {
        match begins {
            true => out.extend(c.to_uppercase()),
            false => out.extend(c.to_lowercase()),
        }
        begins = matches!(c, '-' | '(' | '{' | '[' | '<') || c.is_whitespace();
    }
    Ok(out.into())
}

fn indent(args: &[Value]) -> Computed {
    let of = text(args, 0)?;
    let width = match args.get(1) {
        None | Some(Value::Null) => 4,
        Some(_) => args::count(args, 1)?,
    };
    let (first, blank) = (flag(args, 2), flag(args, 3));
    bounded(
        of.len()
            .saturating_add(of.lines().count().saturating_mul(width)),
    )?;
    let of = of.strip_suffix('\n').unwrap_or(&of);
    let lines = of.split('\n').enumerate().map(|(at, line)| {
        let moved = (at > 0 || first) && (blank || !line.trim_end_matches('\r').is_empty());
        format!("{}{line}", " ".repeat(if moved { width } else { 0 }))
    });
    Ok(lines.collect::<Vec<_>>().join("\n").into())
}

/// JSON with a blank behind each `:` and `,`, or in lines that are indented so far. Signs of HTML are escaped.
fn json(value: &Value, indent: Option<usize>) -> Computed {
    value.check_finite()?;
    let json = value.to_json();
    let mut out = Vec::new();
    let blanks = " ".repeat(indent.unwrap_or(0).min(64));
    let written = match indent {
        Some(_) => {
            let pretty = serde_json::ser::PrettyFormatter::with_indent(blanks.as_bytes());
            let mut to = serde_json::Serializer::with_formatter(&mut out, pretty);
            serde::Serialize::serialize(&json, &mut to)
        }
        None => {
            let mut to = serde_json::Serializer::with_formatter(&mut out, Spaced);
            serde::Serialize::serialize(&json, &mut to)
        }
    };
    written.map_err(|error| error.to_string())?;
    let text = String::from_utf8(out).map_err(|error| error.to_string())?;
    let escapes = [
        ("<", "\\u003c"),
        (">", "\\u003e"),
        ("&", "\\u0026"),
        ("'", "\\u0027"),
    ];
    let escaped = escapes
        .iter()
        .fold(text, |text, (sign, code)| text.replace(sign, code));
    Ok(escaped.into())
}

/// JSON as Python writes it.
struct Spaced;

impl serde_json::ser::Formatter for Spaced {
    fn begin_array_value<W: ?Sized + std::io::Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> std::io::Result<()> {
        writer.write_all(if first { b"" } else { b", " })
    }

    fn begin_object_key<W: ?Sized + std::io::Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> std::io::Result<()> {
        writer.write_all(if first { b"" } else { b", " })
    }

    fn begin_object_value<W: ?Sized + std::io::Write>(
        &mut self,
        writer: &mut W,
    ) -> std::io::Result<()> {
        writer.write_all(b": ")
    }
}
