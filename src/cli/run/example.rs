//! A value of a type, as an example of what to write.

use std::sync::Arc;

use serde_json::{Map as JsonMap, Value as Json, json};

use crate::expr::{Type, TypeTable};

/// Records nest at most so deep in an example: a type may hold itself.
const DEEPEST: u32 = 4;

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
        Type::String | Type::Bytes => json!(".."),
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
                    .map(|field| (field.name.clone(), at(&field.ty, types, depth + 1)))
                    .collect::<JsonMap<_, _>>();
                entries.into()
            }
            _ => json!({}),
        },
        Type::Json => json!({}),
        Type::Null | Type::TypeValue | Type::Never | Type::Error => Json::Null,
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
