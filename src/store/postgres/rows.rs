//! Rows that a batch adds, by table.

use std::borrow::Cow;
use std::collections::BTreeMap;

use uuid::Uuid;

use crate::store::row::{CheckpointRow, EffectRow};

/// Rows of `threads`: the last of each counts.
pub(super) struct ThreadRow<'a> {
    pub(super) key: Uuid,
    pub(super) thread_id: Cow<'a, str>,
    pub(super) at: &'a str,
    pub(super) status: &'a str,
}

/// A row of `fields`.
pub(super) struct FieldRow<'a> {
    pub(super) id: i64,
    pub(super) thread: i64,
    pub(super) frame: Uuid,
    pub(super) key: Uuid,
    pub(super) name: Cow<'a, str>,
}

/// A row of `writes`.
pub(super) struct WriteRow<'a> {
    pub(super) field: i64,
    pub(super) seq: i64,
    pub(super) part: i32,
    pub(super) kind: i16,
    pub(super) value: &'a str,
}

/// A row of `effect_counts`, without its key.
pub(super) struct CountRow<'a> {
    pub(super) kind: Cow<'a, str>,
    pub(super) subject: Cow<'a, str>,
    /// How many more there are.
    pub(super) more: i64,
}

/// Rows to add, by table.
#[derive(Default)]
pub(super) struct Rows<'a> {
    /// By the thread's number.
    pub(super) threads: BTreeMap<i64, ThreadRow<'a>>,
    pub(super) fields: Vec<FieldRow<'a>>,
    /// Thread, the root's latest checkpoint, key of the frame, and the rest.
    pub(super) checkpoints: Vec<(i64, Option<i64>, Option<Uuid>, &'a CheckpointRow)>,
    pub(super) writes: Vec<WriteRow<'a>>,
    /// Thread, latest checkpoint, key, and the rest.
    pub(super) effects: Vec<(i64, i64, Uuid, &'a EffectRow)>,
    /// Thread, step of the root and key of those that are forgotten; they go before others are added.
    pub(super) forgotten: Vec<(i64, i64, Uuid)>,
    /// By thread and key.
    pub(super) counts: BTreeMap<(i64, Uuid), CountRow<'a>>,
}
