//! Signs and words of other languages within the tags of a template.

use std::ops::Range;

/// A sign that the template language doesn't have, where it stands, and what to write.
pub struct Foreign {
    /// Where it is in the template.
    pub at: Range<usize>,
    /// What is written there.
    pub sign: &'static str,
    /// What to write.
    pub help: &'static str,
}

/// Signs, the longest first where one begins with another.
const SIGNS: [(&str, &str); 10] = [
    ("===", "write `==`"),
    ("!==", "write `!=`"),
    ("&&", "write `and`"),
    ("||", "write `or`"),
    ("??", "write `x | default(other)`"),
    ("?.", "a name that is null prints nothing: write `.`"),
    (".?", "a name that is null prints nothing: write `.`"),
    (
        "=>",
        "a template has no functions of its own: write `map(attribute=\"name\")`",
    ),
    ("?", "write `a if condition else b`"),
    ("`", "write a text between quotes, and join texts by `~`"),
];

/// The first foreign sign of the tag that the engine gave up in, `near` being where.
pub fn find(text: &str, near: usize) -> Option<Foreign> {
    let before = text.get(..near.min(text.len()))?;
    let begin = before.rfind("{{").max(before.rfind("{%"));
    let start = begin
        .or_else(|| text.find("{{"))
        .or_else(|| text.find("{%"))?;
    let tag = text.get(start..)?;
    let close = if tag.starts_with("{{") { "}}" } else { "%}" };
    let tag = tag.get(..tag.find(close)?)?;
    let words = tag.trim_start_matches(['{', '%', '-']).trim_start();
    let inside = start + (tag.len() - words.len());
    if words.starts_with("else if") {
        return Some(Foreign {
            at: inside..inside + 7,
            sign: "else if",
            help: "write `elif`",
        });
    }
    if words.starts_with("for ")
        && let Some(of) = words.find(" of ")
    {
        let at = inside + of + 1;
        return Some(Foreign {
            at: at..at + 2,
            sign: "of",
            help: "write `in`",
        });
    }
    let compares = ["if ", "elif "].iter().any(|word| words.starts_with(word));
    let mut quote: Option<char> = None;
    for (at, c) in words.char_indices() {
        let rest = words.get(at..).unwrap_or("");
        let found = |sign: &'static str, help: &'static str| {
            let at = inside + at;
            Some(Foreign {
                at: at..at + sign.len(),
                sign,
                help,
            })
        };
        match (quote, c) {
            (Some(closing), _) if closing == c => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '!') if !rest.starts_with("!=") => return found("!", "write `not`"),
            (None, '=') if compares && !rest.starts_with("==") => {
                let before = words.get(..at).unwrap_or("");
                if !before.ends_with(['=', '!', '<', '>']) {
                    return found("=", "write `==`");
                }
            }
            _ => {
                if let Some((sign, help)) = SIGNS.iter().find(|(sign, _)| rest.starts_with(sign)) {
                    return found(sign, help);
                }
            }
        }
    }
    None
}
