//! What is asked.

use serde_json::{Map as JsonMap, Value as Json, json};

use crate::backend::llm::form::Form;
use crate::project::spec::provider::{PromptCache, Settings, Structured};
use crate::run::model::{ChatRequest, ToolChoice, ToolSpec};

use super::messages::Conversation;

/// Most tokens of an answer where the model names none: the protocol must have a number. Thinking comes on top.
const MAX_TOKENS: u32 = 8192;

/// The body of a request.
pub fn body(
    request: &ChatRequest,
    form: Option<&Form>,
    settings: &Settings,
) -> JsonMap<String, Json> {
    let mut body = JsonMap::new();
    let mut put = |name: &str, value: Option<Json>| {
        body.extend(value.map(|value| (name.to_owned(), value)));
    };
    let conversation = Conversation::of(&request.messages);
    let tool = form.filter(|form| form.way == Structured::Tool);
    // A tool that must be called leaves no room for thoughts.
    let free = request.tools.is_empty()
        || matches!(request.tool_choice, ToolChoice::Auto | ToolChoice::None);
    let thinks = conversation.may_think() && tool.is_none() && free;
    let budget = request.thinking_budget.filter(|_| thinks);
    let most = request.max_tokens;
    let most = most.unwrap_or(MAX_TOKENS.saturating_add(budget.unwrap_or(0)));
    let Conversation { mut system, turns } = conversation;
    let mut tools: Vec<Json> = request.tools.iter().map(shown).collect();
    tools.extend(tool.map(|form| {
        json!({
            "name": form.name, "description": "Gives the answer.", "input_schema": form.schema,
        })
    }));
    let mut turns: Vec<Json> = turns
        .into_iter()
        .map(|(role, blocks)| json!({ "role": role, "content": blocks }))
        .collect();
    if let Some(cache) = settings.prompt_cache {
        // The server keeps what stands before each mark.
        mark(system.last_mut(), cache);
        mark(tools.last_mut(), cache);
        let last = turns
            .last_mut()
            .and_then(|turn| turn.pointer_mut("/content"));
        let last = last.and_then(Json::as_array_mut);
        mark(last.and_then(|blocks| blocks.last_mut()), cache);
    }
    put("model", Some(request.model.clone().into()));
    put("max_tokens", Some(most.into()));
    put("system", (!system.is_empty()).then(|| system.into()));
    put("messages", Some(turns.into()));
    let choice = match tool {
        Some(form) => Some(json!({ "type": "tool", "name": form.name })),
        None => choice(&request.tool_choice).filter(|_| !tools.is_empty()),
    };
    put("tools", (!tools.is_empty()).then(|| tools.into()));
    put("tool_choice", choice);
    put("temperature", request.temperature.map(Json::from));
    put("top_p", request.top_p.map(Json::from));
    let thinking = |budget| json!({ "type": "enabled", "budget_tokens": budget });
    put("thinking", budget.map(thinking));
    let mut output = JsonMap::new();
    match request.reasoning_effort.as_deref() {
        None | Some("none") => {}
        // OpenAI's least, which is not known here.
        Some("minimal") => drop(output.insert("effort".to_owned(), "low".into())),
        Some(effort) => drop(output.insert("effort".to_owned(), effort.into())),
    }
    if let Some(form) = form.filter(|form| form.way == Structured::JsonSchema) {
        let format = json!({ "type": "json_schema", "schema": form.schema });
        output.insert("format".to_owned(), format);
    }
    put("output_config", (!output.is_empty()).then(|| output.into()));
    put("stream", request.stream.then(|| true.into()));
    body
}

fn shown(tool: &ToolSpec) -> Json {
    json!({
        "name": tool.name, "description": tool.description, "input_schema": tool.parameters,
    })
}

fn choice(choice: &ToolChoice) -> Option<Json> {
    match choice {
        ToolChoice::Auto => None,
        ToolChoice::None => Some(json!({ "type": "none" })),
        ToolChoice::Required => Some(json!({ "type": "any" })),
        ToolChoice::Tool(name) => Some(json!({ "type": "tool", "name": name })),
    }
}

/// Marks the end of what is kept. Thoughts take no mark.
fn mark(block: Option<&mut Json>, cache: PromptCache) {
    let Some(Json::Object(block)) = block else {
        return;
    };
    let kind = block.get("type").and_then(Json::as_str);
    if !matches!(kind, Some("thinking" | "redacted_thinking")) {
        let mark = match cache {
            PromptCache::Short => json!({ "type": "ephemeral" }),
            PromptCache::Long => json!({ "type": "ephemeral", "ttl": "1h" }),
        };
        block.insert("cache_control".to_owned(), mark);
    }
}
