//! What is asked.

use serde_json::{Map as JsonMap, Value as Json, json};

use crate::backend::wire::Failure;
use crate::ir::ErrorKind;
use crate::run::model::{ChatRequest, OutputSpec, ToolChoice};

use super::{Settings, Structured, messages};

/// The body of a request.
///
/// # Errors
/// `InvalidRequest` for what this protocol can't say, rather than leave it out without a word.
pub fn body(request: &ChatRequest, settings: &Settings) -> Result<Json, Failure> {
    if request.thinking_budget.is_some() {
        return Err(Failure::new(
            ErrorKind::InvalidRequest,
            format!(
                "`{}` speaks chat completions, which have no `thinking_budget`; use `reasoning_effort`, \
                 or `extra_body` of the provider in graphc.yaml",
                settings.name
            ),
        ));
    }
    let mut body = JsonMap::new();
    body.insert("model".into(), request.model.clone().into());
    let mut conversation = messages::write(&request.messages);
    if let Some(output) = &request.output {
        ask_for(output, settings.structured, &mut body, &mut conversation);
    }
    body.insert("messages".into(), Json::Array(conversation));
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(messages::tool);
        body.insert("tools".into(), tools.collect());
        if let Some(choice) = choice(&request.tool_choice) {
            body.insert("tool_choice".into(), choice);
        }
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
    body.extend(settings.extra_body.clone());
    Ok(Json::Object(body))
}

fn choice(choice: &ToolChoice) -> Option<Json> {
    Some(match choice {
        ToolChoice::Auto => return None,
        ToolChoice::None => "none".into(),
        ToolChoice::Required => "required".into(),
        ToolChoice::Tool(name) => json!({ "type": "function", "function": { "name": name } }),
    })
}

/// Asks for a reply of a form, the way the server understands.
fn ask_for(
    output: &OutputSpec,
    way: Structured,
    body: &mut JsonMap<String, Json>,
    conversation: &mut Vec<Json>,
) {
    // The server's own way takes objects only.
    let object = output.schema.get("type") == Some(&"object".into());
    match way {
        Structured::JsonSchema if object => {
            let format = json!({ "type": "json_schema", "json_schema": {
                "name": schema_name(&output.name),
                "schema": output.schema,
                "strict": is_strict(&output.schema),
            } });
            body.insert("response_format".into(), format);
            return;
        }
        Structured::JsonObject if object => {
            body.insert("response_format".into(), json!({ "type": "json_object" }));
        }
        _ => {}
    }
    let order = format!(
        "Answer with JSON only, without any other text, that is valid under this JSON Schema:\n{}",
        output.schema
    );
    let system = conversation.first_mut().filter(|m| m["role"] == "system");
    match system.and_then(|message| message.get_mut("content")) {
        Some(Json::String(text)) => *text = format!("{text}\n\n{order}"),
        _ => conversation.insert(0, json!({ "role": "system", "content": order })),
    }
}

/// A name as the server allows it: letters, digits, `_` and `-`, at most 64.
fn schema_name(name: &str) -> String {
    let allowed = |c: char| match c.is_ascii_alphanumeric() || c == '-' {
        true => c,
        false => '_',
    };
    let name: String = name.chars().map(allowed).take(64).collect();
    match name.is_empty() {
        true => "output".to_owned(),
        false => name,
    }
}

/// Whether the server's strict mode takes a schema: every object names all of its properties as
/// required and allows no other, and nothing has a default.
fn is_strict(schema: &Json) -> bool {
    let object = match schema {
        Json::Object(object) => object,
        Json::Array(items) => return items.iter().all(is_strict),
        _ => return true,
    };
    if object.contains_key("default") {
        return false;
    }
    if object.get("type") == Some(&"object".into()) {
        let closed = object.get("additionalProperties") == Some(&false.into());
        let names = object.get("properties").and_then(Json::as_object);
        let required = object.get("required").and_then(Json::as_array);
        let all = names.is_none_or(|names| {
            let has = |name: &String| required.is_some_and(|r| r.iter().any(|n| n == name));
            names.keys().all(has)
        });
        if !closed || !all {
            return false;
        }
    }
    let inner = ["properties", "$defs", "definitions"];
    object.iter().all(|(key, value)| match value {
        Json::Object(named) if inner.contains(&key.as_str()) => named.values().all(is_strict),
        Json::Object(_) | Json::Array(_) if key != "enum" && key != "const" => is_strict(value),
        _ => true,
    })
}

#[cfg(test)]
#[allow(clippy::indexing_slicing)]
mod tests {
    use super::*;

    #[test]
    fn strict_mode_needs_closed_objects_with_all_required() {
        let closed = json!({ "type": "object", "additionalProperties": false,
            "properties": { "type": { "type": "string" } }, "required": ["type"] });
        assert!(is_strict(&closed));
        let mut open = closed.clone();
        open["additionalProperties"] = json!({ "type": "string" });
        assert!(!is_strict(&open));
        let mut optional = closed.clone();
        optional["required"] = json!([]);
        assert!(!is_strict(&optional));
        assert!(!is_strict(&json!({ "anyOf": [closed, optional] })));
        assert!(!is_strict(&json!({ "type": "string", "default": "x" })));
    }

    #[test]
    fn names_are_made_fit() {
        assert_eq!(schema_name("list<Doc>"), "list_Doc_");
        assert_eq!(schema_name(""), "output");
    }
}
