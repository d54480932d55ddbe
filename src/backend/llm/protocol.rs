//! What a protocol says: how a request is made, and how a reply is read. Everything else is the same for all of them
//! ([`provider`](super::provider)).

use serde_json::{Map as JsonMap, Value as Json};

use crate::backend::secret::Secret;
use crate::backend::wire::{Failure, Peer};
use crate::run::model::ChatRequest;

use super::form::Form;
use super::reply_parts::ReplyParts;
use super::schema::Dialect;
use crate::project::spec::provider::Settings;

/// How a kind of provider is spoken to.
pub trait Protocol: Send + Sync {
    /// What follows the base address, with its query.
    fn path(&self, request: &ChatRequest) -> String;

    /// The path of a list of models, with its query.
    fn models(&self) -> &'static str {
        "models"
    }

    /// The path of what is known of one model.
    fn model(&self, name: &str) -> String {
        format!("models/{name}")
    }

    /// The header that shows a key.
    fn key(&self, key: &Secret) -> (&'static str, String);

    /// Headers of every request.
    fn headers(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// What it takes of JSON Schema.
    fn dialect(&self) -> &'static Dialect;

    /// The body of a request. `form` is how the reply is held to a form; where it must be said in words, the messages have them.
    ///
    /// # Errors
    /// `InvalidRequest` for what the protocol can't say and must.
    fn body(
        &self,
        request: &ChatRequest,
        form: Option<&Form>,
        settings: &Settings,
    ) -> Result<JsonMap<String, Json>, Failure>;

    /// What reads the reply to a request.
    fn reader(&self, request: &ChatRequest) -> Box<dyn Reader>;
}

/// Reads one reply into what a model has said. Objects with an `error` are not shown to it.
pub trait Reader: Send {
    /// A reply that came whole.
    ///
    /// # Errors
    /// `ServerError` for what is no reply, the kind of an error that it reports.
    fn whole(
        &mut self,
        reply: &Json,
        peer: Peer<'_>,
        reply_parts: &mut ReplyParts,
    ) -> Result<(), Failure>;

    /// An event of a stream.
    ///
    /// # Errors
    /// As [`Reader::whole`].
    fn event(
        &mut self,
        event: &Json,
        peer: Peer<'_>,
        reply_parts: &mut ReplyParts,
    ) -> Result<(), Failure>;

    /// Nothing follows: what was put together of pieces is whole.
    fn close(&mut self, _: &mut ReplyParts) {}
}
