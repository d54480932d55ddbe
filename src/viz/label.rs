//! What is written on boxes and arrows.

/// The most characters of a condition.
const WIDEST: usize = 48;

/// A piece of source in one line, its end cut off where it is long.
pub fn short(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(WIDEST) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default().trim_end()),
        None => line,
    }
}

/// A time in the largest unit that says it exactly.
pub fn duration(millis: u64) -> String {
    let units = [
        (86_400_000, "d"),
        (3_600_000, "h"),
        (60_000, "m"),
        (1_000, "s"),
    ];
    let exact = units
        .into_iter()
        .find(|(unit, _)| millis.is_multiple_of(*unit));
    match exact.filter(|_| millis > 0) {
        Some((unit, name)) => format!("{}{name}", millis / unit),
        None => format!("{millis}ms"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_between_characters() {
        assert_eq!(short("a ==\n   \"b\""), "a == \"b\"");
        let long = "ü".repeat(60);
        assert_eq!(short(&long), format!("{}…", "ü".repeat(48)));
    }

    #[test]
    fn durations_have_their_unit() {
        for (millis, text) in [
            (604_800_000, "7d"),
            (5_400_000, "90m"),
            (1_500, "1500ms"),
            (0, "0ms"),
        ] {
            assert_eq!(duration(millis), text);
        }
    }
}
