//! The channel of a conversation: `add_messages`, by id, with removal.

use crate::run::store::Change;
use crate::value::{List, Map, Value};

use super::{kind, list_of};

/// Adds messages: one with a known id replaces it where it stands, one with the role `remove` takes
/// it out, one without an id gets a fresh one.
pub fn add(
    old: Option<&Value>,
    value: &Value,
    fresh: &mut dyn FnMut() -> String,
) -> Result<(Value, Change), String> {
    let mut list = match old {
        None | Some(Value::Null) => List::new(),
        Some(old) => list_of(old, "the field")?.clone(),
    };
    let mut added = Vec::new();
    let mut only_added = true;
    for message in messages_of(value)? {
        let message = with_id(message, fresh)?;
        // A message without an id can't be one that is there, so the list is searched only for others.
        let known = message
            .known
            .then(|| position(&list, &message.value))
            .flatten();
        match (message.removes, known) {
            (true, Some(index)) => {
                list = list
                    .iter()
                    .enumerate()
                    .filter(|(i, _)| *i != index)
                    .map(|(_, m)| m.clone())
                    .collect();
                only_added = false;
            }
            (true, None) => {
                return Err(format!(
                    "there is no message `{}` to remove",
                    id_of(&message.value)
                ));
            }
            (false, Some(index)) => {
                list.put(index, message.value);
                only_added = false;
            }
            (false, None) => {
                list.push(message.value.clone());
                added.push(message.value);
            }
        }
    }
    let value = Value::List(list);
    let change = if only_added {
        Change::Append(added)
    } else {
        Change::Put(value.clone())
    };
    Ok((value, change))
}

/// A write that [`add`] or [`named`] took, each message with its id.
pub fn with_ids(value: Value, fresh: &mut dyn FnMut() -> String) -> Value {
    let all = messages_of(&value).and_then(|messages| {
        let named = messages.map(|message| Ok(with_id(message, fresh)?.value));
        named.collect::<Result<List, String>>()
    });
    all.map_or(value, Value::List)
}

/// The messages of a replacing write, each with an id.
pub fn named(value: &Value, fresh: &mut dyn FnMut() -> String) -> Result<Value, String> {
    let messages = messages_of(value)?.map(|message| match with_id(message, fresh)? {
        Message { removes: true, .. } => {
            Err("a `:=` puts all messages anew and can't remove one".to_owned())
        }
        message => Ok(message.value),
    });
    messages.collect::<Result<List, String>>().map(Value::List)
}

struct Message {
    value: Value,
    removes: bool,
    /// Whether it came with its id.
    known: bool,
}

/// A single message stands for a list of one.
fn messages_of(value: &Value) -> Result<Box<dyn Iterator<Item = &Value> + '_>, String> {
    match value {
        Value::Map(_) => Ok(Box::new(std::iter::once(value))),
        _ => Ok(Box::new(list_of(value, "the value")?.iter())),
    }
}

fn with_id(message: &Value, fresh: &mut dyn FnMut() -> String) -> Result<Message, String> {
    let map: &Map = message
        .as_map()
        .ok_or_else(|| format!("a message is {}, expected a record", kind(message)))?;
    let role = map
        .get("role")
        .and_then(Value::as_str)
        .ok_or("a message has no `role`")?;
    let removes = role == "remove";
    if map.get("id").is_some_and(|id| !id.is_null()) {
        return Ok(Message {
            value: message.clone(),
            removes,
            known: true,
        });
    }
    let mut map = map.clone();
    map.insert("id", Value::text(fresh()));
    Ok(Message {
        value: Value::Map(map),
        removes,
        known: false,
    })
}

fn id_of(message: &Value) -> &str {
    message.get("id").and_then(Value::as_str).unwrap_or("")
}

fn position(list: &List, message: &Value) -> Option<usize> {
    let id = id_of(message);
    // What changes is most often near the end.
    list.iter().rposition(|known| id_of(known) == id)
}
