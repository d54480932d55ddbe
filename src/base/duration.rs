//! Spans of time as the language writes them: `500ms`, `10s`, `5m`, `2h`, `7d`.

use std::time::Duration;

/// The units with their milliseconds, the largest first.
const UNITS: [(&str, u64); 5] = [
    ("d", 86_400_000),
    ("h", 3_600_000),
    ("m", 60_000),
    ("s", 1_000),
    ("ms", 1),
];

/// How many milliseconds a unit has.
pub fn unit_millis(unit: &str) -> Option<u64> {
    let known = UNITS.iter().find(|(name, _)| *name == unit);
    known.map(|(_, millis)| *millis)
}

/// A whole number and a unit, nothing between or around them; `None` for anything else, and for what is
/// too long to count in milliseconds.
pub fn parse(text: &str) -> Option<Duration> {
    let unit = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at_checked(unit)?;
    let number: u64 = number.parse().ok()?;
    let millis = number.checked_mul(unit_millis(unit)?)?;
    Some(Duration::from_millis(millis))
}

/// In the largest unit that says it exactly; what is below a millisecond is left out.
pub fn show(duration: Duration) -> String {
    let millis = duration.as_millis();
    let exact = UNITS
        .iter()
        .find(|(_, unit)| millis > 0 && millis.is_multiple_of(u128::from(*unit)));
    match exact {
        Some((name, unit)) => format!("{}{name}", millis / u128::from(*unit)),
        None => format!("{millis}ms"),
    }
}
