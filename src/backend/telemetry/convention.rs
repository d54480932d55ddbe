//! The attributes of spans, by OpenTelemetry's conventions for generative AI (v0.1.0). What they have no name for begins
//! with `graphc.`.

use serde_json::{Value as Json, json};

use crate::run::model::{ChatRequest, FinishReason, Usage};
use crate::run::observe::Asked;
use crate::run::work::model_call::Reply;
use crate::value::{List, Value};

use super::span::{Attr, Attribute};

/// Name, attributes and whether it goes to another system, of a call's span.
pub fn call(asked: &Asked<'_>, content: bool) -> (String, Vec<Attribute>, bool) {
    match *asked {
        Asked::Model {
            served_by,
            provider,
            request,
        } => {
            let (provider, model) = served_by.unwrap_or((provider, &request.model));
            let attributes = model_call(provider, model, request, content);
            (format!("chat {model}"), attributes, true)
        }
        Asked::Tool { name, id, args } => {
            let mut attributes = vec![
                ("gen_ai.operation.name", Attr::from("execute_tool")),
                ("gen_ai.tool.name", Attr::from(name)),
                ("gen_ai.tool.type", Attr::from("function")),
            ];
            if let Some(id) = id.filter(|id| !id.is_empty()) {
                attributes.push(("gen_ai.tool.call.id", Attr::from(id)));
            }
            if content {
                attributes.push((
                    "gen_ai.tool.call.arguments",
                    Attr::Text(json!(args).to_string()),
                ));
            }
            (format!("execute_tool {name}"), attributes, false)
        }
    }
}

fn model_call(provider: &str, model: &str, request: &ChatRequest, content: bool) -> Vec<Attribute> {
    let provider = match provider {
        "openai-responses" => "openai",
        "gemini" => "gcp.gemini",
        other => other,
    };
    let output = match request.output {
        Some(_) => "json",
        None => "text",
    };
    let mut attributes = vec![
        ("gen_ai.operation.name", Attr::from("chat")),
        ("gen_ai.provider.name", Attr::from(provider)),
        ("gen_ai.request.model", Attr::from(model)),
        ("gen_ai.output.type", Attr::from(output)),
        ("graphc.model", Attr::from(request.model_name.as_str())),
    ];
    let max_tokens = request.max_tokens.map(|most| Attr::Int(most.into()));
    let settings = [
        (
            "gen_ai.request.temperature",
            request.temperature.map(Attr::Float),
        ),
        ("gen_ai.request.top_p", request.top_p.map(Attr::Float)),
        ("gen_ai.request.max_tokens", max_tokens),
        ("gen_ai.request.seed", request.seed.map(Attr::Int)),
    ];
    let settings = settings.into_iter();
    attributes.extend(settings.filter_map(|(name, value)| Some((name, value?))));
    if request.stream {
        attributes.push(("gen_ai.request.stream", Attr::Flag(true)));
    }
    if content {
        let messages = messages(&request.messages);
        attributes.push(("gen_ai.input.messages", Attr::Text(messages.to_string())));
    }
    attributes
}

/// What is known of a call once it has ended.
pub fn ended(
    usage: &Usage,
    reply: Option<&Reply>,
    result: Option<&Json>,
    content: bool,
) -> Vec<Attribute> {
    let mut attributes = Vec::new();
    let counts = [
        ("gen_ai.usage.input_tokens", usage.input_tokens),
        ("gen_ai.usage.output_tokens", usage.output_tokens),
        ("gen_ai.usage.cache_read.input_tokens", usage.cached_tokens),
        (
            "gen_ai.usage.cache_creation.input_tokens",
            usage.cache_write_tokens,
        ),
        (
            "gen_ai.usage.reasoning.output_tokens",
            usage.reasoning_tokens,
        ),
    ];
    let counts = counts.into_iter().filter(|(_, count)| *count > 0);
    attributes.extend(counts.map(|(name, count)| (name, Attr::from(count))));
    if let Some(reply) = reply {
        let finish = reply.finish.map(reason);
        attributes.extend(finish.map(|word| {
            let reasons = Attr::Texts(vec![word.to_owned()]);
            ("gen_ai.response.finish_reasons", reasons)
        }));
        if content {
            let message = message(&reply.to_message(), finish);
            let messages = json!([message]).to_string();
            attributes.push(("gen_ai.output.messages", Attr::Text(messages)));
        }
    }
    if let Some(result) = result.filter(|_| content) {
        attributes.push(("gen_ai.tool.call.result", Attr::Text(result.to_string())));
    }
    attributes
}

/// The word of the conventions for why a reply ended.
fn reason(finish: FinishReason) -> &'static str {
    match finish {
        FinishReason::ToolCalls => "tool_call",
        other => other.word(),
    }
}

fn messages(list: &List) -> Json {
    list.iter().map(|one| message(one, None)).collect()
}

/// A message in the conventions' form: a role and parts.
fn message(message: &Value, finish: Option<&str>) -> Json {
    let message = message.to_json();
    let text = |key: &str| message.get(key).and_then(Json::as_str).unwrap_or_default();
    let content = message.get("content");
    let mut parts = Vec::new();
    match (text("role"), content) {
        ("tool", content) => parts.push(json!({
            "type": "tool_call_response", "id": text("tool_call_id"), "response": content,
        })),
        (_, Some(Json::String(text))) if text.is_empty() => {}
        (_, Some(Json::Array(items))) => parts.extend(items.iter().cloned()),
        (_, content) => parts.push(json!({ "type": "text", "content": content })),
    }
    let calls = message.get("tool_calls").and_then(Json::as_array);
    parts.extend(calls.into_iter().flatten().map(|call| {
        json!({
            "type": "tool_call", "id": call.get("id"), "name": call.get("name"),
            "arguments": call.get("args"),
        })
    }));
    let mut shown = json!({ "role": text("role"), "parts": parts });
    if let (Some(entries), Some(finish)) = (shown.as_object_mut(), finish) {
        entries.insert("finish_reason".to_owned(), json!(finish));
    }
    shown
}
