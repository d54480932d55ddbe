//! Constants: what a default may be.

use serde_json::{Map, Value as Json, json};

use crate::ast::expr::{Expr, ExprKind, Literal, UnaryOp};

use super::super::ty::TypeTable;

/// The JSON of an expression that is constant: literals, negative numbers, lists, maps with text keys,
/// enum members, record literals. A record's own defaults are filled in. `None` for anything else.
pub fn constant(expr: &Expr, types: &TypeTable) -> Option<Json> {
    match &expr.kind {
        ExprKind::Literal(literal) => primitive(literal),
        ExprKind::Unary(UnaryOp::Negate, operand) => negative(operand),
        ExprKind::Select {
            operand,
            field,
            optional: false,
        } => member(operand, field, types),
        ExprKind::List(elements) => elements
            .iter()
            .map(|e| (!e.optional).then(|| constant(&e.value, types)).flatten())
            .collect::<Option<Vec<Json>>>()
            .map(Json::Array),
        ExprKind::Map(entries) => {
            let mut map = Map::new();
            for entry in entries {
                let Json::String(key) = constant(&entry.key, types).filter(|_| !entry.optional)?
                else {
                    return None;
                };
                map.insert(key, constant(&entry.value, types)?);
            }
            Some(Json::Object(map))
        }
        ExprKind::Record { name, fields } => {
            let record = types.records.get(types.record_named(&name.node)?)?;
            let defaults = record.fields.iter().filter_map(|f| match &f.default {
                Some(default) => Some((f.name.clone(), default.clone())),
                None => f.ty.admits_null().then(|| (f.name.clone(), Json::Null)),
            });
            let mut map: Map<String, Json> = defaults.collect();
            for field in fields {
                let value = constant(&field.value, types).filter(|_| !field.optional)?;
                map.insert(field.name.node.clone(), value);
            }
            Some(Json::Object(map))
        }
        _ => None,
    }
}

fn primitive(literal: &Literal) -> Option<Json> {
    Some(match literal {
        Literal::Null => Json::Null,
        Literal::Bool(b) => json!(b),
        Literal::Int(i) => json!(i),
        Literal::UInt(u) => json!(u),
        Literal::Float(f) => Json::Number(serde_json::Number::from_f64(*f)?),
        Literal::String(text) => json!(text),
        Literal::Bytes(_) => return None,
    })
}

fn negative(operand: &Expr) -> Option<Json> {
    match &operand.kind {
        ExprKind::Literal(Literal::Int(i)) => i.checked_neg().map(|i| json!(i)),
        ExprKind::Literal(Literal::Float(f)) => Some(json!(-f)),
        _ => None,
    }
}

fn member(operand: &Expr, field: &str, types: &TypeTable) -> Option<Json> {
    let ExprKind::Ident(name) = &operand.kind else {
        return None;
    };
    let declared = types.enums.get(types.enum_named(name)?)?;
    let member = declared.members.iter().find(|m| m.name == field)?;
    Some(json!(member.name))
}
