//! Constants: what a default may be.

use serde_json::{Map, Value as Json, json};

use crate::ast::expr::{Expr, ExprKind, Literal, UnaryOp};

use crate::value::Value;

use super::super::function;
use super::super::ty::{Type, TypeTable};

/// The JSON of an expression that is constant: literals, negative numbers, lists, maps with text keys,
/// enum members, record literals, times written as texts (`duration("5m")`). A record's own defaults are filled in. `None` for anything else.
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
        ExprKind::Call {
            target: None,
            function,
            args,
        } => time(&function.node, args),
        _ => None,
    }
}

/// A point in time or a span of it, written as a text.
fn time(function: &str, args: &[Expr]) -> Option<Json> {
    let ("timestamp" | "duration", [text]) = (function, args) else {
        return None;
    };
    let ExprKind::Literal(Literal::String(text)) = &text.kind else {
        return None;
    };
    let convert = function::find(function, false)?.compute()?;
    let value = convert(&[Value::text(&**text)]).ok()?;
    Some(value.to_json())
}

/// The JSON of a constant that is declared to be of a type: a whole number where a float is expected is
/// that float.
pub fn default_value(expr: &Expr, ty: &Type, types: &TypeTable) -> Option<Json> {
    let mut value = constant(expr, types)?;
    widen(&mut value, ty, types);
    Some(value)
}

fn widen(value: &mut Json, ty: &Type, types: &TypeTable) {
    match (value, ty) {
        (value, Type::Nullable(of)) => widen(value, of, types),
        (value @ Json::Number(_), ty) if takes_float(ty) => {
            if let Some(float) = value.as_i64().and_then(exact) {
                *value = json!(float);
            }
        }
        (value, Type::Union(members)) => {
            let mut fits = members.iter().filter(|ty| match ty {
                Type::List(_) => value.is_array(),
                Type::Map(_) | Type::Record(_) => value.is_object(),
                _ => false,
            });
            if let (Some(ty), None) = (fits.next(), fits.next()) {
                widen(value, ty, types);
            }
        }
        (Json::Array(items), Type::List(of)) => {
            items.iter_mut().for_each(|item| widen(item, of, types));
        }
        (Json::Object(entries), Type::Map(of)) => {
            entries
                .values_mut()
                .for_each(|value| widen(value, of, types));
        }
        (Json::Object(entries), Type::Record(id)) => {
            for field in types.records.get(*id).into_iter().flat_map(|r| &r.fields) {
                if let Some(value) = entries.get_mut(&field.name) {
                    widen(value, &field.ty, types);
                }
            }
        }
        _ => {}
    }
}

/// Whether a whole number that stands where the type is expected can only be meant as a float.
fn takes_float(ty: &Type) -> bool {
    match ty {
        Type::Float => true,
        Type::Nullable(of) => takes_float(of),
        Type::Union(members) => members.contains(&Type::Float) && !members.contains(&Type::Int),
        _ => false,
    }
}

/// Whether an expression is a whole number that a declared type takes as a float.
pub(super) fn is_whole_float(expr: &Expr, ty: &Type) -> bool {
    let whole = match &expr.kind {
        ExprKind::Literal(Literal::Int(i)) => Some(*i),
        ExprKind::Unary(UnaryOp::Negate, operand) => negative(operand).and_then(|n| n.as_i64()),
        _ => None,
    };
    takes_float(ty) && whole.and_then(exact).is_some()
}

/// The float of the same value; beyond 2^53 there may be none, so none is taken.
fn exact(whole: i64) -> Option<f64> {
    (whole.unsigned_abs() <= 1 << 53).then_some(whole as f64)
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
