//! OpenAI's responses: <https://platform.openai.com/docs/api-reference/responses>.
//!
//! Nothing is stored at the server: a conversation is sent whole, with the reasoning items of earlier turns, which are encrypted.
//! [`input`] writes the conversation, [`reply`] reads a reply.

mod input;
mod reply;

use serde_json::{Map as JsonMap, Value as Json, json};

use crate::backend::secret::Secret;
use crate::backend::wire::Failure;
use crate::run::model::{ChatRequest, ToolSpec};

use super::form::Form;
use super::openai::{STRICT, bearer, choice};
use super::protocol::{Protocol, Reader};
use super::schema::Dialect;
use crate::project::spec::provider::{Settings, Structured};

/// Responses.
pub struct Responses;

impl Protocol for Responses {
    fn path(&self, _: &ChatRequest) -> String {
        "responses".to_owned()
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
        _: &Settings,
    ) -> Result<JsonMap<String, Json>, Failure> {
        let mut body = JsonMap::new();
        let mut put = |name: &str, value: Option<Json>| {
            body.extend(value.map(|value| (name.to_owned(), value)));
        };
        put("model", Some(request.model.clone().into()));
        put("input", Some(input::write(&request.messages).into()));
        put("store", Some(false.into()));
        if reasons(&request.model) {
            put("include", Some(json!(["reasoning.encrypted_content"])));
        }
        if !request.tools.is_empty() {
            put("tools", Some(request.tools.iter().map(tool).collect()));
            let one = |name: &str| json!({ "type": "function", "name": name });
            put("tool_choice", choice(&request.tool_choice, one));
        }
        let format = form.map(|form| match form.way {
            Structured::JsonObject => json!({ "type": "json_object" }),
            _ => json!({
                "type": "json_schema", "name": form.name, "schema": form.schema, "strict": form.strict,
            }),
        });
        put("text", format.map(|format| json!({ "format": format })));
        put("temperature", request.temperature.map(Json::from));
        put("top_p", request.top_p.map(Json::from));
        put("max_output_tokens", request.max_tokens.map(Json::from));
        let effort = request.reasoning_effort.as_ref();
        put(
            "reasoning",
            effort.map(|effort| json!({ "effort": effort })),
        );
        put("stream", request.stream.then(|| true.into()));
        Ok(body)
    }

    fn reader(&self, _request: &ChatRequest) -> Box<dyn Reader> {
        Box::<reply::Response>::default()
    }
}

/// Whether a model may reason: those that came before reasoning are asked for no reasoning items, which they refuse.
fn reasons(model: &str) -> bool {
    const BEFORE: [&str; 4] = ["gpt-3", "gpt-4", "chatgpt-4", "gpt-5-chat"];
    !BEFORE.iter().any(|name| model.starts_with(name))
}

fn tool(tool: &ToolSpec) -> Json {
    json!({
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
        "strict": false,
    })
}
