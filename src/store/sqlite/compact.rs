//! Lets go of a thread's old history, and of the space that it took.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior, params};

use super::append::standing;
use super::error::Failure;
use super::lock;
use super::read::{Read, Reader, Unreadable, signed, unsigned};
use crate::run::store::{Change, Compacted, Keep, Lease, StoreError};
use crate::store::change::{self, StoredChange};
use crate::store::row::json_text;
use crate::store::rules;

/// Lets go of what `keep` doesn't keep, in one transaction.
pub(super) fn compact(
    connection: &mut Connection,
    lease: &Lease,
    keep: Keep,
    failure: &Failure,
) -> Result<Compacted, StoreError> {
    let failed = |error| failure.of(error);
    let tx = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(failed)?;
    let thread_id = &lease.thread_id;
    let standing = standing(&tx, thread_id).map_err(failed)?;
    if standing.is_none_or(|standing| standing.token != signed(lease.token)) {
        let thread_id = thread_id.clone();
        return Err(StoreError::Fenced { thread_id });
    }
    let done = Reader::find(&tx, failure, thread_id)
        .and_then(|found| found.map_or(Ok(Compacted::default()), |reader| reader.compact(keep)))
        .map_err(|why| match why {
            Unreadable::Sql(error) => failure.of(error),
            Unreadable::Other(error) => error,
        })?;
    tx.commit().map_err(failed)?;
    Ok(done)
}

/// Checkpoints with a step each.
type Numbered = Vec<(u64, u64)>;

/// What a field's changes up to a checkpoint become.
struct Base {
    frame: String,
    /// The checkpoint.
    seq: i64,
    field: String,
    /// How many changes there are.
    changes: u64,
}

impl Reader<'_> {
    fn compact(&self, keep: Keep) -> Read<Compacted> {
        let mut done = Compacted::default();
        let (roots, nested) = self.all_checkpoints()?;
        let Some(oldest) = rules::oldest_kept(&roots, &nested, keep) else {
            return Ok(done);
        };
        for base in self.bases(signed(oldest))? {
            done.changes += self.put_together(&base)?;
        }
        let old = [self.thread, signed(oldest)];
        done.changes += self.remove(
            "DELETE FROM writes WHERE thread = ?1 AND frame NOT IN \
             (SELECT frame FROM checkpoints WHERE thread = ?1 AND seq >= ?2)",
            old,
        )?;
        let delete = "DELETE FROM checkpoints WHERE thread = ?1 AND seq < ?2";
        done.checkpoints = self.remove(delete, old)?;
        let kept = roots.iter().filter(|(seq, _)| *seq >= oldest);
        if let Some(step) = kept.map(|(_, step)| *step).min() {
            let delete = "DELETE FROM effects WHERE thread = ?1 AND root_step < ?2";
            done.effects = self.remove(delete, [self.thread, signed(step)])?;
        }
        Ok(done)
    }

    fn remove(&self, sql: &str, of: [i64; 2]) -> Read<u64> {
        Ok(self.db.execute(sql, of)? as u64)
    }

    /// Each `seq` of the root with its step, and of all other frames with the root's step that they belong to.
    fn all_checkpoints(&self) -> Read<(Numbered, Numbered)> {
        let mut statement = self.db.prepare(
            "SELECT seq, frame = '', step, root_step FROM checkpoints WHERE thread = ?1 \
             ORDER BY seq",
        )?;
        let mut rows = statement.query([self.thread])?;
        let (mut roots, mut nested) = (Vec::new(), Vec::new());
        while let Some(row) = rows.next()? {
            let seq = unsigned(row.get(0)?);
            match row.get(1)? {
                true => roots.push((seq, unsigned(row.get(2)?))),
                false => nested.push((seq, unsigned(row.get(3)?))),
            }
        }
        Ok((roots, nested))
    }

    /// Fields of each frame with what they were changed up to the frame's first checkpoint that is kept.
    fn bases(&self, oldest: i64) -> Read<Vec<Base>> {
        let mut statement = self.db.prepare(
            "SELECT kept.frame, kept.first, writes.field, count(*) FROM \
               (SELECT frame, min(seq) AS first FROM checkpoints \
                WHERE thread = ?1 AND seq >= ?2 GROUP BY frame) AS kept \
             JOIN writes ON writes.thread = ?1 AND writes.frame = kept.frame \
               AND writes.seq <= kept.first \
             GROUP BY kept.frame, kept.first, writes.field",
        )?;
        let bases = statement.query_map([self.thread, oldest], |row| {
            Ok(Base {
                frame: row.get(0)?,
                seq: row.get(1)?,
                field: row.get(2)?,
                changes: unsigned(row.get(3)?),
            })
        })?;
        Ok(bases.collect::<rusqlite::Result<_>>()?)
    }

    /// Makes one whole value of a field's changes up to a checkpoint; says how many changes are gone.
    fn put_together(&self, base: &Base) -> Read<u64> {
        let of = params![self.thread, base.frame, base.field, base.seq];
        let (id, seq, kind): (i64, i64, i64) = self
            .db
            .prepare_cached(
                "SELECT id, seq, kind FROM writes \
                 WHERE thread = ?1 AND frame = ?2 AND field = ?3 AND seq <= ?4 \
                 ORDER BY seq DESC, part DESC LIMIT 1",
            )?
            .query_row(of, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        let whole = change::is_put(kind);
        if whole && seq == base.seq && base.changes == 1 {
            return Ok(0);
        }
        let part = self.part(base)?;
        let made = match whole || change::is_clear(kind) {
            true => None,
            false => self.whole(base)?,
        };
        let stays = if whole { id } else { -1 };
        let gone = self
            .db
            .prepare_cached(
                "DELETE FROM writes \
                 WHERE thread = ?1 AND frame = ?2 AND field = ?3 AND seq <= ?4 AND id <> ?5",
            )?
            .execute(params![
                self.thread,
                base.frame,
                base.field,
                base.seq,
                stays
            ])? as u64;
        if whole {
            self.db
                .prepare_cached("UPDATE writes SET seq = ?2, part = ?3 WHERE id = ?1")?
                .execute([id, base.seq, part])?;
        }
        let Some(made) = made else { return Ok(gone) };
        self.db
            .prepare_cached(
                "INSERT INTO writes (thread, frame, field, seq, part, kind, value) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            )?
            .execute(params![
                self.thread,
                base.frame,
                base.field,
                base.seq,
                part,
                made.kind,
                made.value
            ])?;
        Ok(gone - 1)
    }

    /// The position of a whole value among the writes of its checkpoint: where the field was written there first, else behind
    /// all others.
    fn part(&self, base: &Base) -> Read<i64> {
        let own: Option<i64> = self
            .db
            .prepare_cached(
                "SELECT min(part) FROM writes \
                 WHERE thread = ?1 AND frame = ?2 AND field = ?3 AND seq = ?4",
            )?
            .query_row(
                params![self.thread, base.frame, base.field, base.seq],
                |row| row.get(0),
            )?;
        // Far behind those of any step; equal parts are in the order of their fields.
        Ok(own.unwrap_or(i64::from(u32::MAX)))
    }

    fn whole(&self, base: &Base) -> Read<Option<StoredChange>> {
        let Some(image) = self.field(&base.frame, &base.field, base.seq)? else {
            return Ok(None);
        };
        let put = Change::Put(image.value);
        let what = format!("field `{}`", base.field);
        let value = json_text(&change::to_json(&put), &what)
            .map_err(|_| self.corrupt(&what, "is nested deeper than it can have been written"))?;
        Ok(Some(StoredChange {
            kind: change::kind(&put),
            value,
        }))
    }
}

/// Shrinks the file by what is free in it; gives back by how many bytes.
///
/// # Errors
/// Where a thread is held, by whomever: to move all pages takes a while, in which nobody else can write.
pub(super) fn reclaim(
    connection: &mut Connection,
    locks: &Path,
    failure: &Failure,
) -> Result<u64, StoreError> {
    let failed = |error| failure.of(error);
    let pragma = |connection: &Connection, name: &str| -> rusqlite::Result<i64> {
        connection.pragma_query_value(None, name, |row| row.get(0))
    };
    if pragma(connection, "freelist_count").map_err(failed)? == 0 {
        return Ok(0);
    }
    let held = lock::any(locks).map_err(|error| failure.because(&error.to_string()))?;
    if held {
        return Err(failure.because(
            "a run writes to it now; what is free in it is used for new records, or given back when nothing runs",
        ));
    }
    // What is in the log only counts once it is in the file; a reader that stands in the way is no harm.
    let settle = |connection: &Connection| {
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
    };
    settle(connection).map_err(failed)?;
    let before = size(failure.path());
    connection.execute_batch("VACUUM").map_err(failed)?;
    settle(connection).map_err(failed)?;
    Ok(before.saturating_sub(size(failure.path())))
}

fn size(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |file| file.len())
}
