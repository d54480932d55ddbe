//! Defaults as JSON.

use serde_json::Value as Json;

use crate::ast::expr::Expr;
use crate::expr::infer::constant;
use crate::expr::ty::{Type, TypeTable};

/// The JSON of a default for a value of type `ty`, where it is constant. A whole number for a
/// `float` becomes one with a point, so that it is read back as what it is.
pub fn constant_default(default: &Expr, ty: &Type, types: &TypeTable) -> Option<Json> {
    constant(default, types).map(|json| fit(json, ty))
}

fn fit(json: Json, ty: &Type) -> Json {
    match (json, ty) {
        (Json::Number(number), Type::Float) => match number.as_f64() {
            Some(float) => Json::from(float),
            None => Json::Number(number),
        },
        (Json::Array(items), Type::List(of)) => {
            items.into_iter().map(|item| fit(item, of)).collect()
        }
        (Json::Object(entries), Type::Map(of)) => entries
            .into_iter()
            .map(|(key, value)| (key, fit(value, of)))
            .collect(),
        (json, Type::Nullable(of)) if !json.is_null() => fit(json, of),
        (json, _) => json,
    }
}
