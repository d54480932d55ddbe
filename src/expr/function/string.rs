//! Functions of whole texts and of their parts between separators.

use crate::value::{MAX_TEXT, TEXT_TOO_LONG, Value};

use super::args::{self, Computed};
use super::{Carries, Row};

pub(super) const FUNCTIONS: &[Row] = &[
    Row::method(
        "contains",
        TEST,
        |args| test(args, |a, b| a.contains(b)),
        "Whether the text has the other in it.",
        r#""team".contains("ea")"#,
    )
    .carries(Carries::Nothing),
    Row::method(
        "startsWith",
        TEST,
        |args| test(args, |a, b| a.starts_with(b)),
        "Whether the text begins with the other.",
        r#""team".startsWith("te")"#,
    )
    .carries(Carries::Nothing),
    Row::method(
        "endsWith",
        TEST,
        |args| test(args, |a, b| a.ends_with(b)),
        "Whether the text ends with the other.",
        r#""team".endsWith("am")"#,
    )
    .carries(Carries::Nothing),
    Row::method(
        "lower",
        CHANGE,
        |args| change(args, str::to_lowercase),
        "The text in lower case.",
        r#""AbÉ".lower() == "abé""#,
    ),
    Row::method(
        "upper",
        CHANGE,
        |args| change(args, str::to_uppercase),
        "The text in upper case.",
        r#""abé".upper() == "ABÉ""#,
    ),
    Row::method(
        "lowerAscii",
        CHANGE,
        |args| change(args, str::to_ascii_lowercase),
        "The text with `A` to `Z` in lower case.",
        r#""AbÉ".lowerAscii() == "abÉ""#,
    ),
    Row::method(
        "upperAscii",
        CHANGE,
        |args| change(args, str::to_ascii_uppercase),
        "The text with `a` to `z` in upper case.",
        r#""abé".upperAscii() == "ABé""#,
    ),
    Row::method(
        "trim",
        CHANGE,
        |args| change(args, |text| text.trim().to_owned()),
        "The text without white space at its ends.",
        r#""  a b ".trim() == "a b""#,
    ),
    Row::method(
        "lines",
        &["(string) -> list<string>"],
        lines,
        "The lines, without their ends.",
        r#""a\nb\r\n".lines() == ["a", "b"]"#,
    ),
    Row::method(
        "split",
        &[
            "(string, string) -> list<string>",
            "(string, string, int) -> list<string>",
        ],
        split,
        "The parts between separators, at most as many as the number says (a negative one: all).",
        r#""a,b,c".split(",", 2) == ["a", "b,c"]"#,
    ),
    Row::method(
        "join",
        &[
            "(list<string>) -> string",
            "(list<string>, string) -> string",
        ],
        join,
        "The texts in one, with a separator between them.",
        r#"["a", "b"].join(", ") == "a, b""#,
    ),
    Row::method(
        "replace",
        &[
            "(string, string, string) -> string",
            "(string, string, string, int) -> string",
        ],
        replace,
        "The text with each occurrence of the first argument replaced by the second, at most as often as the number says.",
        r#""he hears".replace("he", "we") == "we wears""#,
    ),
    Row::global(
        "strings.quote",
        CHANGE,
        |args| change(args, quote),
        "The text as a literal in double quotes.",
        r#"strings.quote('a"b') == '"a\\"b"'"#,
    ),
];

const TEST: &[&str] = &["(string, string) -> bool"];
const CHANGE: &[&str] = &["(string) -> string"];

fn test(args: &[Value], holds: fn(&str, &str) -> bool) -> Computed {
    Ok(Value::Bool(holds(
        args::text(args, 0)?,
        args::text(args, 1)?,
    )))
}

fn change(args: &[Value], change: fn(&str) -> String) -> Computed {
    Ok(change(args::text(args, 0)?).into())
}

fn lines(args: &[Value]) -> Computed {
    let lines = args::text(args, 0)?.lines();
    Ok(Value::List(lines.map(Value::from).collect()))
}

fn split(args: &[Value]) -> Computed {
    let (text, separator) = (args::text(args, 0)?, args::text(args, 1)?);
    let limit = match args.len() {
        2 => None,
        _ => usize::try_from(args::int(args, 2)?).ok(),
    };
    // Between characters, not also before the first and after the last as `str::split` has it.
    let parts: Vec<Value> = match (separator.is_empty(), limit) {
        (_, Some(0)) => Vec::new(),
        (true, limit) => split_characters(text, limit),
        (false, None) => text.split(&**separator).map(Value::from).collect(),
        (false, Some(limit)) => text.splitn(limit, &**separator).map(Value::from).collect(),
    };
    Ok(parts.into())
}

fn split_characters(text: &str, limit: Option<usize>) -> Vec<Value> {
    let most = limit.unwrap_or(usize::MAX);
    let mut parts = Vec::new();
    let mut rest = text.chars();
    while parts.len() + 1 < most {
        match rest.next() {
            Some(c) => parts.push(c.to_string().into()),
            None => return parts,
        }
    }
    if !rest.as_str().is_empty() {
        parts.push(rest.as_str().into());
    }
    parts
}

fn join(args: &[Value]) -> Computed {
    let list = args::list(args, 0)?;
    let separator = match args.len() {
        1 => "",
        _ => args::text(args, 1)?,
    };
    let mut joined = String::new();
    for (index, item) in list.iter().enumerate() {
        let Value::String(text) = item else {
            return Err(args::expected("a list of texts", item));
        };
        if index > 0 {
            joined.push_str(separator);
        }
        joined.push_str(text);
        within(joined.len())?;
    }
    Ok(joined.into())
}

fn within(len: usize) -> Result<(), String> {
    match len > MAX_TEXT {
        true => Err(TEXT_TOO_LONG.to_owned()),
        false => Ok(()),
    }
}

fn replace(args: &[Value]) -> Computed {
    let (text, from, to) = (
        args::text(args, 0)?,
        args::text(args, 1)?,
        args::text(args, 2)?,
    );
    let most = match args.len() {
        3 => usize::MAX,
        _ => usize::try_from(args::int(args, 3)?).unwrap_or(usize::MAX),
    };
    let count = text.matches(&**from).take(most).count();
    within(text.len().saturating_add(count.saturating_mul(to.len())))?;
    Ok(text.replacen(&**from, to, most).into())
}

fn quote(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '\u{7}' => quoted.push_str("\\a"),
            '\u{8}' => quoted.push_str("\\b"),
            '\u{c}' => quoted.push_str("\\f"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\u{b}' => quoted.push_str("\\v"),
            '\\' => quoted.push_str("\\\\"),
            '"' => quoted.push_str("\\\""),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
