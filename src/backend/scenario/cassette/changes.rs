//! What a request differs in from the recorded one, in lines.

use serde_json::Value as Json;
use similar::{ChangeTag, TextDiff};

/// Lines shown of one text.
const MOST_LINES: usize = 12;
/// Parts named.
const MOST_PARTS: usize = 8;

/// The parts that differ, each with its path and both sides: of texts of several lines, the lines that differ.
pub fn changes(recorded: &Json, asked: &Json) -> Vec<String> {
    let mut lines = Vec::new();
    compare("", recorded, asked, &mut lines);
    let more = lines.len().saturating_sub(MOST_PARTS);
    lines.truncate(MOST_PARTS);
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
    lines
}

fn compare(path: &str, recorded: &Json, asked: &Json, into: &mut Vec<String>) {
    let name = |key: &str| match path {
        "" => key.to_owned(),
        path => format!("{path}.{key}"),
    };
    match (recorded, asked) {
        (recorded, asked) if recorded == asked => {}
        (Json::Object(before), Json::Object(now)) => {
            let added = now.keys().filter(|key| !before.contains_key(*key));
            for key in before.keys().chain(added) {
                let part =
                    |of: &serde_json::Map<String, Json>| of.get(key).cloned().unwrap_or_default();
                compare(&name(key), &part(before), &part(now), into);
            }
        }
        (Json::Array(before), Json::Array(now)) => {
            for (at, pair) in before.iter().zip(now).enumerate() {
                compare(&format!("{path}[{at}]"), pair.0, pair.1, into);
            }
            if before.len() != now.len() {
                into.push(format!(
                    "`{path}` has {} elements, recorded {}",
                    now.len(),
                    before.len()
                ));
            }
        }
        (Json::String(before), Json::String(now))
            if before.contains('\n') || now.contains('\n') =>
        {
            into.push(format!("`{path}`:\n{}", text(before, now)));
        }
        (Json::Null, now) => into.push(format!("`{path}` is new: {now}")),
        (before, Json::Null) => into.push(format!("`{path}` is gone: {before}")),
        (before, now) => into.push(format!("`{path}` is {now}, recorded {before}")),
    }
}

fn text(before: &str, now: &str) -> String {
    let diff = TextDiff::from_lines(before, now);
    let changed = diff
        .iter_all_changes()
        .filter(|change| change.tag() != ChangeTag::Equal);
    let mut lines: Vec<String> = changed
        .map(|change| {
            let sign = match change.tag() {
                ChangeTag::Delete => '-',
                _ => '+',
            };
            format!("  {sign} {}", change.value().trim_end_matches('\n'))
        })
        .collect();
    let more = lines.len().saturating_sub(MOST_LINES);
    lines.truncate(MOST_LINES);
    if more > 0 {
        lines.push(format!("  and {more} more lines"));
    }
    lines.join("\n")
}
