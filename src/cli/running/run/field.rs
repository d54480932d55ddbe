//! `-i FIELD=VALUE`: one field of a run's input.

use std::collections::BTreeSet;
use std::str::FromStr;

use serde_json::Value as Json;

use crate::base::name;
use crate::expr::Type;
use crate::ir::graph::Field;
use crate::ir::{Flow, GraphId};

use super::super::Failure;

/// A field and its value, as they are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldArg {
    name: String,
    value: String,
}

impl FromStr for FieldArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once('=') {
            Some((name, value)) if !name.is_empty() => Ok(Self {
                name: name.to_owned(),
                value: value.to_owned(),
            }),
            _ => Err("expected a field, `=` and its value, as in `question=\"why?\"`".to_owned()),
        }
    }
}

/// An input with fields in it, in place of those that it has. A field whose values are texts takes the value as it is written, any
/// other one the JSON that it is.
///
/// # Errors
/// Where the graph has no such input, one is given twice, or a value is no JSON.
pub fn with_fields(
    input: Json,
    given: &[FieldArg],
    flow: &Flow,
    graph: GraphId,
) -> Result<Json, Failure> {
    let Json::Object(mut input) = input else {
        // Said by the run, of an input alone.
        return match given {
            [] => Ok(input),
            _ => Err(Failure::unusable(
                "`-i` adds to an object, and `--input` is none",
            )),
        };
    };
    let mut before = BTreeSet::new();
    for FieldArg { name, value } in given {
        if !before.insert(name) {
            return Err(Failure::unusable(format!("`-i {name}=..` is given twice")));
        }
        let field = field(flow, graph, name)?;
        input.insert(name.clone(), read(flow, field, value)?);
    }
    Ok(Json::Object(input))
}

fn field<'f>(flow: &'f Flow, graph: GraphId, wanted: &str) -> Result<&'f Field, Failure> {
    let graph = flow.graphs.get(graph);
    let fields = || graph.iter().flat_map(|graph| graph.fields.iter());
    let inputs = || fields().filter(|field| field.mode.is_in());
    if let Some(field) = inputs().find(|field| field.name == wanted) {
        return Ok(field);
    }
    let graph = graph.map_or("", |graph| graph.name.as_str());
    let names = || inputs().map(|field| field.name.as_str());
    let help = name::did_you_mean(wanted, names());
    let help = help.unwrap_or_else(|| format!("it takes {}", name::list(names())));
    Err(Failure::unusable(format!("graph `{graph}` takes no input `{wanted}`")).help(help))
}

fn read(flow: &Flow, field: &Field, value: &str) -> Result<Json, Failure> {
    let ty = flow.write_type(field);
    if is_text(ty) {
        return Ok(Json::String(value.to_owned()));
    }
    serde_json::from_str(value).map_err(|_| {
        let (name, shown) = (&field.name, flow.types.describe(ty));
        let message = format!("`-i {name}={value}`: `{name}` is {shown}, and this is no JSON");
        let failure = Failure::unusable(message);
        match ty {
            Type::Bool | Type::Int | Type::Float => failure,
            _ => failure.help(format!(
                "texts in JSON stand in double quotes, as in `-i '{name}={}'`",
                Json::String(value.to_owned())
            )),
        }
    })
}

/// Whether all values of a type but null are texts outside.
fn is_text(ty: &Type) -> bool {
    match ty {
        Type::String | Type::Literal(_) | Type::Enum(_) | Type::Timestamp | Type::Duration => true,
        Type::Nullable(inner) => is_text(inner),
        Type::Union(members) => members.iter().all(is_text),
        _ => false,
    }
}
