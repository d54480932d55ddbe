//! Flows with one slip each, the same ones every time: what a hand does to a word or a sign.

use super::dice::Dice;

/// Words that people write for others: of this language, and of those that they come from.
const WORDS: [&str; 46] = [
    "state", "context", "node", "graph", "tool", "type", "enum", "model", "start", "exit", "set",
    "goto", "emit", "when", "else", "each", "with", "via", "in", "out", "llm", "update", "call",
    "agent", "prompt", "function", "union", "struct", "step", "edge", "if", "for", "elif", "and",
    "or", "not", "is", "text", "number", "Optional", "List", "dict", "True", "lambda", "return",
    "input",
];

/// Signs, each with others that are written for it.
const SIGNS: [(&str, &[&str]); 14] = [
    ("->", &["=>", "-", ">", "", "-->", "->->"]),
    (":=", &["=", ":", "=:"]),
    ("==", &["=", "===", "is", "eq"]),
    ("!=", &["=!", "<>", "is not", "!=="]),
    ("<=", &["=<", "<"]),
    (">=", &["=>", ">"]),
    ("&&", &["and", "&"]),
    ("||", &["or", "|"]),
    (":", &["=", "", "::", ":=", "->"]),
    ("=", &[":", "==", ""]),
    ("{", &["(", "[", "", "{{"]),
    ("}", &[")", "]", "", "}}"]),
    ("(", &["{", "[", ""]),
    (",", &["", ";", ",,"]),
];

/// The flow with one slip in it.
pub fn slip(text: &str, dice: &mut Dice) -> String {
    // Most slips are in words; where there is none of the other kind, the text stays.
    let found = match dice.below(3) {
        0 => sign(text, dice),
        _ => word(text, dice),
    };
    let (at, length, other) = found.unwrap_or((0, 0, String::new()));
    format!("{}{other}{}", &text[..at], &text[at + length..])
}

/// A slip in a word outside of comments: where, how long, what is there then.
fn word(text: &str, dice: &mut Dice) -> Option<(usize, usize, String)> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut words = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let code = line.find("//").unwrap_or(line.len());
        for part in line[..code].split_inclusive(|c| !is_word(c)) {
            let word = part.trim_end_matches(|c| !is_word(c));
            if !word.is_empty() {
                words.push((at, word));
            }
            at += part.len();
        }
        at += line.len() - code;
    }
    if words.is_empty() {
        return None;
    }
    let (at, word) = words[dice.below(words.len())];
    let letter = dice.below(word.len());
    let (before, behind) = (&word[..letter], &word[letter + 1..]);
    let own = &word[letter..letter + 1];
    let other = match dice.below(8) {
        0 => format!("{before}{behind}"),
        1 => format!("{before}{own}{own}{behind}"),
        2 => {
            let next = behind.get(..1).unwrap_or("");
            format!("{before}{next}{own}{}", behind.get(1..).unwrap_or(""))
        }
        3 => format!("{before}x{behind}"),
        4 => words[dice.below(words.len())].1.to_owned(),
        5 => String::new(),
        _ => WORDS[dice.below(WORDS.len())].to_owned(),
    };
    Some((at, word.len(), other))
}

/// A slip in a sign.
fn sign(text: &str, dice: &mut Dice) -> Option<(usize, usize, String)> {
    let (sign, others) = SIGNS[dice.below(SIGNS.len())];
    let places: Vec<usize> = text.match_indices(sign).map(|(at, _)| at).collect();
    let at = *places.get(dice.below(places.len().max(1)))?;
    Some((at, sign.len(), others[dice.below(others.len())].to_owned()))
}
