//! Parts of a flow as a person writes them, for messages.

use serde_json::{Map, Value as Json};

/// The most characters of a text that are shown.
const MOST: usize = 90;

/// Characters shown ahead of the first difference of two long texts.
const AHEAD: usize = 20;

/// What stands before and after a part, in the order in which parts are written.
const WRITTEN: [(&str, &str, &str); 35] = [
    ("once", "once ", ""),
    ("each", "", " -> "),
    ("var", "each ", ""),
    ("items", " in ", ""),
    ("worker", " -> ", ""),
    ("event", "", ""),
    ("tool", "", ""),
    ("field", "", ""),
    ("name", "", ""),
    ("param", "", ""),
    ("kind", " (", ")"),
    ("limit", "", ""),
    ("after_ms", "", ""),
    ("pins", "(", ")"),
    ("value", ": ", ""),
    ("replacement", " := ", ""),
    ("text", "", ""),
    ("args", " with { ", " }"),
    ("with", " with { ", " }"),
    ("fixed", " with { ", " }"),
    ("conditions", " where ", ""),
    ("fields", " { ", " }"),
    ("on_start", " on start", ""),
    ("condition", "", ""),
    ("message", " else ", ""),
    ("when", " when ", ""),
    ("table", " of ", ""),
    ("jump", " -> ", ""),
    ("to", " -> ", ""),
    ("then", " then ", ""),
    ("set", " set { ", " }"),
    ("emits", " emit ", ""),
    ("fail", "fail(", ")"),
    ("parent", "parent.", ""),
    ("node", "", ""),
];

/// What follows from the parts that are shown.
const FOLLOWS: [&str; 4] = ["arguments", "in_words", "by_answer", "after_lets"];

/// It as a person writes it, in one line.
pub(super) fn show(json: &Json) -> String {
    match json {
        Json::String(text) => text.clone(),
        Json::Array(items) => match items.as_slice() {
            [one] => show(one),
            _ => format!("[{}]", joined(items, ", ")),
        },
        Json::Object(part) => object(part),
        other => other.to_string(),
    }
}

fn object(part: &Map<String, Json>) -> String {
    if let Some(Json::Array(arms)) = part.get("arms") {
        return joined(arms, "; ");
    }
    let mut out = String::new();
    for (key, before, after) in WRITTEN {
        let inner = match (key, part.get(key)) {
            (_, None) => continue,
            (_, Some(Json::Array(items))) if items.is_empty() => continue,
            (_, Some(Json::Bool(_))) => String::new(),
            ("conditions", Some(Json::Array(items))) => joined(items, " && "),
            ("to" | "then", Some(json)) => show(json),
            (_, Some(Json::Array(items))) => joined(items, ", "),
            (_, Some(json)) => show(json),
        };
        out.extend([before, &inner, after]);
    }
    let is_other = |key: &str| {
        let written = WRITTEN.iter().any(|(known, ..)| *known == key);
        !written && !FOLLOWS.contains(&key) && key != "at"
    };
    let others: Vec<(&String, &Json)> = part.iter().filter(|(key, _)| is_other(key)).collect();
    match others.as_slice() {
        [] => {}
        // A variant with what it holds.
        [(_, json)] if part.len() == 1 && matches!(json, Json::Object(_) | Json::Array(_)) => {
            out = show(json);
        }
        others => {
            let others = others
                .iter()
                .map(|(key, json)| format!("{} {}", key.trim_end_matches("_ms"), show(json)));
            let others: Vec<String> = others.collect();
            out = format!("{out} {{ {} }}", others.join(", "));
        }
    }
    let out = out.strip_prefix(" -> ").unwrap_or(&out);
    let out = out.strip_prefix(": ").unwrap_or(out);
    out.strip_suffix(" -> ").unwrap_or(out).trim().to_owned()
}

fn joined(items: &[Json], between: &str) -> String {
    let shown = items.iter().map(|item| match item {
        Json::Object(arm) if arm.contains_key("jump") && !arm.contains_key("when") => {
            format!("else -> {}", show(item))
        }
        item => show(item),
    });
    shown.collect::<Vec<_>>().join(between)
}

/// Two versions of something, each short enough to be read and both without what they have in common where that is
/// long.
pub(super) fn both(old: &Json, new: &Json) -> (String, String) {
    let (old, new) = match (items(old), items(new), old, new) {
        (Some(old), Some(new), ..) => apart(old, new),
        (_, _, Json::Object(old), Json::Object(new)) => {
            match (beyond(old, new), beyond(new, old)) {
                (Some(old), Some(new)) => (object(&old), object(&new)),
                _ => (object(old), object(new)),
            }
        }
        _ => (show(old), show(new)),
    };
    let same = old.chars().zip(new.chars()).take_while(|(a, b)| a == b);
    let from = same.count().saturating_sub(AHEAD);
    let long = old.chars().count() > MOST || new.chars().count() > MOST;
    let from = if long { from } else { 0 };
    (cut(&old, from), cut(&new, from))
}

/// One version, short enough to be read.
pub(super) fn one(json: &Json) -> String {
    cut(&show(json), 0)
}

/// Of settings the entries that another version has otherwise or not.
fn beyond(part: &Map<String, Json>, other: &Map<String, Json>) -> Option<Map<String, Json>> {
    let settings = !part
        .keys()
        .any(|key| WRITTEN.iter().any(|(known, ..)| known == key));
    let entries = part.iter();
    let entries = entries.filter(|(key, json)| other.get(*key) != Some(json));
    let several = part.len() > 1 || other.len() > 1;
    (settings && several).then(|| {
        entries
            .map(|(key, json)| (key.clone(), json.clone()))
            .collect()
    })
}

/// What a list, or a route with arms, is made of.
fn items(json: &Json) -> Option<&[Json]> {
    match json {
        // Numbers are bounds, which are one thing together.
        Json::Array(items) if items.iter().any(Json::is_number) => None,
        Json::Array(items) => Some(items),
        Json::Object(route) => route.get("arms")?.as_array().map(Vec::as_slice),
        _ => None,
    }
}

/// The elements without those at both ends that are the same.
fn apart(old: &[Json], new: &[Json]) -> (String, String) {
    let common = |(a, b): &(&Json, &Json)| a == b;
    let head = old.iter().zip(new).take_while(common).count();
    let behind = |all| <[Json]>::get(all, head..).unwrap_or(&[]);
    let (old, new) = (behind(old), behind(new));
    let tail = old.iter().rev().zip(new.iter().rev());
    let tail = tail.take_while(common).count();
    let rest = |all: &[Json]| {
        let many = all.len().saturating_sub(tail);
        joined(all.get(..many).unwrap_or(&[]), "; ")
    };
    (rest(old), rest(new))
}

/// From a character on, in one line, and no more than can be read.
fn cut(text: &str, from: usize) -> String {
    let begin = if from > 0 { ".." } else { "" };
    let part: String = text.chars().skip(from).take(MOST).collect();
    let end = match text.chars().count() > from + MOST {
        true => "..",
        false => "",
    };
    format!("{begin}{}{end}", part.replace('\n', " "))
}
