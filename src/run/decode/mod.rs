//! Values out of what a model wrote: the output of a reply, the arguments of a tool call.
//!
//! A text is read leniently, in two parts, and then held to its type strictly, by [`accept`]:
//!
//! - [`find`] and [`parse`] get JSON out of the text: fences and prose around it, trailing commas, bare keys, other quotes, comments;
//! - [`coerce`] brings JSON that is not of the type closer to it: one value for a list, numbers in texts, names of members.
//!
//! Each deviation that was mended is a repair. A reply that needs none has none. The idea of reading by the type follows BAML's
//! schema-aligned parsing.

mod coerce;
mod field_names;
mod find;
mod parse;

use serde_json::Value as Json;

use crate::base::cancel::STOPPED;
use crate::expr::accept::{accept, accept_fields};
use crate::expr::ty::{RecordField, Type, TypeTable};
use crate::value::Value;

use coerce::Coercion;
use find::Found;
use parse::{Slip, Slips, place};

/// A value, and what had to be mended to read it.
#[derive(Debug, Clone, PartialEq)]
pub struct Decoded<T> {
    /// The value.
    pub value: T,
    /// What was mended, each with its place: `line 2, column 5: missing comma`, `$.tags: one value for a list`.
    pub repairs: Vec<String>,
}

/// The JSON in a text.
///
/// # Errors
/// Why there is none; that there are several objects, of which one may not stand for the others.
pub fn decode_json(text: &str) -> Result<Decoded<Json>, String> {
    let mut found = find::values(text)?.into_iter();
    let Found { json, slips, .. } = found.next().ok_or("no JSON in the text")?;
    if found.any(|other| other.json.is_object() && other.json != json) {
        return Err("the text holds several objects".to_owned());
    }
    Ok(Decoded {
        value: json,
        repairs: shown(text, &slips),
    })
}

/// The value of that type in a text: of several, the first that fits as it is, else the first that fits when it is mended.
///
/// # Errors
/// Why the text holds none.
pub fn decode(text: &str, ty: &Type, types: &TypeTable) -> Result<Decoded<Value>, String> {
    let found = match find::values(text) {
        Ok(found) => found,
        Err(error) => return plain(text, ty, types).ok_or(error),
    };
    for found in &found {
        if let Ok(value) = accept(&found.json, ty, types) {
            let repairs = shown(text, &found.slips);
            return Ok(Decoded { value, repairs });
        }
    }
    let mut wrong = None;
    for found in found {
        // A bracket in prose is no value of a type that the prose itself is of.
        if coerce::is_scalar(ty) && found.slips.contains_key(&Slip::TextAround) {
            continue;
        }
        let mut coercion = Coercion::new(types);
        let json = coercion.whole(found.json, ty);
        if coercion.is_stopped {
            return Err(STOPPED.to_owned());
        }
        match accept(&json, ty, types) {
            Ok(value) => {
                let mut repairs = shown(text, &found.slips);
                repairs.extend(coercion.into_repairs());
                return Ok(Decoded { value, repairs });
            }
            Err(mismatches) => _ = wrong.get_or_insert(mismatches),
        }
    }
    let wrong = wrong.unwrap_or_default();
    plain(text, ty, types).ok_or_else(|| wrong.to_string())
}

/// The arguments of a call with these parameters, from JSON that a model wrote.
///
/// # Errors
/// What does not fit.
pub fn decode_fields(
    json: &Json,
    fields: &[RecordField],
    types: &TypeTable,
) -> Result<Decoded<Value>, String> {
    if let Ok(value) = accept_fields(json, fields, types) {
        let repairs = Vec::new();
        return Ok(Decoded { value, repairs });
    }
    let mut coercion = Coercion::new(types);
    let json = coercion.arguments(json.clone(), fields);
    if coercion.is_stopped {
        return Err(STOPPED.to_owned());
    }
    let value = accept_fields(&json, fields, types).map_err(|wrong| wrong.to_string())?;
    let repairs = coercion.into_repairs();
    Ok(Decoded { value, repairs })
}

/// The value of a type without parts that a text is in plain words, such as the name of an enum's member.
fn plain(text: &str, ty: &Type, types: &TypeTable) -> Option<Decoded<Value>> {
    if !coerce::is_scalar(ty) {
        return None;
    }
    let text = text
        .get(find::behind_thoughts(text)..)
        .unwrap_or(text)
        .trim();
    let text = match ty {
        Type::String => text,
        _ => text.trim_matches(|c: char| c.is_whitespace() || "*`\"'.".contains(c)),
    };
    let mut coercion = Coercion::new(types);
    let json = coercion.whole(Json::from(text), ty);
    let value = accept(&json, ty, types).ok()?;
    let mut repairs = vec!["a text without JSON".to_owned()];
    repairs.extend(coercion.into_repairs());
    Some(Decoded { value, repairs })
}

fn shown(text: &str, slips: &Slips) -> Vec<String> {
    let mut slips: Vec<(usize, Slip)> = slips.iter().map(|(slip, at)| (*at, *slip)).collect();
    slips.sort();
    let shown = slips.into_iter().map(|(at, slip)| {
        let (line, column) = place(text, at);
        format!("line {line}, column {column}: {}", slip.text())
    });
    shown.collect()
}
