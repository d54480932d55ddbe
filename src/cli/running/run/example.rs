//! A value of a type, as an example of what to write.

use std::sync::Arc;

use serde_json::{Map as JsonMap, Number, Value as Json, json};

use crate::expr::accept::accept;
use crate::expr::constraint::Constraints;
use crate::expr::{Type, TypeTable};

/// Records nest at most so deep in an example: a type may hold itself.
const DEEPEST: u32 = 4;

/// What stands for any text.
const TEXT: &str = "..";

/// A value of the type as JSON text; `None` where none was found that is one, as where texts must have a pattern.
pub fn text(ty: &Type, types: &TypeTable) -> Option<String> {
    let example = of(ty, types);
    accept(&example, ty, types)
        .is_ok()
        .then(|| example.to_string())
}

/// A value that shows the form of the type: the first of several choices, `..` for any text. Fields
/// that may be left out are.
pub fn of(ty: &Type, types: &TypeTable) -> Json {
    at(ty, types, 0)
}

fn at(ty: &Type, types: &TypeTable, depth: u32) -> Json {
    match ty {
        Type::Bool => json!(true),
        Type::Int | Type::Uint => json!(1),
        Type::Float => json!(0.5),
        Type::String | Type::Bytes => json!(TEXT),
        Type::Timestamp => json!("2026-01-09T12:00:00Z"),
        Type::Duration => json!("90s"),
        Type::Literal(text) => json!(**text),
        Type::List(of) => match at(of, types, depth) {
            Json::Null => json!([]),
            element => json!([element]),
        },
        Type::Map(of) => json!({ "..": at(of, types, depth) }),
        Type::Nullable(of) | Type::Optional(of) => at(of, types, depth),
        Type::Union(of) => of
            .first()
            .map_or(Json::Null, |first| at(first, types, depth)),
        Type::Enum(id) => {
            let first = types.enums.get(*id).and_then(|e| e.members.first());
            first.map_or(Json::Null, |member| json!(member.name))
        }
        Type::Record(id) => match types.records.get(*id) {
            Some(record) if depth < DEEPEST => {
                let required = record.fields.iter().filter(|field| field.required());
                let entries = required
                    .map(|field| {
                        let example = at(&field.ty, types, depth + 1);
                        (
                            field.outer_name().to_owned(),
                            within(&field.constraints, example),
                        )
                    })
                    .collect::<JsonMap<_, _>>();
                entries.into()
            }
            _ => json!({}),
        },
        Type::Json => json!({}),
        Type::Null | Type::TypeValue | Type::Never | Type::Error => Json::Null,
    }
}

/// The example moved into bounds: the least number or the greatest, as many elements or characters as there must be.
fn within(bounds: &Constraints, example: Json) -> Json {
    match example {
        Json::Number(number) => {
            let of = |bound: &Option<Number>| bound.as_ref().and_then(Number::as_f64);
            let value = number.as_f64().unwrap_or_default();
            match (&bounds.min, &bounds.max) {
                (Some(min), _) if of(&bounds.min).is_some_and(|min| value < min) => json!(min),
                (_, Some(max)) if of(&bounds.max).is_some_and(|max| value > max) => json!(max),
                _ => Json::Number(number),
            }
        }
        Json::String(text) if text == TEXT => json!(length(bounds, TEXT.len(), ".")),
        Json::Array(items) => {
            let Some((least, most)) = bounds.len.filter(|(least, _)| *least <= LONGEST) else {
                return Json::Array(items);
            };
            let count = items
                .len()
                .clamp(least as usize, (most as usize).max(least as usize));
            json!(
                items
                    .iter()
                    .cycle()
                    .take(if items.is_empty() { 0 } else { count })
                    .collect::<Vec<_>>()
            )
        }
        other => other,
    }
}

/// Longest text or list that is made up to be long enough.
const LONGEST: u64 = 40;

fn length(bounds: &Constraints, plain: usize, of: &str) -> String {
    match bounds.len.filter(|(least, _)| *least <= LONGEST) {
        Some((least, most)) => of.repeat(plain.max(least as usize).min(most as usize)),
        None => of.repeat(plain),
    }
}

/// Whether the table has all that the type names. The type of a stored interrupt comes without the
/// table of its flow, of which only the built-in part is the same everywhere.
pub fn is_known(ty: &Type, types: &TypeTable) -> bool {
    match ty {
        Type::Enum(id) => types.enums.get(*id).is_some(),
        Type::Record(id) => types.records.get(*id).is_some(),
        Type::List(of) | Type::Map(of) | Type::Nullable(of) | Type::Optional(of) => {
            is_known(of, types)
        }
        Type::Union(of) => of.iter().all(|one| is_known(one, types)),
        _ => true,
    }
}

/// The choices of a type whose values are a few texts: an enum or a union of literals, with what
/// is said about each.
pub fn choices(ty: &Type, types: &TypeTable) -> Option<Vec<(Arc<str>, String)>> {
    match ty {
        Type::Literal(text) => Some(vec![(text.clone(), String::new())]),
        Type::Nullable(of) | Type::Optional(of) => choices(of, types),
        Type::Enum(id) => {
            let members = types.enums.get(*id)?.members.iter();
            Some(
                members
                    .map(|member| (member.name.as_str().into(), member.doc.clone()))
                    .collect(),
            )
        }
        Type::Union(of) => {
            let all = of.iter().map(|one| choices(one, types));
            Some(
                all.collect::<Option<Vec<_>>>()?
                    .into_iter()
                    .flatten()
                    .collect(),
            )
        }
        _ => None,
    }
}
