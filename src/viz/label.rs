//! What is written on boxes and arrows.

/// The most characters of a condition.
const WIDEST: usize = 48;

/// Characters of a line in a box.
const LINE: usize = 38;

/// The most lines that a doc comment or a list of tools takes in a box.
const LINES: usize = 2;

/// A piece of source in one line, its end cut off where it is long.
pub fn short(text: &str) -> String {
    cut(text, WIDEST)
}

/// The first sentence of a doc comment, in lines of a box.
pub fn brief(doc: &str) -> Vec<String> {
    let paragraph = doc.split("\n\n").next().unwrap_or_default();
    let words: Vec<&str> = paragraph.split_whitespace().collect();
    let ends = |word: &&str| word.ends_with(['.', '!', '?', '。']);
    let sentence = match words.iter().position(ends) {
        Some(last) => words.get(..=last).unwrap_or(&words),
        None => &words,
    };
    wrap(sentence.join(" ").trim_end_matches('.'), LINE, LINES)
}

/// Names one after another, in lines of a box.
pub fn listed<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let names: Vec<&str> = names.collect();
    match names.is_empty() {
        true => Vec::new(),
        false => wrap(&format!("{word} {}", names.join(", ")), LINE, LINES),
    }
}

/// A text in lines of at most `width` characters, the last of `most` cut where it is longer still. A
/// word that is wider than a line is broken.
pub fn wrap(text: &str, width: usize, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    let mut length = 0;
    for word in text.split_whitespace() {
        let mut rest: Vec<char> = word.chars().collect();
        while !rest.is_empty() {
            let gap = usize::from(length > 0);
            if length > 0 && length + gap + rest.len() > width {
                lines.push(std::mem::take(&mut line));
                length = 0;
                continue;
            }
            let taken = rest.len().min(width);
            if gap == 1 {
                line.push(' ');
            }
            line.extend(rest.drain(..taken));
            length += gap + taken;
        }
    }
    if !line.is_empty() {
        lines.push(line);
    }
    if lines.len() > most {
        lines.truncate(most);
        if let Some(last) = lines.last_mut() {
            *last = match last.chars().count() < width {
                true => format!("{last}…"),
                false => cut(last, width.saturating_sub(1)) + "…",
            };
            // A text that was cut twice ends in one mark.
            while last.ends_with("……") {
                last.pop();
            }
        }
    }
    lines
}

fn cut(text: &str, widest: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(widest) {
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

    #[test]
    fn lines_are_wrapped_at_words_and_cut_at_the_last() {
        assert_eq!(wrap("one two three", 7, 3), ["one two", "three"]);
        assert_eq!(wrap("abcdefghij", 4, 9), ["abcd", "efgh", "ij"]);
        assert_eq!(wrap("one two three four", 7, 2), ["one two", "three…"]);
        assert_eq!(wrap("", 7, 2), Vec::<String>::new());
        assert_eq!(brief("First one. Second one."), ["First one"]);
        assert_eq!(brief("Reads e.g\nmore.\n\nRest"), ["Reads e.g more"]);
    }
}
