//! What is read of a thread's past: a checkpoint by its number, and all records in turn.

use rusqlite::{OptionalExtension, params};

use super::read::{Read, Reader, Unreadable, signed, unsigned};
use crate::run::store::{Checkpoint, FieldWrite, ListedEffect, StoreError};
use crate::store::change;

impl Reader<'_> {
    /// A checkpoint, and the latest of the root up to there.
    pub(super) fn checkpoint_at(&self, seq: u64) -> Read<(i64, Option<i64>)> {
        let found = self
            .db
            .prepare_cached("SELECT seq, root_seq FROM checkpoints WHERE thread = ?1 AND seq = ?2")?
            .query_row([self.thread, signed(seq)], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .optional()?;
        match found {
            // Numbers above the range are as one to SQLite.
            Some(found) if i64::try_from(seq).is_ok() => Ok(found),
            _ => Err(self.no_checkpoint(seq)?),
        }
    }

    fn no_checkpoint(&self, seq: u64) -> Read<Unreadable> {
        let nearest = |sql: &str| -> Read<Option<u64>> {
            let found: Option<i64> = self
                .db
                .query_row(sql, [self.thread, signed(seq)], |row| row.get(0))?;
            Ok(found.map(unsigned))
        };
        Ok(Unreadable::Other(StoreError::NoCheckpoint {
            thread_id: self.thread_id.to_string(),
            seq,
            before: nearest("SELECT max(seq) FROM checkpoints WHERE thread = ?1 AND seq < ?2")?,
            after: nearest("SELECT min(seq) FROM checkpoints WHERE thread = ?1 AND seq > ?2")?,
        }))
    }

    /// Effects behind a position, in the order appended.
    pub(super) fn listed_effects(
        &self,
        after: Option<u64>,
        limit: usize,
    ) -> Read<Vec<ListedEffect>> {
        let mut statement = self.db.prepare_cached(
            "SELECT task, effect, kind, subject, outcome, root_step, id, behind FROM effects \
             WHERE thread = ?1 AND id > ?2 ORDER BY id LIMIT ?3",
        )?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let from = after.map_or(-1, signed);
        let mut rows = statement.query([self.thread, from, limit])?;
        let mut effects = Vec::new();
        while let Some(row) = rows.next()? {
            let behind: Option<i64> = row.get(7)?;
            effects.push(ListedEffect {
                position: unsigned(row.get(6)?),
                behind: behind.map(unsigned),
                effect: self.effect(row)?,
            });
        }
        Ok(effects)
    }

    /// Checkpoints behind a `seq`, oldest first, with their writes.
    pub(super) fn listed_checkpoints(
        &self,
        after: Option<u64>,
        limit: usize,
    ) -> Read<Vec<Checkpoint>> {
        let mut statement = self.db.prepare_cached(
            "SELECT seq, frame, step, root_step, run_id, source, schedule, at FROM checkpoints \
             WHERE thread = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3",
        )?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let from = after.map_or(-1, signed);
        let mut rows = statement.query([self.thread, from, limit])?;
        let mut checkpoints = Vec::new();
        while let Some(row) = rows.next()? {
            let (seq, frame): (i64, String) = (row.get(0)?, row.get(1)?);
            checkpoints.push(Checkpoint {
                seq: unsigned(seq),
                step: unsigned(row.get(2)?),
                root_step: unsigned(row.get(3)?),
                run_id: row.get(4)?,
                source: self.source(&row.get::<_, String>(5)?)?,
                writes: self.writes(&frame, seq)?,
                schedule: self.json(&row.get::<_, String>(6)?, "the schedule")?,
                at: row.get(7)?,
                frame,
            });
        }
        Ok(checkpoints)
    }

    /// Writes of a checkpoint, in their order. Each field of the frame is looked up, since no index leads from a checkpoint
    /// to its writes.
    fn writes(&self, frame: &str, seq: i64) -> Read<Vec<FieldWrite>> {
        let mut statement = self.db.prepare_cached(
            "SELECT part, field, kind, value FROM writes \
             WHERE thread = ?1 AND frame = ?2 AND field = ?3 AND seq = ?4",
        )?;
        let mut writes = Vec::new();
        for field in self.names(frame)? {
            let mut rows = statement.query(params![self.thread, frame, field, seq])?;
            while let Some(row) = rows.next()? {
                let part: i64 = row.get(0)?;
                let text = row.get_ref(3)?.as_str().map_err(rusqlite::Error::from)?;
                let change = change::from_stored(row.get(2)?, text).ok_or_else(|| {
                    self.corrupt(&format!("field `{field}`"), "holds no stored value")
                })?;
                let field = row.get(1)?;
                writes.push((part, FieldWrite { field, change }));
            }
        }
        writes.sort_by(|(a, one), (b, other)| (a, &one.field).cmp(&(b, &other.field)));
        Ok(writes.into_iter().map(|(_, write)| write).collect())
    }
}
