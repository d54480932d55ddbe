//! From a constant back to the literal that stands for it.

use std::sync::Arc;

use serde_json::Value as Json;

use crate::ast::expr::{Element, Entry, Expr, ExprKind, Literal};
use crate::base::Span;
use crate::value::Value;

/// The JSON of a value that a default could have; `None` for kinds of values that only expressions know.
pub fn plain_json(value: &Value) -> Option<Json> {
    match value {
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::String(_) => Some(value.to_json()),
        Value::Float(float) => serde_json::Number::from_f64(*float).map(Json::Number),
        Value::List(list) => {
            let items: Option<Vec<Json>> = list.iter().map(plain_json).collect();
            Some(Json::Array(items?))
        }
        Value::Map(map) => {
            let entries: Option<serde_json::Map<String, Json>> = map
                .iter()
                .map(|(key, value)| match key {
                    crate::value::Key::String(key) => Some((key.to_string(), plain_json(value)?)),
                    _ => None,
                })
                .collect();
            Some(Json::Object(entries?))
        }
        _ => None,
    }
}

/// The literal of a JSON value, all of it at one place.
pub fn literal(json: &Json, span: Span) -> Expr {
    let kind = match json {
        Json::Null => ExprKind::Literal(Literal::Null),
        Json::Bool(value) => ExprKind::Literal(Literal::Bool(*value)),
        Json::Number(number) => ExprKind::Literal(match number.as_i64() {
            Some(whole) => Literal::Int(whole),
            None => Literal::Float(number.as_f64().unwrap_or(f64::NAN)),
        }),
        Json::String(text) => text_literal(text),
        Json::Array(items) => ExprKind::List(
            items
                .iter()
                .map(|item| Element {
                    value: literal(item, span),
                    optional: false,
                })
                .collect(),
        ),
        Json::Object(entries) => ExprKind::Map(
            entries
                .iter()
                .map(|(key, value)| Entry {
                    key: Expr {
                        kind: text_literal(key),
                        span,
                    },
                    value: literal(value, span),
                    optional: false,
                })
                .collect(),
        ),
    };
    Expr { kind, span }
}

fn text_literal(text: &str) -> ExprKind {
    ExprKind::Literal(Literal::String(Arc::from(text)))
}
