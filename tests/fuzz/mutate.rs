//! Changing texts.

use super::chance::Chance;

/// The longest text that is made, in bytes.
const LONGEST: usize = 60_000;

/// Signs and words that mean something to some reader.
const TOKENS: &[&str] = &[
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "<",
    ">",
    "\"",
    "'",
    "\"\"\"",
    "`",
    ":",
    ":=",
    "=",
    "==",
    "!=",
    ",",
    ".",
    ".?",
    "?",
    "|",
    "||",
    "&&",
    "!",
    "-",
    "->",
    "+",
    "*",
    "/",
    "%",
    "@",
    "//",
    "///",
    "//!",
    "\\",
    "\n",
    "\r\n",
    "\r",
    "\t",
    " ",
    "\0",
    "\u{feff}",
    "\u{202e}",
    "\u{2028}",
    "é",
    "e\u{301}",
    "🙂",
    "ß",
    "İ",
    "{{",
    "}}",
    "{%",
    "%}",
    "{#",
    "#}",
    "${",
    "${X}",
    "---",
    "...",
    "&a",
    "*a",
    "!t",
    "<<:",
    "- ",
    "? ",
    "#",
    "null",
    "true",
    "false",
    "0",
    "-1",
    "1.5",
    "1e999",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "18446744073709551616",
    "0.0000000000000000000001",
    "1u",
    "0x7f",
    "999999999999999999d",
    "1s",
    "graph",
    "node",
    "state",
    "in",
    "out",
    "when",
    "else",
    "goto",
    "each",
    "with",
    "start",
    "end",
    "fail",
    "parent",
    "set",
    "emit",
    "let",
    "skip",
    "require",
    "type",
    "enum",
    "tool",
    "toolset",
    "where",
    "model",
    "prompt",
    "import",
    "from",
    "as",
    "file",
    "event",
    "reducer",
    "via",
    "append",
    "merge",
    "subgraph",
    "llm",
    "agent",
    "tools",
    "call",
    "update",
    "branch",
    "interrupt",
    "extern",
    "list<",
    "map<",
    "json",
    "string",
    "int",
    "timestamp",
    "duration",
    "message",
    "on_error",
    "ends",
    "into",
    "ask",
    "expect",
    "migrate",
    "rename",
    "drop",
    "exit",
    "context",
    "params",
    "input",
    "output",
    "reply",
    "result",
    "answer",
    "error",
    "run",
    "transcript",
    "has(",
    "size(",
    "map(x, ",
    "filter(x, ",
    "fold(a, x, 0, ",
    "for",
    "if",
    "endfor",
    "endif",
    "{{ x }}",
    "{% for x in x %}",
    "{% endfor %}",
    "| default('')",
    "loop",
    "ephemeral",
    "untracked",
    "based_on [",
    "keep",
    "reset",
    "cache",
    "key",
    "ttl",
    "max_visits",
    "defer",
    "leaves",
    "before",
    "after",
    "@min(1)",
    "@max(0)",
    "@len(1, 0)",
    "@pattern(\"(\")",
    "@alias(\"\")",
    "@approve",
    "graphc: allow(",
];

/// A text made of others.
pub fn changed(chance: &mut Chance, texts: &[String]) -> String {
    let mut text = chance.pick(texts).clone();
    let other = chance.pick(texts);
    for _ in 0..1 + chance.below(4) {
        text = match chance.below(16) {
            0 => bytes(chance, &text),
            1 => deep(chance, &text),
            2 => long(chance, &text),
            3 => spliced(chance, &text, other),
            4 => numbers(chance, &text),
            5 => ends_of_lines(chance, &text),
            6 | 7 => lines(chance, &text, other),
            _ => tokens(chance, &text, other),
        };
        truncate(&mut text);
    }
    text
}

fn truncate(text: &mut String) {
    if text.len() > LONGEST {
        let end = (0..=LONGEST).rev().find(|at| text.is_char_boundary(*at));
        text.truncate(end.unwrap_or(0));
    }
}

/// Words, numbers and runs of blanks; all else by the character.
pub fn words(text: &str) -> Vec<&str> {
    let class = |c: char| match c {
        c if c.is_alphanumeric() || c == '_' => 1,
        ' ' => 2,
        _ => 0,
    };
    let mut words = Vec::new();
    let mut start = 0;
    let mut last = None;
    for (at, c) in text.char_indices() {
        let now = class(c);
        if last.is_some_and(|last| last != now || now == 0) {
            words.push(&text[start..at]);
            start = at;
        }
        last = Some(now);
    }
    if start < text.len() {
        words.push(&text[start..]);
    }
    words
}

fn tokens(chance: &mut Chance, text: &str, other: &str) -> String {
    let mut words = words(text);
    let others = self::words(other);
    let at = chance.below(words.len() + 1);
    let end = (at + 1 + chance.below(6)).min(words.len());
    let swap = chance.below(words.len());
    match chance.below(7) {
        0 => words.insert(at, *chance.pick::<&str>(TOKENS)),
        1 if at < words.len() => words[at] = *chance.pick::<&str>(TOKENS),
        2 if at < end => drop(words.drain(at..end)),
        3 if at < end => {
            let again: Vec<&str> = words[at..end].to_vec();
            words.splice(at..at, again);
        }
        4 if at < words.len() => words.swap(at, swap),
        5 if at < words.len() && !others.is_empty() => words[at] = *chance.pick::<&str>(&others),
        _ if at < words.len() => words[at] = words[swap],
        _ => {}
    }
    words.concat()
}

fn lines(chance: &mut Chance, text: &str, other: &str) -> String {
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    let others: Vec<&str> = other.split_inclusive('\n').collect();
    if lines.is_empty() {
        return other.to_owned();
    }
    let (at, to) = (chance.below(lines.len()), chance.below(lines.len()));
    match chance.below(5) {
        0 => drop(lines.remove(at)),
        1 => lines.insert(to, lines[at]),
        2 => lines.swap(at, to),
        3 if !others.is_empty() => lines.insert(to, *chance.pick::<&str>(&others)),
        _ => drop(lines.drain(at.min(to)..=at.max(to).min(at.min(to) + 5))),
    }
    lines.concat()
}

fn bytes(chance: &mut Chance, text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..1 + chance.below(4) {
        if !bytes.is_empty() {
            let at = chance.below(bytes.len());
            bytes[at] ^= 1 << chance.below(8);
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn spliced(chance: &mut Chance, text: &str, other: &str) -> String {
    let cut = boundary(text, chance.below(text.len() + 1));
    let from = boundary(other, chance.below(other.len() + 1));
    let piece = &other[from..];
    let piece = &piece[..boundary(piece, chance.below(piece.len() + 1))];
    let rest = boundary(text, cut + chance.below(text.len() - cut + 1));
    format!("{}{piece}{}", &text[..cut], &text[rest..])
}

/// A piece many times within itself, or brackets around a piece.
fn deep(chance: &mut Chance, text: &str) -> String {
    const PAIRS: [(&str, &str); 16] = [
        ("(", ")"),
        ("[", "]"),
        ("{", "}"),
        ("list<", ">"),
        ("{{", "}}"),
        ("!", ""),
        ("-", ""),
        ("{\"a\":", "}"),
        ("[x].map(x, ", ")"),
        ("a ? ", " : b"),
        ("{% if x %}", "{% endif %}"),
        ("{% for x in x %}", "{% endfor %}"),
        ("", "|upper"),
        ("", ".a"),
        ("", "[0]"),
        ("", " + 1"),
    ];
    let (open, close) = *chance.pick(&PAIRS);
    let times = *chance.pick(&[2, 20, 99, 101, 300, 2_000]);
    let start = boundary(text, chance.below(text.len() + 1));
    let end = boundary(text, (start + chance.below(20)).min(text.len()));
    let (open, close) = (open.repeat(times), close.repeat(times));
    format!(
        "{}{open}{}{close}{}",
        &text[..start],
        &text[start..end],
        &text[end..]
    )
}

/// A word or a line very long, or there very often.
fn long(chance: &mut Chance, text: &str) -> String {
    let times = *chance.pick(&[50, 500, 3_000]);
    let pieces: Vec<&str> = match chance.once_in(2) {
        true => words(text),
        false => text.split_inclusive('\n').collect(),
    };
    if pieces.is_empty() {
        return "a".repeat(times);
    }
    let at = chance.below(pieces.len());
    let again = pieces[at].repeat(times);
    [&pieces[..at].concat(), &again, &pieces[at..].concat()]
        .map(String::as_str)
        .concat()
}

fn numbers(chance: &mut Chance, text: &str) -> String {
    const NUMBERS: [&str; 12] = [
        "0",
        "1",
        "-1",
        "2147483648",
        "4294967295",
        "4294967296",
        "9223372036854775807",
        "9223372036854775808",
        "18446744073709551615",
        "1e308",
        "99999999999999999999999",
        "0.1",
    ];
    let is_number = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
    let mut words = words(text);
    let places: Vec<usize> = (0..words.len())
        .filter(|at| is_number(words[*at]))
        .collect();
    if !places.is_empty() {
        let at = *chance.pick(&places);
        words[at] = *chance.pick::<&str>(&NUMBERS);
    }
    words.concat()
}

fn ends_of_lines(chance: &mut Chance, text: &str) -> String {
    match chance.below(6) {
        0 => text.replace('\n', "\r\n"),
        1 => text.replace('\n', "\r"),
        2 => format!("\u{feff}{text}"),
        3 => text.replace('\n', " "),
        4 => text.trim_end().to_owned(),
        _ => text.replace(' ', "\u{a0}"),
    }
}
