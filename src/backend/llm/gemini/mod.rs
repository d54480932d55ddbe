//! Google's `generateContent`: <https://ai.google.dev/api/generate-content>.
//!
//! [`contents`] writes the conversation, [`request`] the rest of what is asked, [`reply`] reads a reply.

mod contents;
mod reply;
mod request;

use serde_json::{Map as JsonMap, Value as Json};

use crate::backend::secret::Secret;
use crate::backend::wire::Failure;
use crate::run::model::ChatRequest;

use super::form::Form;
use super::protocol::{Protocol, Reader};
use super::schema::{Dialect, Recursion};
use crate::project::spec::provider::Settings;

/// What `responseJsonSchema` and `parametersJsonSchema` take.
const DIALECT: Dialect = Dialect {
    refused: &[
        "default",
        "minLength",
        "maxLength",
        "pattern",
        "uniqueItems",
        "multipleOf",
        "exclusiveMinimum",
        "exclusiveMaximum",
    ],
    closed: false,
    all_required: false,
    recursion: Recursion::Optional,
    object: false,
    lenient: false,
    beside_tools: false,
};

/// Models that generate content.
pub struct GenerateContent;

impl Protocol for GenerateContent {
    fn path(&self, request: &ChatRequest) -> String {
        let model = self.model(&request.model);
        match request.stream {
            true => format!("{model}:streamGenerateContent?alt=sse"),
            false => format!("{model}:generateContent"),
        }
    }

    fn models(&self) -> &'static str {
        "models?pageSize=1000"
    }

    fn model(&self, name: &str) -> String {
        // `tunedModels/x` is a place of its own.
        let models = if name.contains('/') { "" } else { "models/" };
        format!("{models}{name}")
    }

    fn key(&self, key: &Secret) -> (&'static str, String) {
        ("x-goog-api-key", key.reveal().to_owned())
    }

    fn dialect(&self) -> &'static Dialect {
        &DIALECT
    }

    fn body(
        &self,
        request: &ChatRequest,
        form: Option<&Form>,
        _: &Settings,
    ) -> Result<JsonMap<String, Json>, Failure> {
        Ok(request::body(request, form))
    }

    fn reader(&self, request: &ChatRequest) -> Box<dyn Reader> {
        Box::new(reply::Candidate::of(request))
    }
}
