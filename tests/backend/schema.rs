//! How the form of a reply is fitted to what a provider takes.

use graphc::backend::llm::Structured;
use graphc::backend::llm::form::Form;
use graphc::backend::llm::schema::{Dialect, Recursion, unwrapped, wrapped};
use graphc::run::model::{ChatRequest, OutputSpec, ToolChoice};
use graphc::value::List;
use serde_json::json;

const STRICT: Dialect = Dialect {
    refused: &["maxLength", "default"],
    closed: true,
    all_required: true,
    recursion: Recursion::Never,
    object: true,
    lenient: false,
    beside_tools: true,
};

#[test]
fn what_a_provider_refuses_is_said_in_words() {
    let schema = json!({ "type": "object", "additionalProperties": false, "required": [], "properties": {
        "maxLength": { "type": "string", "maxLength": 3, "default": "", "description": "Short." },
        "any": { "anyOf": [{ "type": "array", "items": { "type": "string", "maxLength": 2 } }, { "type": "null" }] },
    } });
    let fitted = json!({ "type": "object", "additionalProperties": false, "required": ["any", "maxLength"], "properties": {
        "maxLength": { "type": "string", "description": "Short. (maxLength: 3)" },
        "any": { "anyOf": [{ "type": "array", "items": { "type": "string", "description": "(maxLength: 2)" } }, { "type": "null" }] },
    } });
    assert_eq!(STRICT.fit(&schema), Some(fitted));
}

#[test]
fn what_can_not_be_said_is_none() {
    let map = json!({ "type": "object", "additionalProperties": { "type": "string" } });
    let within = json!({ "type": "array", "items": map });
    let itself = json!({ "$ref": "#/$defs/Tree" });
    for schema in [map, within, itself, json!({})] {
        assert_eq!(STRICT.fit(&schema), None, "{schema}");
    }
}

#[test]
fn what_is_no_object_is_put_into_one_and_out_again() {
    let schema = wrapped(&json!({ "anyOf": [], "$defs": { "A": {} } }));
    assert_eq!(
        schema.pointer("/properties/value"),
        Some(&json!({ "anyOf": [] }))
    );
    assert_eq!(schema.pointer("/$defs"), Some(&json!({ "A": {} })));
    let out = |text: &str| unwrapped(text.to_owned());
    assert_eq!(out(r#" {"value": [1, "a"]} "#), r#"[1,"a"]"#);
    for as_it_is in [r#"{"value": 1, "b": 2}"#, r#"{"b": 2}"#, "[1]", "no"] {
        assert_eq!(out(as_it_is), as_it_is);
    }
}

#[test]
fn names_are_made_fit() {
    for (name, fit) in [("list<Doc>", "list_Doc_"), ("", "output")] {
        let mut request = ChatRequest {
            model_name: "m".into(),
            model: "m".into(),
            messages: List::new(),
            tools: Vec::new(),
            tool_choice: ToolChoice::Auto,
            output: Some(OutputSpec {
                name: name.into(),
                schema: json!({ "type": "string" }),
            }),
            temperature: None,
            top_p: None,
            max_tokens: None,
            thinking_budget: None,
            reasoning_effort: None,
            seed: None,
            stream: false,
        };
        let form = Form::of(&mut request, Structured::JsonSchema, &STRICT).unwrap();
        assert_eq!(form.name, fit);
    }
}
