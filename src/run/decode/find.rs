//! Where the JSON of a reply is: the whole text, a fenced block, or somewhere in prose.

use serde_json::Value as Json;

use crate::value::is_deeper;

use super::parse::{MAX_DEPTH, Parser, Slip, Slips, place};

/// How many opening brackets of prose are tried.
const MAX_TRIES: usize = 100;

/// Of a text without brackets.
const NO_JSON: &str = "no JSON in the text";

/// How many fenced blocks are read.
const MAX_BLOCKS: usize = 100;

/// A value that a text holds.
pub struct Found {
    /// The value.
    pub json: Json,
    /// What was read beyond JSON, with places in the text.
    pub slips: Slips,
    len: usize,
    /// The byte behind it.
    end: usize,
}

/// Why a text holds no value, and the byte where that shows.
type Fault = (usize, String);

/// The values of a text, the likeliest first: the text itself where it is JSON, else those of fenced blocks, then those of the whole
/// text, of each the longest first.
///
/// # Errors
/// Why there is none: what was wrong where JSON seemed to begin. A value that has clearly begun and then breaks off or goes wrong
/// is an error though others stand before it: a part would be taken for the whole.
pub fn values(text: &str) -> Result<Vec<Found>, String> {
    let whole =
        text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}' || c == '\u{200b}');
    if let Ok(json) = serde_json::from_str(whole) {
        let slips = match members(&json) == members_written(whole) {
            true => Slips::new(),
            false => repeated_keys(text),
        };
        return bounded(vec![Found {
            json,
            slips,
            len: whole.len(),
            end: text.len(),
        }]);
    }
    let from = behind_thoughts(text);
    let mut found = Vec::new();
    for (start, end) in fenced(text, from) {
        // A fence within a text of the JSON cuts a block short: the whole text is read below.
        let inside = text.get(..end).unwrap_or(text);
        found.extend(longest_first(inside, start, Slip::Fence).unwrap_or_default());
    }
    let fenced_end = found.iter().map(|found| found.end).max();
    match longest_first(text, from, Slip::TextAround) {
        Ok(more) => found.extend(more),
        // What breaks off behind a block is the answer, and the block a draft of it.
        Err((at, message)) if fenced_end.is_none_or(|end| at > end) => {
            if message == NO_JSON {
                return Err(message);
            }
            let (line, column) = place(text, at);
            return Err(format!("{message} at line {line}, column {column}"));
        }
        Err(_) => {}
    }
    bounded(found)
}

/// How many members the objects of a value have.
fn members(json: &Json) -> usize {
    match json {
        Json::Array(items) => items.iter().map(members).sum(),
        Json::Object(entries) => entries.len() + entries.values().map(members).sum::<usize>(),
        _ => 0,
    }
}

/// How many members are written in a text that is JSON: each has a colon outside of strings.
fn members_written(text: &str) -> usize {
    let mut strings = text.bytes();
    let (mut count, mut inside) = (0, false);
    while let Some(byte) = strings.next() {
        match byte {
            b'"' => inside = !inside,
            b'\\' => _ = strings.next(),
            b':' if !inside => count += 1,
            _ => {}
        }
    }
    count
}

/// Where a text that is JSON has a key of an object twice.
fn repeated_keys(text: &str) -> Slips {
    let mut parser = Parser::new(text, text.find(['{', '[']).unwrap_or(0));
    _ = parser.read();
    parser.slips
}

fn bounded(found: Vec<Found>) -> Result<Vec<Found>, String> {
    match found.iter().any(|found| is_deeper(&found.json, MAX_DEPTH)) {
        true => Err(format!("nested deeper than {MAX_DEPTH} levels")),
        false => Ok(found),
    }
}

/// The byte behind a block of thoughts that some models write ahead of their reply.
pub(super) fn behind_thoughts(text: &str) -> usize {
    const CLOSE: &str = "</think>";
    let begins = text.trim_start().starts_with("<think>");
    match text.find(CLOSE) {
        Some(at) if begins => at + CLOSE.len(),
        _ => 0,
    }
}

/// Where blocks between lines of three backticks begin and end, without the language's name.
fn fenced(text: &str, from: usize) -> Vec<(usize, usize)> {
    const FENCE: &str = "```";
    let find = |from: usize| Some(text.get(from..)?.find(FENCE)? + from);
    let mut blocks = Vec::new();
    let mut at = from;
    while let Some(open) = find(at).filter(|_| blocks.len() < MAX_BLOCKS) {
        let behind = text.get(open + FENCE.len()..).unwrap_or("");
        let name = behind.find(|c: char| !c.is_ascii_alphanumeric());
        let start = open + FENCE.len() + name.unwrap_or(behind.len());
        let Some(close) = find(start) else { break };
        blocks.push((start, close));
        at = close + FENCE.len();
    }
    blocks
}

/// The objects and lists of a text from a byte on, the longest first.
fn longest_first(text: &str, from: usize, around: Slip) -> Result<Vec<Found>, Fault> {
    let mut found: Vec<Found> = Vec::new();
    let mut first_error = None;
    let mut from = from;
    for _ in 0..MAX_TRIES {
        let rest = text.get(from..).unwrap_or("");
        let Some(start) = rest.find(['{', '[']) else {
            break;
        };
        let start = from + start;
        let mut parser = Parser::new(text, start);
        match parser.read() {
            Ok(json) => {
                from = parser.at.max(start + 1);
                let len = parser.at - start;
                let mut slips = parser.slips;
                let is_blank = |part: Option<&str>| part.is_none_or(|part| part.trim().is_empty());
                let alone = is_blank(text.get(..start)) && is_blank(text.get(parser.at..));
                if around == Slip::Fence || !alone {
                    slips.insert(around, start);
                }
                let end = parser.at;
                found.push(Found {
                    json,
                    slips,
                    len,
                    end,
                });
            }
            Err(message) if parser.begun || parser.is_at_end() => {
                return Err((parser.at, message));
            }
            Err(message) => {
                first_error.get_or_insert((parser.at, message));
                from = start + 1;
            }
        }
    }
    // Stable: of two that are as long, the first counts.
    found.sort_by_key(|found| std::cmp::Reverse(found.len));
    match (found.is_empty(), first_error) {
        (false, _) => Ok(found),
        (true, Some(error)) => Err(error),
        (true, None) => Err((text.len(), NO_JSON.to_owned())),
    }
}
