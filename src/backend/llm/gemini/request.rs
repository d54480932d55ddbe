//! What is asked.

use serde_json::{Map as JsonMap, Value as Json, json};

use crate::backend::llm::form::Form;
use crate::project::spec::provider::Structured;
use crate::run::model::{ChatRequest, ToolChoice, ToolSpec};

use super::DIALECT;
use super::contents::Conversation;

/// The body of a request.
pub fn body(request: &ChatRequest, form: Option<&Form>) -> JsonMap<String, Json> {
    let mut body = JsonMap::new();
    let mut put = |name: &str, value: Option<Json>| {
        body.extend(value.map(|value| (name.to_owned(), value)));
    };
    let conversation = Conversation::of(&request.messages, checks_signatures(&request.model));
    let system = conversation.system;
    put(
        "systemInstruction",
        (!system.is_empty()).then(|| json!({ "parts": system })),
    );
    let contents = conversation.contents.into_iter();
    let contents = contents.map(|(role, parts)| json!({ "role": role, "parts": parts }));
    put("contents", Some(contents.collect()));
    if !request.tools.is_empty() {
        let tools: Vec<Json> = request.tools.iter().map(declared).collect();
        put("tools", Some(json!([{ "functionDeclarations": tools }])));
        let config = choice(&request.tool_choice);
        put(
            "toolConfig",
            config.map(|config| json!({ "functionCallingConfig": config })),
        );
    }
    let config = config(request, form);
    put(
        "generationConfig",
        (!config.is_empty()).then(|| config.into()),
    );
    body
}

/// Whether a model refuses a call in the turn that goes on without a signature: those since Gemini 3 do. A name without a version,
/// `gemini-flash-latest` say, is that of a newer one.
fn checks_signatures(model: &str) -> bool {
    let name = model.strip_prefix("models/").unwrap_or(model);
    let version = name.strip_prefix("gemini-");
    let major = version.and_then(|version| version.split(|c: char| !c.is_ascii_digit()).next());
    major.is_some_and(|major| major.parse::<u32>().ok().is_none_or(|major| major >= 3))
}

fn config(request: &ChatRequest, form: Option<&Form>) -> JsonMap<String, Json> {
    let mut config = JsonMap::new();
    let mut put = |name: &str, value: Option<Json>| {
        config.extend(value.map(|value| (name.to_owned(), value)));
    };
    put("temperature", request.temperature.map(Json::from));
    put("topP", request.top_p.map(Json::from));
    put("maxOutputTokens", request.max_tokens.map(Json::from));
    put("seed", request.seed.map(Json::from));
    let mut thinking = JsonMap::new();
    if let Some(budget) = request.thinking_budget {
        thinking.insert("thinkingBudget".to_owned(), budget.into());
    }
    if let Some(effort) = &request.reasoning_effort {
        thinking.insert("thinkingLevel".to_owned(), effort.clone().into());
    }
    put(
        "thinkingConfig",
        (!thinking.is_empty()).then(|| thinking.into()),
    );
    if let Some(form) = form {
        put("responseMimeType", Some("application/json".into()));
        let schema = form.way == Structured::JsonSchema;
        put("responseJsonSchema", schema.then(|| form.schema.clone()));
    }
    config
}

fn declared(tool: &ToolSpec) -> Json {
    let parameters = DIALECT.fit(&tool.parameters);
    json!({
        "name": tool.name,
        "description": tool.description,
        "parametersJsonSchema": parameters.unwrap_or_else(|| tool.parameters.clone()),
    })
}

fn choice(choice: &ToolChoice) -> Option<Json> {
    match choice {
        ToolChoice::Auto => None,
        ToolChoice::None => Some(json!({ "mode": "NONE" })),
        ToolChoice::Required => Some(json!({ "mode": "ANY" })),
        ToolChoice::Tool(name) => Some(json!({ "mode": "ANY", "allowedFunctionNames": [name] })),
    }
}
