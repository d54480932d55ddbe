//! Durations as text.

use jiff::SignedDuration;

use super::time;

/// Nanoseconds of a unit. Longer ones first where one begins another.
const UNITS: &[(&str, u64)] = &[
    ("ms", 1_000_000),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ns", 1),
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
];

/// Numbers with units, from left to right, with one sign in front: `1h30m`, `-1.5s`; also `0`.
pub(in crate::expr) fn parse_duration(text: &str) -> Option<SignedDuration> {
    let (negative, mut rest) = match text.as_bytes().first()? {
        b'-' => (true, text.get(1..)?),
        b'+' => (false, text.get(1..)?),
        _ => (false, text),
    };
    if rest == "0" {
        return Some(SignedDuration::ZERO);
    }
    if rest.is_empty() {
        return None;
    }
    let mut nanos: i128 = 0;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, tail) = rest.split_at(end);
        let (name, unit) = UNITS.iter().find(|(name, _)| tail.starts_with(name))?;
        nanos = nanos.checked_add(part(number, *unit)?)?;
        rest = tail.get(name.len()..)?;
    }
    let nanos = if negative { -nanos } else { nanos };
    let seconds = i64::try_from(nanos / 1_000_000_000).ok()?;
    let duration = SignedDuration::new(seconds, i32::try_from(nanos % 1_000_000_000).ok()?);
    time::duration_in_range(duration).then_some(duration)
}

/// A decimal number of units in nanoseconds; what is below one is cut off.
fn part(number: &str, unit: u64) -> Option<i128> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() || fraction.contains('.') {
        return None;
    }
    let whole: i128 = if whole.is_empty() {
        0
    } else {
        whole.parse().ok()?
    };
    let mut nanos = whole.checked_mul(i128::from(unit))?;
    let mut place = i128::from(unit);
    let mut below: i128 = 0;
    let mut scale: i128 = 1;
    for digit in fraction.bytes().take(18) {
        below = below * 10 + i128::from(digit - b'0');
        scale *= 10;
    }
    place = place.checked_mul(below)? / scale;
    nanos = nanos.checked_add(place)?;
    Some(nanos)
}
