//! Functions of timestamps and durations.
//!
//! Time zones are offsets such as `+02:00`, or names such as `Europe/Berlin` of the IANA database. That is the one inside
//! the binary, not the system's, which differs from machine to machine: an expression must have one value everywhere.

use std::sync::LazyLock;

use jiff::tz::{Offset, TimeZone, TimeZoneDatabase};
use jiff::{SignedDuration, Timestamp, Zoned};

use crate::value::Value;

use super::Row;
use super::args::{self, Computed};
use super::convert::quoted;

pub(super) const FUNCTIONS: &[Row] = &[
    Row::method(
        "getFullYear",
        DATE,
        |args| date(args, |t| t.year().into()),
        "The year, in UTC or in the given zone: a name such as `Europe/Berlin`, or an offset such as `+02:00`.",
        r#"timestamp("2024-02-03T04:05:06Z").getFullYear() == 2024"#,
    )
    .quick(),
    Row::method(
        "getMonth",
        DATE,
        |args| date(args, |t| i64::from(t.month()) - 1),
        "The month, from 0.",
        r#"timestamp("2024-02-03T04:05:06Z").getMonth() == 1"#,
    )
    .quick(),
    Row::method(
        "getDate",
        DATE,
        |args| date(args, |t| t.day().into()),
        "The day of the month, from 1.",
        r#"timestamp("2024-02-03T04:05:06Z").getDate() == 3"#,
    )
    .quick(),
    Row::method(
        "getDayOfMonth",
        DATE,
        |args| date(args, |t| i64::from(t.day()) - 1),
        "The day of the month, from 0.",
        r#"timestamp("2024-02-03T04:05:06Z").getDayOfMonth() == 2"#,
    )
    .quick(),
    Row::method(
        "getDayOfWeek",
        DATE,
        |args| date(args, |t| t.weekday().to_sunday_zero_offset().into()),
        "The day of the week, Sunday is 0.",
        r#"timestamp("2024-02-03T04:05:06Z").getDayOfWeek() == 6"#,
    )
    .quick(),
    Row::method(
        "getDayOfYear",
        DATE,
        |args| date(args, |t| i64::from(t.day_of_year()) - 1),
        "The day of the year, from 0.",
        r#"timestamp("2024-02-03T04:05:06Z").getDayOfYear() == 33"#,
    )
    .quick(),
    Row::method(
        "getHours",
        TIME,
        |args| time(args, |t| t.hour().into(), 3_600_000),
        "The hour of a timestamp, in UTC or in the given zone (`Europe/Berlin`, `+02:00`), or the whole hours of a duration.",
        r#"timestamp("2024-07-01T12:00:00Z").getHours("Europe/Berlin") == 14"#,
    )
    .quick(),
    Row::method(
        "getMinutes",
        TIME,
        |args| time(args, |t| t.minute().into(), 60_000),
        "The minute of a timestamp, or the whole minutes of a duration.",
        r#"duration("90m").getMinutes() == 90"#,
    )
    .quick(),
    Row::method(
        "getSeconds",
        TIME,
        |args| time(args, |t| t.second().into(), 1_000),
        "The second of a timestamp, or the whole seconds of a duration.",
        r#"timestamp("2024-02-03T04:05:06Z").getSeconds() == 6"#,
    )
    .quick(),
    Row::method(
        "getMilliseconds",
        TIME,
        milliseconds,
        "The milliseconds beyond the second, of a timestamp or a duration.",
        r#"duration("1.5s").getMilliseconds() == 500"#,
    )
    .quick(),
];

const DATE: &[&str] = &["(timestamp) -> int", "(timestamp, string) -> int"];
const TIME: &[&str] = &[
    "(timestamp) -> int",
    "(duration) -> int",
    "(timestamp, string) -> int",
];

/// Seconds of the year 1, where CEL's timestamps begin. They end in the last day of 9999; those of
/// jiff, which values are made of, end 26 hours earlier.
const FIRST_SECOND: i64 = -62_135_596_800;
/// Seconds of CEL's longest duration: 10,000 years.
const LONGEST: i64 = 315_576_000_000;

/// Whether CEL has such a timestamp.
pub(in crate::expr) fn in_range(timestamp: Timestamp) -> bool {
    seconds(timestamp) >= FIRST_SECOND
}

/// Whether CEL has such a duration.
pub(in crate::expr) fn duration_in_range(duration: SignedDuration) -> bool {
    duration.abs() <= SignedDuration::from_secs(LONGEST)
}

/// Whole seconds since 1970, towards the past.
pub(super) fn seconds(timestamp: Timestamp) -> i64 {
    timestamp.as_nanosecond().div_euclid(1_000_000_000) as i64
}

/// A timestamp of RFC 3339 text, such as `2024-02-03T04:05:06Z`.
pub(in crate::expr) fn parse_timestamp(text: &str) -> Result<Timestamp, String> {
    text.parse()
        .ok()
        .filter(|timestamp| in_range(*timestamp))
        .ok_or_else(|| {
            let text = quoted(text);
            format!("the text {text} is not a `timestamp`, such as `2024-02-03T04:05:06Z`")
        })
}

fn zoned(args: &[Value], timestamp: Timestamp) -> Result<Zoned, String> {
    let zone = match args.len() {
        1 => TimeZone::UTC,
        _ => zone(args::text(args, 1)?)?,
    };
    Ok(timestamp.to_zoned(zone))
}

fn zone(name: &str) -> Result<TimeZone, String> {
    if matches!(name, "UTC" | "Z" | "GMT" | "Etc/UTC") {
        return Ok(TimeZone::UTC);
    }
    let named = || ZONES.get(name).ok();
    offset(name).map(TimeZone::fixed).or_else(named).ok_or_else(|| {
        format!("the time zone {name:?} is unknown; write a name such as `Europe/Berlin`, or an offset such as `+02:00`")
    })
}

/// Made when the first name is looked up.
static ZONES: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

/// `+02:00`, `-8:00`; `02:00` is CEL's too.
fn offset(name: &str) -> Option<Offset> {
    let (sign, rest) = match name.as_bytes().first()? {
        b'-' => (-1, name.get(1..)?),
        b'+' => (1, name.get(1..)?),
        _ => (1, name),
    };
    let (hours, minutes) = rest.split_once(':')?;
    let part = |text: &str, most: i32| {
        let digits = (1..=2).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
        let number = digits.then(|| text.parse::<i32>().ok()).flatten()?;
        (number <= most).then_some(number)
    };
    let seconds = part(hours, 23)? * 3600 + part(minutes, 59)? * 60;
    Offset::from_seconds(sign * seconds).ok()
}

fn date(args: &[Value], part: fn(&Zoned) -> i64) -> Computed {
    match args::any(args, 0)? {
        Value::Timestamp(timestamp) => Ok(Value::Int(part(&zoned(args, *timestamp)?))),
        other => Err(args::expected("a `timestamp`", other)),
    }
}

fn time(args: &[Value], part: fn(&Zoned) -> i64, millis: i128) -> Computed {
    match args::any(args, 0)? {
        Value::Duration(duration) => {
            let whole = duration.as_millis() / millis;
            Ok(Value::Int(i64::try_from(whole).unwrap_or(i64::MAX)))
        }
        Value::Timestamp(_) => date(args, part),
        other => Err(args::expected("a `timestamp` or `duration`", other)),
    }
}

fn milliseconds(args: &[Value]) -> Computed {
    match args::any(args, 0)? {
        Value::Duration(duration) => Ok(Value::Int(duration.subsec_millis().into())),
        _ => date(args, |t| t.millisecond().into()),
    }
}
