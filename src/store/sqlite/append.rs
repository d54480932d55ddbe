//! Appends rows.
//!
//! Records become text ([`crate::store::append`]) on the caller's side; the writer's thread only checks the
//! rules and binds.

use std::time::{SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, ErrorCode, OptionalExtension, params};

use super::error::Failure;
use super::read::signed;
use crate::run::store::{EffectKey, StoreError};
use crate::store::append::{Append, Row};
use crate::store::change::StoredChange;
use crate::store::row::{CheckpointRow, EffectRow};
use crate::store::rules::Broken;

/// Why an append came to nothing.
enum Stop {
    Sql(rusqlite::Error),
    Broken(Broken),
}

impl From<rusqlite::Error> for Stop {
    fn from(error: rusqlite::Error) -> Self {
        Stop::Sql(error)
    }
}

impl From<Broken> for Stop {
    fn from(broken: Broken) -> Self {
        Stop::Broken(broken)
    }
}

impl Append {
    /// Writes the rows.
    ///
    /// # Errors
    /// Where the lease is an old one, a rule is broken or SQLite fails; the transaction is then to
    /// be rolled back.
    pub(super) fn write(&self, db: &Connection, failure: &Failure) -> Result<(), StoreError> {
        let standing = standing(db, &self.thread_id).map_err(|error| failure.of(error))?;
        let Some(standing) = standing.filter(|standing| standing.token == self.token) else {
            return Err(StoreError::Fenced {
                thread_id: self.thread_id.clone(),
            });
        };
        if self.rows.is_empty() && self.status.is_none() {
            return Ok(());
        }
        self.write_rows(db, standing).map_err(|stop| match stop {
            Stop::Sql(error) => failure.of(error),
            Stop::Broken(broken) => broken.refusal(&self.thread_id),
        })
    }

    fn write_rows(&self, db: &Connection, standing: Standing) -> Result<(), Stop> {
        let thread = self.write_thread(db, standing.thread)?;
        let mut last = standing.last;
        for row in &self.rows {
            match row {
                Row::Checkpoint(row) => last = Some(row.write(db, thread, last)?),
                Row::Effect(row) => row.write(db, thread, last.map_or(0, |(seq, _)| seq))?,
                Row::Forget(key) => forget(db, thread, key)?,
            }
        }
        Ok(())
    }

    /// Writes the status; gives back the thread's number.
    fn write_thread(&self, db: &Connection, thread: Option<i64>) -> Result<i64, Stop> {
        match (thread, &self.status) {
            (Some(thread), None) => Ok(thread),
            (Some(thread), Some(status)) => {
                db.prepare_cached("UPDATE threads SET used = ?2, status = ?3 WHERE id = ?1")?
                    .execute(params![thread, now(), status])?;
                Ok(thread)
            }
            (None, _) => self.begin(db)?.ok_or_else(|| Broken::NoStatus.into()),
        }
    }

    /// Begins the thread; gives back its number, or `None` where no status says how it stands.
    pub(super) fn begin(&self, db: &Connection) -> rusqlite::Result<Option<i64>> {
        let Some(status) = &self.status else {
            return Ok(None);
        };
        db.prepare_cached(
            "INSERT INTO threads (thread_id, created_at, used, status) VALUES (?1, ?2, ?3, ?4)",
        )?
        .execute(params![self.thread_id, self.at, now(), status])?;
        Ok(Some(db.last_insert_rowid()))
    }
}

/// What an append goes by.
pub(super) struct Standing {
    /// Token of the thread's latest writer.
    pub(super) token: i64,
    /// The thread's number; `None` before its first append.
    pub(super) thread: Option<i64>,
    last: Option<Last>,
}

/// `seq` of the latest checkpoint, and of the latest of the root.
type Last = (i64, Option<i64>);

/// One statement for all that must be known, for each costs as much as a row written.
pub(super) fn standing(db: &Connection, thread_id: &str) -> rusqlite::Result<Option<Standing>> {
    db.prepare_cached(
        "SELECT leases.token, threads.id, checkpoints.seq, checkpoints.root_seq FROM leases \
         LEFT JOIN threads ON threads.thread_id = leases.thread_id \
         LEFT JOIN checkpoints ON checkpoints.thread = threads.id AND checkpoints.seq = \
           (SELECT max(seq) FROM checkpoints WHERE thread = threads.id) \
         WHERE leases.thread_id = ?1",
    )?
    .query_row([thread_id], |row| {
        let seq: Option<i64> = row.get(2)?;
        let root_seq = row.get(3)?;
        Ok(Standing {
            token: row.get(0)?,
            thread: row.get(1)?,
            last: seq.map(|seq| (seq, root_seq)),
        })
    })
    .optional()
}

impl CheckpointRow {
    fn write(&self, db: &Connection, thread: i64, before: Option<Last>) -> Result<Last, Stop> {
        if let Some((last, _)) = before.filter(|(last, _)| self.seq <= *last) {
            return Err(Stop::Broken(Broken::Seq {
                seq: self.seq.unsigned_abs(),
                last: last.unsigned_abs(),
            }));
        }
        let root_seq = match self.frame.as_str() {
            "" => Some(self.seq),
            _ => before.and_then(|(_, root)| root),
        };
        db.prepare_cached(
            "INSERT INTO checkpoints (thread, seq, frame, step, root_step, root_seq, source, \
             run_id, at, fields, schedule) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
        )?
        .execute(params![
            thread,
            self.seq,
            self.frame,
            self.step,
            self.root_step,
            root_seq,
            self.source,
            self.run_id,
            self.at,
            self.fields,
            self.schedule
        ])?;
        for (part, (field, change)) in self.writes.iter().enumerate() {
            self.write_field(db, thread, part as i64, field, change)?;
        }
        Ok((self.seq, root_seq))
    }

    fn write_field(
        &self,
        db: &Connection,
        thread: i64,
        part: i64,
        field: &str,
        change: &StoredChange,
    ) -> Result<(), Stop> {
        if change.adds() {
            let before: Option<i64> = db
                .prepare_cached(
                    "SELECT kind FROM writes WHERE thread = ?1 AND frame = ?2 AND field = ?3 \
                     ORDER BY seq DESC, part DESC LIMIT 1",
                )?
                .query_row(params![thread, self.frame, field], |row| row.get(0))
                .optional()?;
            if !change.fits(before) {
                let field = field.to_string();
                return Err(Stop::Broken(Broken::Change { field }));
            }
        }
        db.prepare_cached(
            "INSERT INTO writes (thread, frame, field, seq, part, kind, value) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?
        .execute(params![
            thread,
            self.frame,
            field,
            self.seq,
            part,
            change.kind,
            change.value
        ])?;
        Ok(())
    }
}

impl EffectRow {
    /// `behind` is the `seq` of the latest checkpoint, 0 before the first.
    fn write(&self, db: &Connection, thread: i64, behind: i64) -> Result<(), Stop> {
        let inserted = db
            .prepare_cached(
                "INSERT INTO effects \
                 (thread, root_step, task, effect, kind, subject, outcome, behind) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            )?
            .execute(params![
                thread,
                self.root_step,
                self.task,
                self.id,
                self.kind,
                self.subject,
                self.outcome,
                behind
            ]);
        match inserted {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
                return Err(Stop::Broken(Broken::Effect {
                    task: self.task.clone(),
                    id: self.id.clone(),
                }));
            }
            done => done?,
        };
        db.prepare_cached(
            "INSERT INTO effect_counts VALUES (?1, ?2, ?3, 1) \
             ON CONFLICT DO UPDATE SET count = count + 1",
        )?
        .execute(params![thread, self.kind, self.subject])?;
        Ok(())
    }
}

/// Takes an effect away; its count stays.
fn forget(db: &Connection, thread: i64, key: &EffectKey) -> rusqlite::Result<()> {
    db.prepare_cached(
        "DELETE FROM effects WHERE thread = ?1 AND root_step = ?2 AND task = ?3 AND effect = ?4",
    )?
    .execute(params![thread, signed(key.root_step), key.task, key.id])?;
    Ok(())
}

/// Microseconds since 1970.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |d| i64::try_from(d.as_micros()).unwrap_or(i64::MAX))
}
