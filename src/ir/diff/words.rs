//! What parts of a flow are called in messages, and whom a change of them meets.

use std::borrow::Cow;

use super::finding::Side;
use super::finding::Side::{People, Threads};

/// How a change of something is said.
pub(super) struct Word {
    /// The thing in words.
    pub what: Cow<'static, str>,
    /// Whom it meets.
    pub side: Side,
    /// The finding's code.
    pub code: &'static str,
}

/// What a thing with a name is called; empty for what has none. `key` is the list in which it stands.
pub(super) fn noun(kind: &str, key: &str) -> &'static str {
    match (kind, key) {
        ("Record" | "EnumType", _) => "type",
        ("EnumMember", _) => "member",
        ("RecordField", "params") | ("ItemParam", _) => "parameter",
        ("RecordField", "input") => "input",
        ("RecordField", "context") => "context",
        ("RecordField" | "Field", _) => "field",
        ("Event", _) => "event",
        ("Reducer", _) => "reducer",
        ("Model", _) => "model",
        ("Tool", _) => "tool",
        ("Graph", _) => "graph",
        ("Node", _) => "node",
        ("Stop", _) => "interrupt",
        ("Join", _) => "join",
        ("Parametric", _) => "graph with parameters",
        _ => "",
    }
}

/// How a change of the part `key` of a thing is said.
pub(super) fn word(kind: &str, key: &str) -> Word {
    let side = match (kind, key) {
        ("Field", _) => Threads,
        _ => People,
    };
    Word {
        what: what(kind, key),
        side,
        code: code(kind, key),
    }
}

fn what(kind: &str, key: &str) -> Cow<'static, str> {
    let known = match (kind, key) {
        (_, "next") => "the way on",
        ("Graph", "start") => "the start",
        ("Parametric", "text") => "the text",
        ("Parametric", "texts") => "a prompt",
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
        ("Model", "model" | "provider") => "the reference",
        ("Node", "args") => "the call",
        ("Node" | "Graph", "to") => "the way on",
        ("Node", "work") => "what is done",
        ("Flow", "marks") => "the list of marks",
        ("Field", "default") => "the first value",
        (
            "Tool",
            "approve" | "unattended" | "untrusted" | "private" | "secret" | "effect" | "idempotent"
            | "timeout_ms" | "on_error" | "progress" | "sinks",
        ) => {
            let word = key.trim_end_matches("_ms").trim_end_matches('s');
            return format!("`@{word}`").into();
        }
        (_, "min" | "max" | "len" | "pattern" | "alias") => return format!("`@{key}`").into(),
        _ => return format!("`{}`", key.trim_end_matches("_ms")).into(),
    };
    known.into()
}

fn code(kind: &str, key: &str) -> &'static str {
    match (kind, key) {
        ("Node", "model") => "model-changed",
        ("Node", "system" | "prompt" | "messages") => "prompt-changed",
        ("Node", "output") => "reply-type",
        ("Node", "max_turns") => "turns-changed",
        ("Node", "tool") => "tool-changed",
        ("Node", "ask") => "ask-changed",
        ("Node" | "Stop", "permits") => "permit-changed",
        ("Node", "name") => "extern-changed",
        ("Node", _) => "node-changed",
        ("Graph", "start") => "start-changed",
        ("Graph", "exits") => "exit-changed",
        ("Graph", "tools" | "narrowed") => "scope-changed",
        ("Graph", "instance") => "params-changed",
        ("Graph", "recursion_limit") => "limit-changed",
        ("Graph", "joins" | "to" | "members") => "join-changed",
        ("Graph", "context") => "context-changed",
        ("Graph", "migrate") => "migrate-changed",
        ("Graph" | "Parametric", _) => "graph-changed",
        ("Field", "default") => "default-changed",
        ("Field", "channel") => "reducer-changed",
        ("Field", "based_on") => "based-on-changed",
        ("Field", "ephemeral" | "untracked" | "persist") => "field-kept",
        ("Field", _) => "field-changed",
        ("Tool", "doc") => "tool-doc",
        ("Tool", "effect") => "tool-effect",
        (
            "Tool",
            "approve" | "unattended" | "untrusted" | "private" | "secret" | "idempotent"
            | "timeout_ms" | "on_error" | "progress" | "sinks",
        ) => "tool-mark",
        (
            "Tool",
            "params" | "ty" | "returns" | "default" | "min" | "max" | "len" | "pattern" | "alias",
        ) => "tool-signature",
        ("Tool", _) => "tool-work",
        ("Model", _) => "model-setting",
        ("Event", _) => "event-changed",
        ("Reducer", _) => "reducer-changed",
        ("Record" | "EnumType", _) => "type-changed",
        ("Flow", "marks" | "secrets") => "mark-changed",
        _ => "flow-changed",
    }
}
