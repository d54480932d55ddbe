//! Channels of lists: `append`, `union`, `upsert`, and the list of a `barrier`.

use crate::run::store::Change;
use crate::value::{List, Value};

use super::list_of;

/// All elements to the end.
pub fn append(old: Option<&Value>, value: &Value) -> Result<(Value, Change), String> {
    let mut list = current(old)?;
    let items: Vec<Value> = list_of(value, "the value")?.iter().cloned().collect();
    for item in &items {
        list.push(item.clone());
    }
    Ok((Value::List(list), Change::Append(items)))
}

/// Elements that are not there yet to the end.
pub fn union(old: Option<&Value>, value: &Value) -> Result<(Value, Change), String> {
    let mut list = current(old)?;
    let mut added = Vec::new();
    for item in list_of(value, "the value")?.iter() {
        if !list.iter().any(|known| known == item) {
            list.push(item.clone());
            added.push(item.clone());
        }
    }
    Ok((Value::List(list), Change::Append(added)))
}

/// Records by key: a known one is replaced where it stands, a new one goes to the end.
pub fn upsert(old: Option<&Value>, value: &Value, key: &str) -> Result<Value, String> {
    let mut list = current(old)?;
    for item in list_of(value, "the value")?.iter() {
        let id = item
            .get(key)
            .ok_or_else(|| format!("an element has no `{key}`"))?;
        let known = list.iter().position(|known| known.get(key) == Some(id));
        match known {
            Some(index) => {
                list.put(index, item.clone());
            }
            None => list.push(item.clone()),
        }
    }
    Ok(Value::List(list))
}

fn current(old: Option<&Value>) -> Result<List, String> {
    match old {
        None | Some(Value::Null) => Ok(List::new()),
        Some(old) => list_of(old, "the field").cloned(),
    }
}
