//! Effects, whose answers differ from one call to the next, and questions about fields. The evaluator asks its
//! [`Env`](super::super::eval::Env) for them.

use super::super::eval::Effect;
use super::{BuiltinKind, Carries, Row};

const fn effect(
    name: &'static str,
    effect: Effect,
    signatures: &'static [&'static str],
    doc: &'static str,
    example: &'static str,
) -> Row {
    Row::new(name, BuiltinKind::Effect(effect), signatures, doc, example).carries(Carries::Nothing)
}

const fn question(
    name: &'static str,
    signatures: &'static [&'static str],
    doc: &'static str,
    example: &'static str,
) -> Row {
    Row::new(name, BuiltinKind::Field, signatures, doc, example).carries(Carries::Nothing)
}

pub(super) const EFFECTS: &[Row] = &[
    effect(
        "now",
        Effect::Now,
        &["() -> timestamp"],
        "The time.",
        r#"now() - duration("1h") < now()"#,
    ),
    effect(
        "random",
        Effect::Random,
        &["() -> float"],
        "A number, 0 or above and below 1.",
        "random() < 1.0",
    ),
    effect(
        "uuid",
        Effect::Uuid,
        &["() -> string"],
        "A new id: a random UUID.",
        "size(uuid()) == 36",
    ),
    question(
        "invalidated_by",
        &["(field) -> list<string>"],
        "The fields that were written since this one was made from them.",
        r#"invalidated_by(state.draft) == ["topic"]"#,
    ),
    question(
        "stale",
        &["(field) -> bool"],
        "Whether a field that this one is based on was written after it.",
        "stale(state.draft)",
    ),
];
