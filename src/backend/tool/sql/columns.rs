//! What the declared type of a tool's result asks of the columns: databases have fewer types than flows.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde_json::Value as Json;

use crate::expr::{Type, TypeTable};
use crate::project::spec::sql::Form;

/// What a value is to become, where the database has another form of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// What it is.
    AsItIs,
    /// 0 and 1 are `false` and `true`.
    Bool,
    /// Seconds since 1970, and a text without a zone, are times in UTC.
    Timestamp,
    /// A number of any length is its text.
    Text,
    /// A text that is a list or an object of JSON is that.
    Json,
}

/// What is wanted of each column.
#[derive(Debug, Clone, PartialEq)]
pub struct Columns {
    named: BTreeMap<String, Wanted>,
    others: Wanted,
}

impl Columns {
    /// Nothing is known.
    pub fn unknown() -> Self {
        Self {
            named: BTreeMap::new(),
            others: Wanted::AsItIs,
        }
    }

    /// Of a result of that form and type.
    pub fn of(returns: Option<&Type>, types: &TypeTable, form: Form) -> Self {
        let mut columns = Self::unknown();
        let Some(ty) = returns.map(without_null) else {
            return columns;
        };
        let row = match (form, ty) {
            (Form::Value, ty) => {
                columns.others = wanted(ty);
                return columns;
            }
            (Form::Rows, Type::List(of)) => without_null(of),
            (Form::Row, ty) => ty,
            _ => return columns,
        };
        match row {
            Type::Map(of) if **of != Type::Json => columns.others = wanted(of),
            Type::Record(id) => {
                let record = types.records.get(*id);
                let fields = record.into_iter().flat_map(|record| &record.fields);
                let fields = fields.map(|field| (field.name.clone(), wanted(&field.ty)));
                columns.named = fields.collect();
            }
            _ => {}
        }
        columns
    }

    /// What is wanted of one.
    pub fn wanted(&self, name: &str) -> Wanted {
        self.named.get(name).copied().unwrap_or(self.others)
    }
}

fn without_null(ty: &Type) -> &Type {
    match ty {
        Type::Nullable(of) => of,
        ty => ty,
    }
}

fn wanted(ty: &Type) -> Wanted {
    match without_null(ty) {
        Type::Bool => Wanted::Bool,
        Type::Timestamp => Wanted::Timestamp,
        Type::String => Wanted::Text,
        Type::Json | Type::List(_) | Type::Map(_) | Type::Record(_) => Wanted::Json,
        _ => Wanted::AsItIs,
    }
}

impl Wanted {
    /// A whole number.
    pub fn int(self, number: i64) -> Json {
        match (self, number) {
            (Wanted::Bool, 0 | 1) => Json::Bool(number == 1),
            (Wanted::Timestamp, seconds) => match Timestamp::from_second(seconds) {
                Ok(time) => Json::String(time.to_string()),
                Err(_) => number.into(),
            },
            _ => number.into(),
        }
    }

    /// A text.
    pub fn text(self, text: &str) -> Json {
        let converted = match self {
            Wanted::Json if text.trim_start().starts_with(['{', '[']) => {
                serde_json::from_str(text).ok()
            }
            Wanted::Timestamp if text.parse::<Timestamp>().is_err() => in_utc(text),
            _ => None,
        };
        converted.unwrap_or_else(|| Json::String(text.to_owned()))
    }
}

/// A time without a zone, such as SQLite's functions make.
fn in_utc(text: &str) -> Option<Json> {
    let time: DateTime = text.parse().ok()?;
    let time = TimeZone::UTC.to_timestamp(time).ok()?;
    Some(Json::String(time.to_string()))
}
