//! `"%s is %d".format([a, b])`, as CEL's strings extension has it.

use crate::value::{Key, MAX_TEXT, TEXT_TOO_LONG, Value, show_duration};

use super::args::{self, Computed};
use super::convert::show_float;
use super::{Row, Rule};

/// Digits after the point where a verb doesn't say.
const PRECISION: usize = 6;

/// Digits after the point at most.
const MAX_PRECISION: usize = 100;

pub(super) const FUNCTIONS: &[Row] = &[Row::method(
    "format",
    &["(string, list<T>) -> string"],
    format,
    "The text with each verb replaced by the next element of the list: `%s` any value, `%d` a whole \
     number, `%f` and `%e` a float (`%.2f` with two digits), `%b` binary, `%o` octal, `%x` and `%X` \
     hexadecimal, `%%` a percent sign.",
    r#""%s has %d of %.1f".format(["a", 2, 3.25]) == "a has 2 of 3.2""#,
)
.rule(Rule::Format)];

fn format(args: &[Value]) -> Computed {
    let mut items = args::list(args, 1)?.iter();
    let mut out = String::new();
    let mut chars = args::text(args, 0)?.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let mut precision = None;
        if chars.next_if_eq(&'.').is_some() {
            let mut digits = String::new();
            while let Some(digit) = chars.next_if(char::is_ascii_digit) {
                digits.push(digit);
            }
            precision = Some(parse_precision(&digits)?);
        }
        let verb = chars.next().ok_or("the text ends after `%`")?;
        if verb == '%' {
            out.push('%');
            continue;
        }
        let value = items
            .next()
            .ok_or("the list has fewer elements than the text has verbs")?;
        verb_into(&mut out, verb, precision, value)?;
        if out.len() > MAX_TEXT {
            return Err(TEXT_TOO_LONG.to_owned());
        }
    }
    Ok(out.into())
}

fn parse_precision(digits: &str) -> Result<usize, String> {
    digits
        .parse()
        .ok()
        .filter(|precision| *precision <= MAX_PRECISION)
        .ok_or_else(|| format!("`%.` takes a number up to {MAX_PRECISION}, found `{digits}`"))
}

fn verb_into(
    out: &mut String,
    verb: char,
    precision: Option<usize>,
    value: &Value,
) -> Result<(), String> {
    let digits = precision.unwrap_or(PRECISION);
    let text = match (verb, value) {
        ('s', value) => {
            show(out, value);
            return Ok(());
        }
        ('d', Value::Int(i)) => i.to_string(),
        ('d', Value::Uint(u)) => u.to_string(),
        ('d' | 'f' | 'e', Value::Float(f)) if !f.is_finite() => show_special(*f).into(),
        ('f', value) if value.is_number() => format!("{:.digits$}", number(value)),
        ('e', value) if value.is_number() => exponent(number(value), digits),
        ('b', Value::Bool(b)) => u8::from(*b).to_string(),
        ('b' | 'o' | 'x' | 'X', Value::Int(i)) => {
            let sign = if *i < 0 { "-" } else { "" };
            format!("{sign}{}", radix(verb, i.unsigned_abs()))
        }
        ('b' | 'o' | 'x' | 'X', Value::Uint(u)) => radix(verb, *u),
        ('x' | 'X', Value::String(text)) => hex(verb, text.as_bytes()),
        ('x' | 'X', Value::Bytes(bytes)) => hex(verb, bytes),
        ('d' | 'f' | 'e' | 'b' | 'o' | 'x' | 'X', other) => {
            return Err(format!("`%{verb}` has no meaning for `{}`", other.kind()));
        }
        (verb, _) => return Err(format!("`%{verb}` is no verb")),
    };
    out.push_str(&text);
    Ok(())
}

fn number(value: &Value) -> f64 {
    match value {
        Value::Int(i) => *i as f64,
        Value::Uint(u) => *u as f64,
        Value::Float(f) => *f,
        _ => f64::NAN,
    }
}

pub(super) fn exponent(f: f64, digits: usize) -> String {
    let text = format!("{f:.digits$e}");
    match text.split_once('e') {
        Some((number, power)) => match power.strip_prefix('-') {
            Some(small) => format!("{number}e-{small:0>2}"),
            None => format!("{number}e+{power:0>2}"),
        },
        None => text,
    }
}

fn radix(verb: char, number: u64) -> String {
    match verb {
        'b' => format!("{number:b}"),
        'o' => format!("{number:o}"),
        'x' => format!("{number:x}"),
        _ => format!("{number:X}"),
    }
}

fn hex(verb: char, bytes: &[u8]) -> String {
    let digits = bytes.iter().map(|byte| match verb {
        'x' => format!("{byte:02x}"),
        _ => format!("{byte:02X}"),
    });
    digits.collect()
}

fn show_special(f: f64) -> &'static str {
    match f {
        f if f.is_nan() => "NaN",
        f if f > 0.0 => "Infinity",
        _ => "-Infinity",
    }
}

/// `%s`: texts without quotes, also inside of lists and maps.
fn show(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(b) => out.push_str(&b.to_string()),
        Value::Int(i) => out.push_str(&i.to_string()),
        Value::Uint(u) => out.push_str(&u.to_string()),
        Value::Float(f) if !f.is_finite() => out.push_str(show_special(*f)),
        Value::Float(f) => out.push_str(&show_float(*f)),
        Value::String(text) => out.push_str(text),
        Value::Bytes(bytes) => out.push_str(&String::from_utf8_lossy(bytes)),
        Value::Timestamp(t) => out.push_str(&t.to_string()),
        Value::Duration(d) => out.push_str(&show_duration(*d)),
        Value::Type(name) => out.push_str(name),
        Value::Optional(None) => out.push_str("none"),
        Value::Optional(Some(inner)) => show(out, inner),
        Value::List(list) => {
            out.push('[');
            for (index, item) in list.iter().enumerate() {
                out.push_str(if index > 0 { ", " } else { "" });
                show(out, item);
            }
            out.push(']');
        }
        Value::Map(map) => {
            let shown = map.iter().map(|(key, item)| {
                let mut text = String::new();
                show(&mut text, &Key::value(key));
                (text, item)
            });
            // By their texts, as CEL has it, and not as maps order keys of several kinds.
            let mut entries: Vec<(String, &Value)> = shown.collect();
            entries.sort_by(|a, b| a.0.cmp(&b.0));
            out.push('{');
            for (index, (key, item)) in entries.into_iter().enumerate() {
                out.push_str(if index > 0 { ", " } else { "" });
                out.push_str(&key);
                out.push_str(": ");
                show(out, item);
            }
            out.push('}');
        }
    }
}
