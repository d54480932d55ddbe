//! Puts a field together from its changes.

use crate::run::store::{Change, FieldImage};
use crate::value::{List, Map, Value};

/// Collects a field's changes from the newest back, so that nothing before its latest whole value
/// is read.
#[derive(Default)]
pub(super) struct Fold(Vec<Change>);

impl Fold {
    /// Takes the change before those taken so far; `true` where none before it matters.
    pub(super) fn older(&mut self, change: Change) -> bool {
        let whole = matches!(change, Change::Put(_) | Change::Clear);
        self.0.push(change);
        whole
    }

    /// The field; `None` where it has no value. What is added to nothing makes a list or a map.
    ///
    /// # Errors
    /// Where something was added to a value that can't take it, which [`super::rules`] refuse.
    pub(super) fn finish(self) -> Result<Option<FieldImage>, &'static str> {
        let mut value = None;
        let mut changes = 0;
        for change in self.0.into_iter().rev() {
            changes += match &change {
                Change::Append(items) => items.len() as u64,
                Change::Merge(entries) => entries.len() as u64,
                Change::Put(_) | Change::Clear => 0,
            };
            value = after(value, change)?;
        }
        Ok(value.map(|value| FieldImage { value, changes }))
    }
}

/// What a field holds after a change.
fn after(value: Option<Value>, change: Change) -> Result<Option<Value>, &'static str> {
    Ok(match (change, value) {
        (Change::Put(value), _) => Some(value),
        (Change::Clear, _) => None,
        (Change::Append(items), None) => Some(items.into()),
        (Change::Append(items), Some(Value::List(mut list))) => {
            List::extend(&mut list, items);
            Some(list.into())
        }
        (Change::Merge(entries), None) => Some(merged(Map::new(), entries)),
        (Change::Merge(entries), Some(Value::Map(map))) => Some(merged(map, entries)),
        (Change::Append(_), _) => return Err("elements were appended to what is no list"),
        (Change::Merge(_), _) => return Err("entries were merged into what is no map"),
    })
}

fn merged(mut map: Map, entries: Vec<(String, Value)>) -> Value {
    for (key, value) in entries {
        map.insert(key.as_str(), value);
    }
    map.into()
}
