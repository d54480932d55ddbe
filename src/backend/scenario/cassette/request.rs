//! What a cassette keeps of a request: all that a reply may depend on, and nothing that differs from run to run.

use serde_json::{Map, Value as Json, json};

use crate::run::model::{ChatRequest, ToolChoice};
use crate::run::request::Request;
use crate::value::Value;

/// Parts of a message that say nothing to a model.
const LEFT_OUT: [&str; 3] = ["id", "usage", "finish"];

/// A request as it is kept. Schemas of tools are kept as digests: a difference of one names the tool.
pub fn asked(request: &ChatRequest) -> Json {
    let mut asked = Map::new();
    let mut put = |key: &str, value: Json| {
        let empty = value.is_null() || value.as_object().is_some_and(Map::is_empty);
        if !empty {
            asked.insert(key.to_owned(), value);
        }
    };
    put("model", json!(request.model));
    put("messages", request.messages.iter().map(message).collect());
    let tools = request.tools.iter().map(|tool| {
        let digest = digest(&json!([tool.description, tool.parameters]));
        (tool.name.clone(), Json::from(digest))
    });
    put("tools", Json::Object(tools.collect()));
    put(
        "tool_choice",
        match &request.tool_choice {
            ToolChoice::Auto => Json::Null,
            ToolChoice::None => json!("none"),
            ToolChoice::Required => json!("required"),
            ToolChoice::Tool(name) => json!({ "tool": name }),
        },
    );
    let output = request.output.as_ref();
    put(
        "output",
        output.map_or(Json::Null, |output| json!({ &output.name: &output.schema })),
    );
    let settings = [
        ("temperature", json!(request.temperature)),
        ("top_p", json!(request.top_p)),
        ("max_tokens", json!(request.max_tokens)),
        ("thinking_budget", json!(request.thinking_budget)),
        ("reasoning_effort", json!(request.reasoning_effort)),
        ("seed", json!(request.seed)),
    ];
    let settings = settings.into_iter().filter(|(_, value)| !value.is_null());
    put(
        "settings",
        Json::Object(
            settings
                .map(|(key, value)| (key.to_owned(), value))
                .collect(),
        ),
    );
    Json::Object(asked)
}

/// The digest of what is asked.
pub fn request(asked: &Json) -> String {
    digest(asked)
}

fn digest(json: &Json) -> String {
    Request::new(json).digest().to_owned()
}

fn message(message: &Value) -> Json {
    let mut json = message.to_json();
    if let Some(entries) = json.as_object_mut() {
        entries.retain(|key, value| {
            let empty = value.is_null() || value.as_array().is_some_and(Vec::is_empty);
            !empty && !LEFT_OUT.contains(&key.as_str())
        });
    }
    json
}
