//! Durations as they are written and shown.

use std::time::Duration;

use graphc::base::duration::{parse, show};

#[test]
fn takes_the_units_of_the_language_and_nothing_else() {
    for (text, millis) in [
        ("500ms", 500),
        ("10s", 10_000),
        ("0s", 0),
        ("7d", 604_800_000),
    ] {
        assert_eq!(parse(text), Some(Duration::from_millis(millis)), "{text}");
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
        assert_eq!(parse(text), None, "{text}");
    }
}

#[test]
fn is_shown_in_the_largest_exact_unit() {
    for (millis, text) in [
        (0, "0ms"),
        (500, "500ms"),
        (1_500, "1500ms"),
        (10_000, "10s"),
        (90_000, "90s"),
        (3_600_000, "1h"),
        (604_800_000, "7d"),
    ] {
        assert_eq!(show(Duration::from_millis(millis)), text);
    }
}
