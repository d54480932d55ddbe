//! About how many bytes an event holds.

use serde_json::Value as Json;

use crate::run::event::{Event, EventKind};

/// What an event costs beside its texts.
const OVERHEAD: usize = 200;

/// About how many bytes an event holds.
pub fn weight(event: &Event) -> usize {
    let texts = event.id.len() + event.ns.len() + event.node.as_ref().map_or(0, String::len);
    let held = match &event.kind {
        EventKind::Values(json) | EventKind::Updates(json) => of_json(json),
        EventKind::Token { text, .. } => text.len(),
        EventKind::Message { message, .. } => of_json(message),
        EventKind::Custom { payload, .. } => of_json(payload),
        EventKind::TaskFinished {
            error: Some(error), ..
        } => of_json(error),
        EventKind::Retrying { error, .. } | EventKind::Fallback { error, .. } => of_json(error),
        EventKind::TaskInterrupted {
            interrupts, paths, ..
        } => of_names(interrupts) + of_names(paths),
        EventKind::Checkpoint { next: names, .. } | EventKind::Repaired { repairs: names, .. } => {
            of_names(names)
        }
        _ => 0,
    };
    OVERHEAD + texts + held
}

fn of_names(names: &[String]) -> usize {
    names
        .iter()
        .map(|name| name.len() + size_of::<String>())
        .sum()
}

fn of_json(json: &Json) -> usize {
    let mut bytes = 0;
    let mut left = vec![json];
    while let Some(json) = left.pop() {
        bytes += size_of::<Json>();
        match json {
            Json::String(text) => bytes += text.len(),
            Json::Array(items) => left.extend(items),
            Json::Object(entries) => {
                bytes += entries
                    .keys()
                    .map(|key| key.len() + size_of::<String>())
                    .sum::<usize>();
                left.extend(entries.values());
            }
            Json::Null | Json::Bool(_) | Json::Number(_) => {}
        }
    }
    bytes
}
