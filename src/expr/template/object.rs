//! Our values as the template engine sees them: lists and maps by reference, everything else by value.

use std::fmt;
use std::sync::Arc;

use minijinja::value::{Enumerator, Object, ObjectExt, ObjectRepr};
use minijinja::{Error, ErrorKind, Value as Shown};

use crate::base::{cancel, rendering};
use crate::expr::function::message;
use crate::value::{Key, List, Map, Value};

/// The engine's form of a value; a list or map is shared.
pub(super) fn shown(value: &Value) -> Shown {
    match value {
        Value::Null | Value::Optional(None) => Shown::from(()),
        Value::Bool(b) => Shown::from(*b),
        Value::Int(i) => Shown::from(*i),
        Value::Uint(u) => Shown::from(*u),
        Value::Float(f) if !f.is_finite() => Shown::from(not_finite()),
        Value::Float(f) => Shown::from(*f),
        Value::String(text) | Value::Type(text) => Shown::from(text),
        Value::List(list) => Shown::from_object(Items(list.clone())),
        Value::Map(map) => Shown::from_object(Entries(map.clone())),
        Value::Optional(Some(inner)) => shown(inner),
        Value::Bytes(_) | Value::Timestamp(_) | Value::Duration(_) => match value.to_json() {
            serde_json::Value::String(text) => Shown::from(text),
            other => Shown::from(other.to_string()),
        },
    }
}

/// What a text that would show an infinite number, or none, fails with.
pub(super) fn not_finite() -> Error {
    Error::new(
        ErrorKind::InvalidOperation,
        "the number is infinite, or not a number",
    )
}

#[derive(Debug)]
pub(super) struct Items(pub List);

impl Object for Items {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Seq
    }

    fn get_value(self: &Arc<Self>, key: &Shown) -> Option<Shown> {
        // Loops come by here.
        match cancel::is_asked() {
            true => Some(Shown::from(rendering::stopped())),
            false => self.0.get(key.as_usize()?).map(shown),
        }
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Seq(self.0.len())
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Value::List(self.0.clone()).to_json())
    }
}

#[derive(Debug)]
pub(super) struct Entries(pub Map);

impl Object for Entries {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Map
    }

    fn get_value(self: &Arc<Self>, key: &Shown) -> Option<Shown> {
        match key.as_str() {
            Some(text) => self.get_value_by_str(text),
            None => {
                let key = Key::Int(i64::try_from(key.clone()).ok()?);
                self.0.get_key(&key).map(shown)
            }
        }
    }

    fn get_value_by_str(self: &Arc<Self>, key: &str) -> Option<Shown> {
        message::field(&self.0, key).as_ref().map(shown)
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        self.mapped_rev_key_value_enumerator(|this| {
            Box::new(
                this.0
                    .iter()
                    .map(|(key, value)| (shown_key(key), shown(value))),
            )
        })
    }

    fn enumerator_len(self: &Arc<Self>) -> Option<usize> {
        Some(self.0.len())
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Value::Map(self.0.clone()).to_json())
    }
}

fn shown_key(key: &Key) -> Shown {
    match key {
        Key::Bool(b) => Shown::from(*b),
        Key::Int(i) => Shown::from(*i),
        Key::Uint(u) => Shown::from(*u),
        Key::String(text) => Shown::from(text),
    }
}
