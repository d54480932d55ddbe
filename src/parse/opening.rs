//! Another bracket where a block begins: `node a: update (`, `set [ n: 1 }`.

use super::keyword;
use super::mistake::{first_word, last_word};

/// Words that a `{` follows at once.
const BLOCKS: [&str; 8] = [
    "set", "state", "context", "with", "into", "input", "cache", "migrate",
];

/// Whether a `{` belongs between what stands before a bracket on its line and what stands behind it.
pub fn wants_brace(before: &str, behind: &str) -> bool {
    let before = before.trim_ascii();
    let last = last_word(before);
    let head = before.strip_suffix(last).unwrap_or("").trim_ascii_end();
    let block = BLOCKS.contains(&last) && !head.ends_with(['.', ':', '(', ',']);
    let declared = matches!(head, "type" | "enum" | "event");
    let arrow = head.ends_with("->") && !last.is_empty() && !matches!(last, "fail" | "each");
    let targets = before.ends_with(']') && before.contains("->");
    let node = first_word(before) == "node";
    let kind = node && head.ends_with(':') && keyword::KINDS.contains(&last);
    let line = first_word(before);
    let is_head =
        keyword::ITEMS.contains(&line) || keyword::MEMBERS.contains(&line) || last == "goto";
    block || declared || arrow || targets || kind || is_head && begins_block(behind)
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
