//! Which protocol a reply is of, for a provider whose `kind` is another's.

use serde_json::Value as Json;

use crate::backend::wire::{Failure, Peer};
use crate::ir::ErrorKind;

use crate::project::spec::provider::Kind;

/// A field of whole replies or of their chunks, how its text begins (empty: whatever it is), and the only kind that has it.
const SHAPES: [(&str, &str, Kind); 7] = [
    ("choices", "", Kind::OpenAi),
    ("object", "chat.completion", Kind::OpenAi),
    ("object", "response", Kind::OpenAiResponses),
    ("type", "response.", Kind::OpenAiResponses),
    ("type", "message", Kind::Anthropic),
    ("type", "content_block_", Kind::Anthropic),
    ("candidates", "", Kind::Gemini),
];

/// Why a reply that could not be read is of another protocol than a provider of that kind speaks; `None` where it does not look so.
pub fn foreign(reply: &Json, own: Kind, peer: Peer<'_>) -> Option<Failure> {
    let has = |(field, begins, _): &&(&str, &str, Kind)| match reply.get(*field) {
        Some(Json::String(text)) => text.starts_with(begins),
        Some(_) => begins.is_empty(),
        None => false,
    };
    let mut kinds = SHAPES.iter().filter(has).map(|(_, _, kind)| *kind);
    let other = kinds.next()?;
    if other == own || kinds.any(|kind| kind == own) {
        return None;
    }
    let message = format!(
        "`{}` sent a reply of the protocol `{}`, and its `kind` is `{}`: is `kind` right?",
        peer.name,
        other.word(),
        own.word()
    );
    Some(Failure {
        in_doubt: true,
        ..Failure::new(ErrorKind::InvalidRequest, message)
    })
}
