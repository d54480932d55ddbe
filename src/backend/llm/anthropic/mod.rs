//! Anthropic's messages: <https://docs.claude.com/en/api/messages>.
//!
//! [`messages`] writes the conversation, [`request`] the rest of what is asked, [`reply`] reads a reply.

mod messages;
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

/// What structured outputs take: <https://docs.claude.com/en/docs/build-with-claude/structured-outputs>.
const DIALECT: Dialect = Dialect {
    refused: &[
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minLength",
        "maxLength",
        "pattern",
        "minItems",
        "maxItems",
        "uniqueItems",
        "default",
    ],
    closed: true,
    all_required: false,
    recursion: Recursion::Never,
    object: true,
    lenient: false,
    beside_tools: true,
};

/// Messages.
pub struct Messages;

impl Protocol for Messages {
    fn path(&self, _: &ChatRequest) -> String {
        "messages".to_owned()
    }

    fn models(&self) -> &'static str {
        "models?limit=1000"
    }

    fn key(&self, key: &Secret) -> (&'static str, String) {
        ("x-api-key", key.reveal().to_owned())
    }

    fn headers(&self) -> &'static [(&'static str, &'static str)] {
        &[("anthropic-version", "2023-06-01")]
    }

    fn dialect(&self) -> &'static Dialect {
        &DIALECT
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
        Box::<reply::Message>::default()
    }
}
