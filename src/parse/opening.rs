//! Another bracket where a block begins: `node a: update (`, `set [ n: 1 }`.

use super::keyword;
use super::mistake::{first_word, last_word};

/// Words that a `{` follows at once.
const BLOCKS: [&str; 8] = [
    "set", "state", "context", "with", "into", "input", "cache", "migrate",
];

/// Whether a line up to a bracket is a head that nothing but a `{` can follow: `node a: update`, `.. -> b`, `enum X`.
pub fn ends_head(line: &str) -> bool {
    let line = line.trim_ascii();
    let last = last_name(line);
    let head = line.strip_suffix(last).unwrap_or("").trim_ascii_end();
    let declared = matches!(head, "type" | "enum" | "event");
    let word = !last.is_empty() && !matches!(last, "fail" | "each" | "with" | "when" | "else");
    let arrow = head.ends_with("->") && word && !last.contains('.');
    let targets = line.rsplit_once("->").is_some_and(|(_, list)| {
        let list = list.trim_ascii().strip_prefix('[');
        let names = list.and_then(|list| list.strip_suffix(']'));
        names.is_some_and(|names| !names.contains(['[', ']', '(', '{', '"', '\'']))
    });
    let node = first_word(line) == "node";
    let kind = node && head.ends_with(':') && keyword::KINDS.contains(&last);
    declared || arrow || targets || kind
}

/// Whether a `{` belongs between what stands before a bracket on its line and what stands behind it, where a `}` closes it.
pub fn wants_brace(before: &str, behind: &str) -> bool {
    let before = before.trim_ascii();
    let last = last_name(before);
    let head = before.strip_suffix(last).unwrap_or("").trim_ascii_end();
    let block = BLOCKS.contains(&last) && !head.ends_with(['.', ':', '(', ',']);
    let emit = last_word(head) == "emit" && !last.is_empty();
    let line = first_word(before);
    let is_head =
        keyword::ITEMS.contains(&line) || keyword::MEMBERS.contains(&line) || last == "goto";
    ends_head(before) || block || emit || is_head && begins_block(behind)
}

/// The name that a text ends with, perhaps with dots.
fn last_name(text: &str) -> &str {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    let rest = text.trim_end_matches(is_name);
    text.get(rest.len()..).unwrap_or("")
}

/// Whether a text begins with a line of a block.
fn begins_block(text: &str) -> bool {
    let text = text.trim_ascii_start();
    let word = first_word(text);
    let goes_on = text.get(word.len()..).unwrap_or("");
    let lists = [
        keyword::MEMBERS,
        keyword::PROPERTIES,
        keyword::TOOL_LINES,
        &["when", "else"],
    ];
    lists.iter().any(|words| words.contains(&word)) && goes_on.starts_with([' ', '\t'])
}
