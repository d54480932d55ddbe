//! What is written on boxes and arrows.

/// The most characters of a condition.
const WIDEST: usize = 48;

/// Characters of a line in a box.
const LINE: usize = 38;

/// The most lines that a doc comment or a list of tools takes in a box.
const LINES: usize = 2;

/// A piece of source in one line.
pub fn line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ")
}

/// A piece of source in one line, its middle left out where it is long: conditions mostly begin alike.
pub fn short(text: &str) -> String {
    middle(&line(text), WIDEST)
}

/// A text of at most `most` characters; of a longer one, its beginning and its end.
pub fn middle(text: &str, most: usize) -> String {
    let length = text.chars().count();
    if length <= most {
        return text.to_owned();
    }
    let tail = most.saturating_sub(1) / 2;
    let head: String = text.chars().take(most.saturating_sub(tail + 1)).collect();
    let tail: String = text.chars().skip(length - tail).collect();
    format!("{}…{}", head.trim_end(), tail.trim_start())
}

/// What stands on an arrow, in at most `most` lines of `width` characters: one condition is wrapped, its
/// middle left out where it is longer; of several each has a line.
pub fn condition(label: &str, width: usize, most: usize) -> Vec<String> {
    let several: Vec<&str> = label.lines().collect();
    if let [only] = several.as_slice() {
        let mut room = width * most;
        loop {
            let lines = wrap(&middle(only, room), width, usize::MAX);
            if lines.len() <= most || room <= width {
                return lines;
            }
            room -= width / 2;
        }
    }
    let shown = match several.len() > most {
        true => most.saturating_sub(1),
        false => most,
    };
    let mut lines: Vec<String> = several
        .iter()
        .take(shown)
        .map(|one| format!("· {}", middle(one, width.saturating_sub(2))))
        .collect();
    if several.len() > shown {
        lines.push(format!("… {} more", several.len() - shown));
    }
    lines
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
