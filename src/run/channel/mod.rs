//! Channels: how the writes of a super-step become a field's new value. One file per family.
//!
//! Pure. The order of writes is the fixed one (node declaration, then send index), never timing.
//! What is not here: who wrote when ([`frame`](super::frame)), and types, which the compiler has checked.

mod list;
mod map;
mod messages;
mod scalar;

use crate::ir::Channel;
use crate::value::{List, Map, Value};

use super::error::Passage;
use super::store::Change;

/// A value on its way into a field.
#[derive(Debug, Clone)]
pub struct Incoming {
    /// The value.
    pub value: Value,
    /// `:=`: replaces, past the reducer.
    pub replace: bool,
}

/// A declared reducer, ready to be called.
pub trait OwnReducer {
    /// The new value of the field.
    ///
    /// # Errors
    /// Where its expression fails, with the part that did.
    fn reduce(&self, old: &Value, new: &Value) -> Result<Value, Refusal>;
}

/// Why a field does not take a write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// What is wrong.
    pub message: String,
    /// The part of a declared reducer that failed.
    pub place: Option<Box<Passage>>,
}

impl From<String> for Refusal {
    fn from(message: String) -> Self {
        Self {
            message,
            place: None,
        }
    }
}

/// Puts one value into a field and says how it changed.
///
/// `old` is `None` where the field has no value yet. `fresh` names the messages that have no id.
///
/// # Errors
/// Where a declared reducer fails, a sum leaves its type's range, or the value does not fit the channel: only `json` values can do that in
/// a checked flow.
pub fn put(
    channel: &Channel,
    old: Option<&Value>,
    incoming: &Incoming,
    own: Option<&dyn OwnReducer>,
    fresh: &mut dyn FnMut() -> String,
) -> Result<(Value, Change), Refusal> {
    let value = &incoming.value;
    if incoming.replace {
        let value = match channel {
            Channel::AddMessages => messages::named(value, fresh)?,
            _ => value.clone(),
        };
        return Ok((value.clone(), Change::Put(value)));
    }
    let made = match channel {
        Channel::Last | Channel::AnyLast => Ok(whole(value.clone())),
        Channel::Append => list::append(old, value),
        Channel::Union => list::union(old, value),
        Channel::Upsert { key } => list::upsert(old, value, key).map(whole),
        Channel::Barrier { .. } => list::union(old, value),
        Channel::Merge => map::merge(old, value),
        Channel::DeepMerge => map::deep_merge(old, value).map(whole),
        Channel::Add => scalar::add(old, value).map(whole),
        Channel::Min => scalar::least(old, value, std::cmp::Ordering::Less).map(whole),
        Channel::Max => scalar::least(old, value, std::cmp::Ordering::Greater).map(whole),
        Channel::And => scalar::logical(old, value, |a, b| a && b).map(whole),
        Channel::Or => scalar::logical(old, value, |a, b| a || b).map(whole),
        Channel::AddMessages => messages::add(old, value, fresh),
        Channel::Own { .. } => {
            let own = own.ok_or_else(|| "the reducer is not part of the flow".to_owned())?;
            let made = own.reduce(old.unwrap_or(&Value::Null), value)?;
            return Ok(whole(made));
        }
    };
    made.map_err(Refusal::from)
}

/// A value that [`put`] took, with the ids that it gave to messages; `fresh` must give the same.
pub fn named(channel: &Channel, incoming: Incoming, fresh: &mut dyn FnMut() -> String) -> Incoming {
    match channel {
        Channel::AddMessages => Incoming {
            value: messages::with_ids(incoming.value, fresh),
            ..incoming
        },
        _ => incoming,
    }
}

fn whole(value: Value) -> (Value, Change) {
    (value.clone(), Change::Put(value))
}

fn list_of<'a>(value: &'a Value, what: &str) -> Result<&'a List, String> {
    value
        .as_list()
        .ok_or_else(|| format!("{what} is {}, expected a list", kind(value)))
}

fn map_of<'a>(value: &'a Value, what: &str) -> Result<&'a Map, String> {
    value
        .as_map()
        .ok_or_else(|| format!("{what} is {}, expected a map", kind(value)))
}

/// What a value is, with its article, for messages.
pub fn kind(value: &Value) -> String {
    match value.kind() {
        word @ ("null" | "bytes") => word.to_owned(),
        word @ ("int" | "optional") => format!("an {word}"),
        word => format!("a {word}"),
    }
}
