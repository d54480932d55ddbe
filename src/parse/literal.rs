//! Numbers and durations.

use crate::ast::expr::Literal;
use crate::ast::item::Duration;
use crate::base::Span;
use crate::base::duration::unit_millis;
use crate::diag::{Diagnostic, codes};

/// A number as an expression has it; `negative` where a minus stands directly before it.
pub fn number(text: &str, negative: bool, span: Span) -> Result<Literal, Box<Diagnostic>> {
    let lower = text.to_ascii_lowercase();
    let (digits, unsigned) = match lower.strip_suffix('u') {
        Some(digits) => (digits, true),
        None => (lower.as_str(), false),
    };
    let (digits, radix) = match digits.strip_prefix("0x") {
        Some(digits) => (digits, 16),
        None => (digits, 10),
    };
    if !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix)) {
        return whole(digits, radix, negative, unsigned, span);
    }
    let is_float = lower
        .bytes()
        .all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'+' | b'-'));
    match lower.parse::<f64>() {
        Ok(value) if is_float && value.is_finite() => {
            Ok(Literal::Float(if negative { -value } else { value }))
        }
        Ok(_) if is_float => Err(out_of_range(text, "a number", span)),
        _ => Err(no_number(text, span)),
    }
}

fn whole(
    digits: &str,
    radix: u32,
    negative: bool,
    unsigned: bool,
    span: Span,
) -> Result<Literal, Box<Diagnostic>> {
    // No value of 64 bits has more digits than this.
    let value = match digits.trim_start_matches('0') {
        "" => Some(0),
        digits if digits.len() > 20 => None,
        digits => i128::from_str_radix(digits, radix).ok(),
    };
    let out_of_range = |kind| out_of_range(digits, kind, span);
    match (value, unsigned) {
        (Some(value), false) => i64::try_from(if negative { -value } else { value })
            .map(Literal::Int)
            .map_err(|_| out_of_range("an `int`")),
        (Some(value), true) if !negative || value == 0 => u64::try_from(value)
            .map(Literal::UInt)
            .map_err(|_| out_of_range("a `uint`")),
        (Some(_), true) => Err(Box::new(Diagnostic::new(
            &codes::BAD_LITERAL,
            "a `uint` can't be negative",
            span,
        ))),
        (None, _) => Err(out_of_range("an `int`")),
    }
}

fn out_of_range(digits: &str, kind: &str, span: Span) -> Box<Diagnostic> {
    let shown = match digits.len() {
        0..=40 => format!("`{digits}`"),
        length => format!("this number of {length} digits"),
    };
    let message = format!("{shown} is too large for {kind}");
    Box::new(Diagnostic::new(&codes::BAD_LITERAL, message, span))
}

fn no_number(text: &str, span: Span) -> Box<Diagnostic> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at_checked(digits).unwrap_or((text, ""));
    let found = Diagnostic::new(
        &codes::BAD_LITERAL,
        format!("`{text}` is neither a number nor a duration"),
        span,
    );
    Box::new(match (unit_millis(unit), closest_unit(unit)) {
        (Some(_), _) => found
            .help(format!("write `duration(\"{text}\")` in an expression"))
            .fix(span, format!("duration(\"{text}\")")),
        (None, Some(close)) => found.help(format!("a duration is written `{number}{close}`")),
        _ => found,
    })
}

/// A duration in a property: `500ms 10s 5m 2h 7d`.
pub fn duration(text: &str, span: Span) -> Result<Duration, Box<Diagnostic>> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at_checked(digits).unwrap_or((text, ""));
    let apart = unit.starts_with(|c: char| c.is_ascii_whitespace());
    let unit = unit.trim_ascii_start();
    let bad = |message: String| Diagnostic::new(&codes::BAD_LITERAL, message, span);
    let Some(factor) = unit_millis(unit).filter(|_| !apart) else {
        let found = match unit {
            "" => bad(format!("the duration `{text}` has no unit")),
            _ => bad(format!("`{text}` is no duration")),
        };
        return Err(Box::new(
            match (unit.starts_with('.'), closest_unit(unit)) {
                (true, _) => {
                    found.help("write it in whole parts of a smaller unit, such as `1500ms`")
                }
                (false, Some(close)) => found.help(format!("write `{number}{close}`")),
                (false, None) => {
                    found.help("units are `ms`, `s`, `m`, `h` and `d`, as in `500ms` or `10s`")
                }
            },
        ));
    };
    let millis = number
        .parse::<u64>()
        .ok()
        .and_then(|n| n.checked_mul(factor))
        // What calendars and clocks of all backends can add to now: about 292 million years.
        .filter(|millis| i64::try_from(*millis).is_ok())
        .ok_or_else(|| Box::new(bad(format!("the duration `{text}` is too long"))))?;
    Ok(Duration { millis, span })
}

/// The unit that a longer word means.
fn closest_unit(word: &str) -> Option<&'static str> {
    Some(match word.to_ascii_lowercase().as_str() {
        "msec" | "msecs" | "milli" | "millis" | "millisecond" | "milliseconds" | "ms" => "ms",
        "sec" | "secs" | "second" | "seconds" | "s" => "s",
        "min" | "mins" | "minute" | "minutes" | "m" => "m",
        "hr" | "hrs" | "hour" | "hours" | "h" => "h",
        "day" | "days" | "d" => "d",
        _ => return None,
    })
}
