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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_between_characters() {
        assert_eq!(short("a ==\n   \"b\""), "a == \"b\"");
        let long = "ü".repeat(60);
        assert_eq!(short(&long), format!("{}…", "ü".repeat(48)));
    }
}
