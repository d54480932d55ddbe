//! Durations as arguments: `500ms`, `10s`, `5m`, `2h`, `7d`.

use std::time::Duration;

/// A duration in the language's own form: a whole number and a unit.
pub fn parse(text: &str) -> Result<Duration, String> {
    let wrong = || {
        format!("expected a duration such as `500ms`, `10s`, `5m`, `2h` or `7d`, found `{text}`")
    };
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = text.strip_prefix(digits).unwrap_or("");
    let count: u64 = digits.parse().map_err(|_| wrong())?;
    let millis = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return Err(wrong()),
    };
    let total = count.checked_mul(millis).ok_or_else(wrong)?;
    Ok(Duration::from_millis(total))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_the_units_of_the_language_and_nothing_else() {
        for (text, millis) in [
            ("500ms", 500),
            ("10s", 10_000),
            ("0s", 0),
            ("7d", 604_800_000),
        ] {
            assert_eq!(parse(text), Ok(Duration::from_millis(millis)), "{text}");
        }
        for text in [
            "",
            "10",
            "s",
            "-1s",
            "1.5s",
            "10 s",
            "1w",
            "1sé",
            "99999999999999999999s",
            "9999999999999999d",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
