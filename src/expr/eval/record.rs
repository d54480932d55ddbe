//! `Doc { id: "x" }`.
//!
//! A record is a map with all of its fields: one that isn't written has its default, or null
//! where its type allows that.

use std::collections::HashSet;

use crate::ast::Name;
use crate::ast::expr::RecordField;
use crate::base::Span;
use crate::expr::accept::accept;
use crate::expr::ty::{self, Record, Type};
use crate::value::{Map, Str, Value};

use super::CompileError;
use super::collection::Part;
use super::compiler::{Compiler, error};
use super::machine::{Node, node};
use super::name::meant;

pub(super) fn compile(
    compiler: &mut Compiler<'_>,
    span: Span,
    name: &Name,
    fields: &[RecordField],
) -> Result<Node, CompileError> {
    let types = compiler.types;
    let record = find(types, name)?;
    let mut parts: Vec<Field> = Vec::with_capacity(fields.len());
    let mut written: HashSet<&str> = HashSet::with_capacity(fields.len());
    for field in fields {
        let Some(declared) = record.field(&field.name) else {
            let message = format!("`{}` has no field `{}`", record.name, field.name.node);
            let known = record.fields.iter().map(|f| f.name.as_str());
            return Err(error(field.name.span, meant(message, &field.name, known)));
        };
        if !written.insert(&field.name.node) {
            let message = format!("field `{}` is there twice", field.name.node);
            return Err(error(field.name.span, message));
        }
        parts.push(Field {
            name: field.name.as_str().into(),
            float: matches!(declared.ty.without_null(), Type::Float),
            part: Part::compile(compiler, &field.value, field.optional)?,
        });
    }
    let sure = fields.iter().filter(|field| !field.optional);
    let sure: HashSet<&str> = sure.map(|field| field.name.node.as_str()).collect();
    let rest = record.fields.iter();
    let rest = rest.filter(|declared| !sure.contains(declared.name.as_str()));
    let base = defaults(types, record, &written, rest, name.span)?;
    node(move |machine| {
        let mut map = base.clone();
        for field in &parts {
            match field.part.eval(machine)? {
                Some(Value::Int(i)) if field.float => {
                    map.insert(field.name.clone(), Value::Float(i as f64));
                }
                Some(value) => map.insert(field.name.clone(), value),
                None => {}
            }
        }
        machine.made(Value::Map(map), span)
    })
}

fn find<'a>(types: &'a ty::TypeTable, name: &Name) -> Result<&'a Record, CompileError> {
    let found = types.record_named(&name.node);
    found.and_then(|id| types.records.get(id)).ok_or_else(|| {
        let message = format!("unknown type `{}`", name.node);
        let known = types.records.iter().map(|r| r.name.as_str());
        error(name.span, meant(message, name, known))
    })
}

/// The fields that aren't written, or perhaps left out.
fn defaults<'a>(
    types: &ty::TypeTable,
    record: &Record,
    written: &HashSet<&str>,
    rest: impl Iterator<Item = &'a ty::RecordField>,
    span: Span,
) -> Result<Map, CompileError> {
    let mut map = Map::new();
    for declared in rest {
        let value = match &declared.default {
            Some(json) => accept(json, &declared.ty, types).map_err(|_| {
                let message = format!("the default of `{}` does not fit its type", declared.name);
                error(span, message)
            })?,
            None if declared.ty.admits_null() => Value::Null,
            None if written.contains(declared.name.as_str()) => continue,
            None => {
                let message = format!("`{}` needs the field `{}`", record.name, declared.name);
                return Err(error(span, message));
            }
        };
        map.insert(declared.name.as_str(), value);
    }
    Ok(map)
}

struct Field {
    name: Str,
    /// Whether its type is `float`, so that an `int` becomes one.
    float: bool,
    part: Part,
}
