//! OpenAI's chat completions, and every server that speaks them: Ollama, vLLM, llama.cpp, OpenRouter, Azure.
//!
//! <https://platform.openai.com/docs/api-reference/chat>. [`request`] writes what is asked, [`messages`] the conversation in it,
//! [`reply`] reads a reply, [`calls`] puts tool calls together. [`embeddings`] has texts turned into vectors.

mod calls;
mod embeddings;
pub mod messages;
mod reply;
mod request;

use serde_json::{Map as JsonMap, Value as Json};

pub use embeddings::Embeddings;
pub use request::choice;

use crate::backend::secret::Secret;
use crate::backend::wire::Failure;
use crate::run::model::ChatRequest;

use super::form::Form;
use super::protocol::{Protocol, Reader};
use super::schema::{Dialect, Recursion};
use crate::project::spec::provider::Settings;

/// OpenAI's strict mode: <https://platform.openai.com/docs/guides/structured-outputs#supported-schemas>.
pub const STRICT: Dialect = Dialect {
    refused: &["default", "minLength", "maxLength", "uniqueItems"],
    closed: true,
    all_required: true,
    recursion: Recursion::Anywhere,
    object: true,
    lenient: true,
    beside_tools: true,
};

/// The header that shows a key.
pub fn bearer(key: &Secret) -> (&'static str, String) {
    ("authorization", format!("Bearer {}", key.reveal()))
}

/// Chat completions.
pub struct ChatCompletions;

impl Protocol for ChatCompletions {
    fn path(&self, _: &ChatRequest) -> String {
        "chat/completions".to_owned()
    }

    fn key(&self, key: &Secret) -> (&'static str, String) {
        bearer(key)
    }

    fn dialect(&self) -> &'static Dialect {
        &STRICT
    }

    fn body(
        &self,
        request: &ChatRequest,
        form: Option<&Form>,
        settings: &Settings,
    ) -> Result<JsonMap<String, Json>, Failure> {
        Ok(request::body(request, form, settings))
    }

    fn reader(&self, _request: &ChatRequest) -> Box<dyn Reader> {
        Box::<reply::Completion>::default()
    }
}
