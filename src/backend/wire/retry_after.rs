//! When a server wants to be asked again.

use std::time::Duration;

use jiff::Timestamp;
use jiff::fmt::rfc2822;
use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};

/// What the headers of a reply ask for: `retry-after-ms`, or `retry-after` in seconds or as a date.
pub fn wanted(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    if let Some(millis) = text("retry-after-ms").and_then(|text| text.parse::<f64>().ok()) {
        return seconds(millis / 1000.0);
    }
    let value = text(RETRY_AFTER.as_str())?;
    if let Ok(number) = value.parse::<f64>() {
        return seconds(number);
    }
    // The server's own clock is what it counts by.
    let now = text(DATE.as_str()).and_then(date);
    let wait = date(value)?.duration_since(now.unwrap_or_else(Timestamp::now));
    Some(Duration::try_from(wait).unwrap_or_default())
}

/// A wait of so many seconds: the longest there is where they are more; `None` for what is no time.
pub fn seconds(number: f64) -> Option<Duration> {
    let is_time = number.is_finite() && number >= 0.0;
    is_time.then(|| Duration::try_from_secs_f64(number).unwrap_or(Duration::MAX))
}

/// A date as HTTP writes it: `Wed, 21 Oct 2015 07:28:00 GMT`.
fn date(text: &str) -> Option<Timestamp> {
    rfc2822::DateTimeParser::new()
        .relaxed_weekday(true)
        .parse_timestamp(text)
        .ok()
}
