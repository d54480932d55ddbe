//! Values that another version of the flow has made, as this version would have made them.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use crate::expr::accept::{Mismatch, accept, accept_fields};
use crate::expr::ty::RecordField;
use crate::expr::{RecordId, Type, TypeTable};
use crate::ir::{Channel, Field, Flow};
use crate::value::Value;

use super::store::FieldImage;

/// Holds a kept value against a type: what is new in a record has its default then, and a whole number under `float`
/// is one. The value where it has become another.
///
/// # Errors
/// What does not fit first.
pub fn refit(types: &TypeTable, ty: &Type, value: &Value) -> Result<Option<Value>, String> {
    let json = value.to_json();
    let made = accept(&json, ty, types).map_err(|wrong| first(&wrong))?;
    Ok(other(made, value, &json, holds_json(types, [ty])))
}

/// The same of what was sent to a node.
///
/// # Errors
/// What does not fit first.
pub fn refit_fields(
    types: &TypeTable,
    fields: &[RecordField],
    value: &Value,
) -> Result<Option<Value>, String> {
    let json = value.to_json();
    let made = accept_fields(&json, fields, types).map_err(|wrong| first(&wrong))?;
    let open = holds_json(types, fields.iter().map(|field| &field.ty));
    Ok(other(made, value, &json, open))
}

/// The same of something that is written to a field, by its reducer or, with `replaces`, past it.
///
/// # Errors
/// What does not fit first.
pub fn refit_write(
    flow: &Flow,
    field: &Field,
    replaces: bool,
    value: &Value,
) -> Result<Option<Value>, String> {
    let ty = match &field.channel {
        Channel::Own { reducer } if !replaces => {
            let declared = flow.reducers.get(*reducer);
            declared.map_or(&field.ty, |declared| &declared.new.1)
        }
        _ => &field.ty,
    };
    refit(&flow.types, ty, value)
}

/// Why the value of a field does not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unfit {
    /// It is not of the field's type: what was expected, and what was found.
    Type(String),
    /// It is, and breaks a bound of the field: likewise.
    Bounds(String),
}

/// The same of the value of a field, and of its bounds, which its first value alone may break: only writes are asked.
///
/// # Errors
/// What does not fit first.
pub fn refit_field(
    types: &TypeTable,
    field: &Field,
    begins_with: Option<&Value>,
    kept: &mut FieldImage,
) -> Result<(), Unfit> {
    if let Some(value) = refit(types, &field.ty, &kept.value).map_err(Unfit::Type)? {
        *kept = FieldImage { value, changes: 0 };
    }
    let begins = begins_with.is_some_and(|first| *first == kept.value);
    match field.constraints.broken_by(&kept.value).into_iter().next() {
        Some(broken) if !begins => Err(Unfit::Bounds(broken)),
        _ => Ok(()),
    }
}

fn first(wrong: &[Mismatch]) -> String {
    let first = wrong.first();
    first.map(Mismatch::to_string).unwrap_or_default()
}

/// What was made of a value, where it is another. JSON says less of a value than there is where it may be any.
fn other(made: Value, value: &Value, json: &Json, open: bool) -> Option<Value> {
    let same = match open {
        true => made.to_json() == *json,
        false => made.to_stored() == value.to_stored(),
    };
    (!same).then_some(made)
}

/// Whether some part of the types is any JSON.
fn holds_json<'t>(types: &'t TypeTable, of: impl IntoIterator<Item = &'t Type>) -> bool {
    let mut seen: BTreeSet<RecordId> = BTreeSet::new();
    let mut waiting: Vec<&Type> = of.into_iter().collect();
    while let Some(ty) = waiting.pop() {
        match ty {
            Type::Json => return true,
            Type::List(of) | Type::Map(of) | Type::Nullable(of) | Type::Optional(of) => {
                waiting.push(of);
            }
            Type::Union(members) => waiting.extend(members.iter()),
            Type::Record(id) if seen.insert(*id) => {
                let record = types.records.get(*id);
                let fields = record.into_iter().flat_map(|record| &record.fields);
                waiting.extend(fields.map(|field| &field.ty));
            }
            _ => {}
        }
    }
    false
}
