//! What parts of a flow are called in messages, and whom a change of them meets.

use std::borrow::Cow;

use super::finding::Side::{self, People, Threads};

/// What the things of a list are called, empty where they have no name; and whether they are said as parts of the
/// thing around them, as what has no place of its own is.
pub(super) fn noun(kind: &str, list: &str) -> (&'static str, bool) {
    match (kind, list) {
        ("flow", "graphs") => ("graph", false),
        ("flow", "parametric") => ("graph with parameters", false),
        ("flow", "tools") => ("tool", false),
        ("flow", "models") => ("model", false),
        ("flow", "events") => ("event", false),
        ("flow", "reducers") => ("reducer", false),
        ("flow", "records" | "enums") => ("type", false),
        ("graph", "nodes") => ("node", false),
        ("graph" | "graph with parameters", "fields") => ("field", false),
        ("graph", "joins") => ("join", true),
        ("node", "stops") => ("interrupt", true),
        ("tool" | "graph with parameters", "params" | "items") => ("parameter", true),
        ("node", "input") => ("input", true),
        (_, "context") => ("context", true),
        ("type" | "event", "fields") => ("field", true),
        ("type", "members") => ("member", true),
        _ => ("", false),
    }
}

/// Whom a change of a thing meets.
pub(super) fn side(kind: &str) -> Side {
    match kind {
        "field" => Threads,
        _ => People,
    }
}

/// Things whose order says something, and what; nothing of declarations in a file.
pub(super) fn meaning_of_order(kind: &str, list: &str) -> Option<(&'static str, &'static str)> {
    Some(match (kind, list) {
        ("graph", "nodes") => (
            "nodes",
            "; what they write in one super-step is put together in it",
        ),
        ("node", "stops") => ("interrupts", "; they are asked in it"),
        ("type", "members") => ("members", "; models are shown them in it"),
        ("tool" | "graph with parameters", "params") => {
            ("parameters", "; models are shown them in it")
        }
        ("node", "input") => ("inputs", ""),
        (_, "context") => ("constants", ""),
        ("type" | "event", "fields") => ("fields", "; models are shown them in it"),
        ("graph" | "graph with parameters", "fields") => ("fields", ""),
        _ => return None,
    })
}

/// A part of a thing in words.
pub(super) fn words(kind: &str, key: &str) -> Cow<'static, str> {
    let known = match (kind, key) {
        (_, "next") => "the way on",
        ("graph", "start") => "the start",
        ("graph with parameters", "text") => "the text",
        ("graph with parameters", "texts") => "a prompt",
        (_, "doc") => "the doc comment",
        (_, "ty" | "expect") => "the type",
        (_, "returns") => "the result",
        (_, "permits") => "`permit`",
        (_, "set") => "`set`",
        (_, "lets" | "lets_within" | "lets_behind") => "`let`",
        (_, "after_lets") => "when `require` is asked",
        (_, "requires") => "`require`",
        (_, "ensures") => "`ensure`",
        (_, "skips") => "`skip`",
        (_, "emits") => "`emit`",
        (_, "stream_as") => "`stream as`",
        (_, "exits") => "`exit when`",
        (_, "narrowed") => "`where` of the tools",
        (_, "channel") => "the reducer",
        (_, "members") => "the members",
        (_, "joins") => "the joins",
        ("model", "model" | "provider") => "the reference",
        ("node", "args") => "the call",
        ("node" | "graph", "to") => "the way on",
        ("node", "work") => "what is done",
        ("flow", "marks") => "the list of marks",
        ("field", "default") => "the first value",
        ("tool", "sinks") => "`@sink`",
        (
            "tool",
            "approve" | "unattended" | "untrusted" | "private" | "secret" | "effect" | "idempotent"
            | "timeout_ms" | "on_error" | "progress",
        ) => return format!("`@{}`", key.trim_end_matches("_ms")).into(),
        (_, "min" | "max" | "len" | "pattern" | "alias") => return format!("`@{key}`").into(),
        _ => return format!("`{}`", key.trim_end_matches("_ms")).into(),
    };
    known.into()
}

/// The code of a change of it.
pub(super) fn code(kind: &str, key: &str) -> &'static str {
    match (kind, key) {
        ("node", "model") => "model-changed",
        ("node", "system" | "prompt" | "messages") => "prompt-changed",
        ("node", "output") => "reply-type",
        ("node", "max_turns") => "turns-changed",
        ("node", "tool") => "tool-changed",
        ("node", "ask") => "ask-changed",
        ("node" | "interrupt", "permits") => "permit-changed",
        ("node", "extern") => "extern-changed",
        ("node", _) => "node-changed",
        ("graph", "start") => "start-changed",
        ("graph", "exits") => "exit-changed",
        ("graph", "tools" | "narrowed") => "scope-changed",
        ("graph", "instance") => "params-changed",
        ("graph", "recursion_limit") => "limit-changed",
        ("graph", "joins" | "to" | "members") => "join-changed",
        ("graph", "context") => "context-changed",
        ("graph", "migrate") => "migrate-changed",
        ("graph" | "graph with parameters", _) => "graph-changed",
        ("field", "default") => "default-changed",
        ("field", "channel") => "reducer-changed",
        ("field", "based_on") => "based-on-changed",
        ("field", "ephemeral" | "untracked" | "persist") => "field-kept",
        ("field", "ty") => "field-type",
        ("field", _) => "field-changed",
        ("tool", "doc") => "tool-doc",
        ("tool", "effect") => "tool-effect",
        (
            "tool",
            "approve" | "unattended" | "untrusted" | "private" | "secret" | "idempotent"
            | "timeout_ms" | "on_error" | "progress" | "sinks",
        ) => "tool-mark",
        (
            "tool",
            "params" | "ty" | "returns" | "default" | "min" | "max" | "len" | "pattern" | "alias",
        ) => "tool-signature",
        ("tool", _) => "tool-work",
        ("model", _) => "model-setting",
        ("event", _) => "event-changed",
        ("reducer", _) => "reducer-changed",
        ("type", _) => "type-changed",
        ("flow", "marks" | "secrets") => "mark-changed",
        _ => "flow-changed",
    }
}
