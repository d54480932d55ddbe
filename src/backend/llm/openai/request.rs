//! What is asked.

use serde_json::{Map as JsonMap, Value as Json, json};

use crate::backend::llm::form::Form;
use crate::project::spec::provider::{Settings, Structured};
use crate::run::model::{ChatRequest, ToolChoice};

use super::messages;

/// The body of a request.
pub fn body(
    request: &ChatRequest,
    form: Option<&Form>,
    settings: &Settings,
) -> JsonMap<String, Json> {
    let mut body = JsonMap::new();
    body.insert("model".into(), request.model.clone().into());
    body.extend(form.map(|form| ("response_format".to_owned(), response_format(form))));
    body.insert("messages".into(), messages::write(&request.messages).into());
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(messages::tool);
        body.insert("tools".into(), tools.collect());
        let choice = choice(
            &request.tool_choice,
            |name| json!({ "type": "function", "function": { "name": name } }),
        );
        body.extend(choice.map(|choice| ("tool_choice".to_owned(), choice)));
    }
    let numbers = [
        ("temperature", request.temperature.map(Json::from)),
        ("top_p", request.top_p.map(Json::from)),
        (
            settings.max_tokens_field.as_str(),
            request.max_tokens.map(Json::from),
        ),
        (
            "reasoning_effort",
            request.reasoning_effort.clone().map(Json::from),
        ),
        ("seed", request.seed.map(Json::from)),
    ];
    for (name, value) in numbers {
        body.extend(value.map(|value| (name.to_owned(), value)));
    }
    if request.stream {
        body.insert("stream".into(), true.into());
        body.insert("stream_options".into(), json!({ "include_usage": true }));
    }
    body
}

/// Whether a tool must be called, in OpenAI's words; `one` says which.
pub fn choice(choice: &ToolChoice, one: impl Fn(&str) -> Json) -> Option<Json> {
    match choice {
        ToolChoice::Auto => None,
        ToolChoice::None => Some("none".into()),
        ToolChoice::Required => Some("required".into()),
        ToolChoice::Tool(name) => Some(one(name)),
    }
}

fn response_format(form: &Form) -> Json {
    match form.way {
        Structured::JsonObject => json!({ "type": "json_object" }),
        _ => json!({ "type": "json_schema", "json_schema": {
            "name": form.name, "schema": form.schema, "strict": form.strict,
        } }),
    }
}
