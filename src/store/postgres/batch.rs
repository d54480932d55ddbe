//! Checks appends against what is kept, and collects their rows.
//!
//! One append that breaks a rule is refused for itself; the others of the batch go on.

use std::collections::{BTreeMap, BTreeSet};

use uuid::Uuid;

use super::name::{kept, key};
use super::read::signed;
use super::rows::{CountRow, FieldRow, Rows, ThreadRow, WriteRow};
use crate::run::store::StoreError;
use crate::store::append::{Append, Row};
use crate::store::rules::Broken;

/// `seq` of the latest checkpoint, and of the latest of the root.
type Last = (i64, Option<i64>);

/// Thread, frame and name of a field.
pub(super) type FieldKey = (Uuid, Uuid, Uuid);

/// Thread, step of the root, and task with id of an effect.
pub(super) type EffectKey = (Uuid, i64, Uuid);

/// An append with the keys of what it touches.
pub(super) struct Entry<'a> {
    pub(super) append: &'a Append,
    pub(super) thread: Uuid,
    /// For each of its rows.
    keys: Vec<RowKeys>,
}

enum RowKeys {
    /// The frame, and each field written.
    Checkpoint(Uuid, Vec<Uuid>),
    /// Also one that is forgotten.
    Effect(Uuid),
}

impl<'a> Entry<'a> {
    pub(super) fn new(append: &'a Append) -> Self {
        let keys = append.rows.iter().map(|row| match row {
            Row::Checkpoint(row) => {
                let fields = row.writes.iter().map(|(field, _)| key(&[field]));
                RowKeys::Checkpoint(key(&[&row.frame]), fields.collect())
            }
            Row::Effect(row) => RowKeys::Effect(key(&[&row.task, &row.id])),
            Row::Forget(effect) => RowKeys::Effect(key(&[&effect.task, &effect.id])),
        });
        Self {
            append,
            thread: key(&[&append.thread_id]),
            keys: keys.collect(),
        }
    }

    /// Fields that it writes.
    pub(super) fn fields(&self) -> impl Iterator<Item = FieldKey> {
        self.keys.iter().flat_map(|keys| match keys {
            RowKeys::Checkpoint(frame, fields) => {
                let fields = fields.iter().map(|field| (self.thread, *frame, *field));
                fields.collect::<Vec<_>>()
            }
            RowKeys::Effect(_) => Vec::new(),
        })
    }

    /// Effects that it adds.
    pub(super) fn effects(&self) -> impl Iterator<Item = EffectKey> {
        let rows = self.append.rows.iter().zip(&self.keys);
        rows.filter_map(|(row, key)| match (row, key) {
            (Row::Effect(row), RowKeys::Effect(key)) => Some((self.thread, row.root_step, *key)),
            _ => None,
        })
    }
}

/// What is known of a thread while its row of `leases` is locked.
pub(super) struct Standing {
    /// Token of its latest writer.
    pub(super) token: i64,
    /// Its number, also where it has no records yet.
    pub(super) id: i64,
    /// Whether it has no records yet.
    pub(super) fresh: bool,
    pub(super) last: Option<Last>,
}

/// What is known of a field.
pub(super) struct Field {
    pub(super) id: i64,
    /// Whether it has no row yet.
    pub(super) fresh: bool,
    /// Kind of its latest change.
    pub(super) kind: Option<i64>,
}

/// What is kept, then with what the batch adds.
#[derive(Default)]
pub(super) struct StoredRows {
    pub(super) threads: BTreeMap<Uuid, Standing>,
    pub(super) fields: BTreeMap<FieldKey, Field>,
    pub(super) effects: BTreeSet<EffectKey>,
}

/// What an append does to what is kept, until it is sure that it is let in.
#[derive(Default)]
struct Draft {
    kinds: BTreeMap<FieldKey, i64>,
    /// Whether the effect is there afterwards.
    effects: BTreeMap<EffectKey, bool>,
}

impl StoredRows {
    /// Whether the commit of an append that was sent was made: before, none of its records were there, and only who has
    /// the token writes. One that adds no record of its own may be made twice.
    pub(super) fn has(&self, entry: &Entry) -> bool {
        let standing = self.threads.get(&entry.thread);
        let Some(standing) = standing.filter(|s| s.token == entry.append.token) else {
            return false;
        };
        let mut rows = entry.append.rows.iter().zip(&entry.keys);
        rows.any(|(row, keys)| match (row, keys) {
            (Row::Checkpoint(row), _) => standing.last.is_some_and(|(last, _)| row.seq <= last),
            (Row::Effect(row), RowKeys::Effect(key)) => {
                let key = (entry.thread, row.root_step, *key);
                self.effects.contains(&key)
            }
            _ => false,
        })
    }

    /// Lets an append in, and collects its rows; or says why not, and leaves everything as it was.
    pub(super) fn admit<'a>(
        &mut self,
        entry: &Entry<'a>,
        rows: &mut Rows<'a>,
    ) -> Result<(), StoreError> {
        let append = entry.append;
        let standing = self.threads.get(&entry.thread);
        let Some(standing) = standing.filter(|standing| standing.token == append.token) else {
            return Err(StoreError::Fenced {
                thread_id: append.thread_id.clone(),
            });
        };
        if append.rows.is_empty() && append.status.is_none() {
            return Ok(());
        }
        let draft = self
            .check(entry, standing)
            .map_err(|broken| broken.refusal(&append.thread_id))?;
        for (key, there) in draft.effects {
            match there {
                true => self.effects.insert(key),
                false => self.effects.remove(&key),
            };
        }
        for (key, kind) in draft.kinds {
            if let Some(field) = self.fields.get_mut(&key) {
                field.kind = Some(kind);
            }
        }
        self.collect(entry, rows);
        Ok(())
    }

    fn check(&self, entry: &Entry, standing: &Standing) -> Result<Draft, Broken> {
        if standing.fresh && entry.append.status.is_none() {
            return Err(Broken::NoStatus);
        }
        let mut draft = Draft::default();
        let mut last = standing.last.map(|(seq, _)| seq);
        for (row, keys) in entry.append.rows.iter().zip(&entry.keys) {
            match (row, keys) {
                (Row::Checkpoint(row), RowKeys::Checkpoint(frame, fields)) => {
                    if let Some(last) = last.filter(|last| row.seq <= *last) {
                        return Err(Broken::Seq {
                            seq: row.seq.unsigned_abs(),
                            last: last.unsigned_abs(),
                        });
                    }
                    last = Some(row.seq);
                    for ((field, change), field_key) in row.writes.iter().zip(fields) {
                        let key = (entry.thread, *frame, *field_key);
                        let before = draft.kinds.get(&key).copied();
                        let before =
                            before.or_else(|| self.fields.get(&key).and_then(|field| field.kind));
                        if change.adds() && !change.fits(before) {
                            let field = field.clone();
                            return Err(Broken::Change { field });
                        }
                        draft.kinds.insert(key, change.kind);
                    }
                }
                (Row::Effect(row), RowKeys::Effect(key)) => {
                    let key = (entry.thread, row.root_step, *key);
                    let there = draft.effects.insert(key, true);
                    if there.unwrap_or_else(|| self.effects.contains(&key)) {
                        return Err(Broken::Effect {
                            task: row.task.clone(),
                            id: row.id.clone(),
                        });
                    }
                }
                (Row::Forget(effect), RowKeys::Effect(key)) => {
                    let key = (entry.thread, signed(effect.root_step), *key);
                    draft.effects.insert(key, false);
                }
                _ => {}
            }
        }
        Ok(draft)
    }

    fn collect<'a>(&mut self, entry: &Entry<'a>, rows: &mut Rows<'a>) {
        let append = entry.append;
        let Some(standing) = self.threads.get_mut(&entry.thread) else {
            return;
        };
        let thread = standing.id;
        if let Some(status) = &append.status {
            standing.fresh = false;
            rows.threads.insert(
                thread,
                ThreadRow {
                    key: entry.thread,
                    thread_id: kept(&append.thread_id),
                    at: &append.at,
                    status,
                },
            );
        }
        for (row, keys) in append.rows.iter().zip(&entry.keys) {
            match (row, keys) {
                (Row::Checkpoint(row), RowKeys::Checkpoint(frame, fields)) => {
                    let root = row.frame.is_empty();
                    let root_seq = match root {
                        true => Some(row.seq),
                        false => standing.last.and_then(|(_, root)| root),
                    };
                    standing.last = Some((row.seq, root_seq));
                    let frame_key = (!root).then_some(*frame);
                    rows.checkpoints.push((thread, root_seq, frame_key, row));
                    for (part, ((name, change), key)) in row.writes.iter().zip(fields).enumerate() {
                        let Some(field) = self.fields.get_mut(&(entry.thread, *frame, *key)) else {
                            continue;
                        };
                        if std::mem::take(&mut field.fresh) {
                            rows.fields.push(FieldRow {
                                id: field.id,
                                thread,
                                frame: *frame,
                                key: *key,
                                name: kept(name),
                            });
                        }
                        rows.writes.push(WriteRow {
                            field: field.id,
                            seq: row.seq,
                            part: i32::try_from(part).unwrap_or(i32::MAX),
                            kind: i16::try_from(change.kind).unwrap_or(i16::MAX),
                            value: &change.value,
                        });
                    }
                }
                (Row::Effect(row), RowKeys::Effect(key_)) => {
                    let behind = standing.last.map_or(0, |(seq, _)| seq);
                    rows.effects.push((thread, behind, *key_, row));
                    let count = key(&[&row.kind, &row.subject]);
                    let count = rows.counts.entry((thread, count));
                    let none = || CountRow {
                        kind: kept(&row.kind),
                        subject: kept(&row.subject),
                        more: 0,
                    };
                    count.or_insert_with(none).more += 1;
                }
                (Row::Forget(effect), RowKeys::Effect(key)) => {
                    let step = signed(effect.root_step);
                    // It may have come with the same batch.
                    rows.effects.retain(|(of, _, own, row)| {
                        (*of, row.root_step, own) != (thread, step, key)
                    });
                    rows.forgotten.push((thread, step, *key));
                }
                _ => {}
            }
        }
    }
}
