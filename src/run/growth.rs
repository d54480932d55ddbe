//! When a field that changes are kept of is written whole again.

use crate::value::Value;

use super::store::Change;

/// Changes that a field gathers, at least, before its whole value is written again.
pub const SMALLEST_SNAPSHOT: u64 = 64;

/// How much a field has changed since its whole value was last written.
#[derive(Debug, Clone, Copy, Default)]
pub struct Growth {
    held: u64,
    changes: u64,
}

impl Growth {
    /// Of a field that has changed so much since then.
    pub fn of(value: &Value, changes: u64) -> Self {
        Self {
            held: length(value).saturating_sub(changes),
            changes,
        }
    }

    /// Of a field as it was before a change has led to that value.
    pub fn before(value: &Value, change: &Change) -> Self {
        let held = length(value).saturating_sub(added(change));
        Self { held, changes: 0 }
    }

    /// The change, or the whole value that it has led to once changes outnumber what the field held: reading it back costs
    /// at most twice its size, and all whole values together are at most twice the last.
    pub fn pass(&mut self, value: &Value, change: Change) -> Change {
        self.changes += added(&change);
        let adds = matches!(change, Change::Append(_) | Change::Merge(_));
        if adds && self.changes <= self.held.max(SMALLEST_SNAPSHOT) {
            return change;
        }
        *self = Self {
            held: length(value),
            changes: 0,
        };
        match adds {
            true => Change::Put(value.clone()),
            false => change,
        }
    }
}

/// Elements or entries that a change adds.
fn added(change: &Change) -> u64 {
    match change {
        Change::Append(items) => items.len() as u64,
        Change::Merge(entries) => entries.len() as u64,
        Change::Put(_) | Change::Clear => 0,
    }
}

/// How much a value holds.
pub fn length(value: &Value) -> u64 {
    match value {
        Value::List(list) => list.len() as u64,
        Value::Map(map) => map.len() as u64,
        _ => 1,
    }
}
