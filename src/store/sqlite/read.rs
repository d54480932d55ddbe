//! Reads. Each runs in one transaction, so that it sees the thread between two appends.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use super::error::Failure;
use crate::run::store::{CheckpointInfo, FieldImage, Source, StoreError, ThreadInfo};
use crate::store::change;
use crate::store::fold::Fold;

/// What a read fails with: SQLite, or content that makes no sense.
pub(super) enum Unreadable {
    Sql(rusqlite::Error),
    /// Anything else, in its own words.
    Other(StoreError),
}

impl From<rusqlite::Error> for Unreadable {
    fn from(error: rusqlite::Error) -> Self {
        Unreadable::Sql(error)
    }
}

impl Unreadable {
    /// In words.
    pub(super) fn into_store_error(self, failure: &Failure) -> StoreError {
        match self {
            Unreadable::Sql(error) => failure.of(error),
            Unreadable::Other(error) => error,
        }
    }
}

/// What a read gives.
pub(super) type Read<T> = Result<T, Unreadable>;

/// Runs a read in a transaction of its own.
pub(super) fn read<T>(
    connection: &mut Connection,
    failure: &Failure,
    read: impl FnOnce(&Connection) -> Read<T>,
) -> Result<T, StoreError> {
    let tx = connection
        .transaction()
        .map_err(|error| failure.of(error))?;
    read(&tx).map_err(|unreadable| unreadable.into_store_error(failure))
}

/// All threads, the latest used first.
pub(super) fn threads(db: &Connection, failure: &Failure) -> Read<Vec<ThreadInfo>> {
    let mut statement = db.prepare_cached(
        "SELECT thread_id, id, created_at, status FROM threads ORDER BY used DESC, id DESC",
    )?;
    let mut rows = statement.query([])?;
    let mut threads = Vec::new();
    while let Some(row) = rows.next()? {
        let thread_id: String = row.get(0)?;
        let reader = Reader {
            db,
            failure,
            thread: row.get(1)?,
            thread_id: &thread_id,
        };
        threads.push(reader.info(row.get(2)?, &row.get::<_, String>(3)?)?);
    }
    Ok(threads)
}

/// Reads one thread.
pub(super) struct Reader<'a> {
    pub(super) db: &'a Connection,
    pub(super) failure: &'a Failure,
    /// Its number.
    pub(super) thread: i64,
    /// Its id, for messages.
    pub(super) thread_id: &'a str,
}

impl<'a> Reader<'a> {
    /// Finds the thread; `None` where it has no records.
    pub(super) fn find(
        db: &'a Connection,
        failure: &'a Failure,
        thread_id: &'a str,
    ) -> Read<Option<Reader<'a>>> {
        let thread: Option<i64> = db
            .prepare_cached("SELECT id FROM threads WHERE thread_id = ?1")?
            .query_row([thread_id], |row| row.get(0))
            .optional()?;
        Ok(thread.map(|thread| Reader {
            db,
            failure,
            thread,
            thread_id,
        }))
    }

    /// The thread without its state.
    pub(super) fn thread(&self) -> Read<ThreadInfo> {
        let (created_at, status): (String, String) = self
            .db
            .prepare_cached("SELECT created_at, status FROM threads WHERE id = ?1")?
            .query_row([self.thread], |row| Ok((row.get(0)?, row.get(1)?)))?;
        self.info(created_at, &status)
    }

    fn info(&self, created_at: String, status: &str) -> Read<ThreadInfo> {
        Ok(ThreadInfo {
            thread_id: self.thread_id.to_string(),
            status: self.json(status, "the status")?,
            checkpoint: self.last()?.map_or(0, |(seq, _)| unsigned(seq)),
            created_at,
        })
    }

    /// Latest checkpoint, and the root's latest.
    pub(super) fn last(&self) -> Read<Option<(i64, Option<i64>)>> {
        Ok(self
            .db
            .prepare_cached(
                "SELECT seq, root_seq FROM checkpoints WHERE thread = ?1 \
                 ORDER BY seq DESC LIMIT 1",
            )?
            .query_row([self.thread], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?)
    }

    /// Fields of a frame after checkpoint `seq`.
    pub(super) fn fields(&self, frame: &str, seq: i64) -> Read<BTreeMap<String, FieldImage>> {
        let mut fields = BTreeMap::new();
        for name in self.names(frame)? {
            let image = self.field(frame, &name, seq)?;
            fields.extend(image.map(|image| (name, image)));
        }
        Ok(fields)
    }

    /// Names of the fields of a frame that were ever written. It jumps from name to name.
    pub(super) fn names(&self, frame: &str) -> Read<Vec<String>> {
        let mut names = self.db.prepare_cached(
            "WITH RECURSIVE names (name) AS ( \
               SELECT min(field) FROM writes WHERE thread = ?1 AND frame = ?2 \
               UNION ALL \
               SELECT (SELECT min(field) FROM writes \
                       WHERE thread = ?1 AND frame = ?2 AND field > name) \
               FROM names WHERE name IS NOT NULL) \
             SELECT name FROM names WHERE name IS NOT NULL",
        )?;
        let found = names.query_map(params![self.thread, frame], |row| row.get(0))?;
        Ok(found.collect::<rusqlite::Result<_>>()?)
    }

    /// A field of a frame after checkpoint `seq`.
    pub(super) fn field(&self, frame: &str, field: &str, seq: i64) -> Read<Option<FieldImage>> {
        let mut statement = self.db.prepare_cached(
            "SELECT kind, value FROM writes \
             WHERE thread = ?1 AND frame = ?2 AND field = ?3 AND seq <= ?4 \
             ORDER BY seq DESC, part DESC",
        )?;
        let mut rows = statement.query(params![self.thread, frame, field, seq])?;
        let mut fold = Fold::default();
        let corrupt = |reason: &str| self.corrupt(&format!("field `{field}`"), reason);
        while let Some(row) = rows.next()? {
            let text = row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?;
            let change = change::from_stored(row.get(0)?, text)
                .ok_or_else(|| corrupt("holds no stored value"))?;
            if fold.older(change) {
                break;
            }
        }
        fold.finish().map_err(corrupt)
    }

    /// Checkpoints below `before`, newest first.
    pub(super) fn history(&self, before: Option<u64>, limit: usize) -> Read<Vec<CheckpointInfo>> {
        let mut statement = self.db.prepare_cached(
            "SELECT seq, frame, step, run_id, source, fields, schedule, at FROM checkpoints \
             WHERE thread = ?1 AND seq <= ?2 ORDER BY seq DESC LIMIT ?3",
        )?;
        let newest = match before {
            Some(0) => return Ok(Vec::new()),
            Some(before) => signed(before - 1),
            None => i64::MAX,
        };
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let mut rows = statement.query(params![self.thread, newest, limit])?;
        let mut checkpoints = Vec::new();
        while let Some(row) = rows.next()? {
            checkpoints.push(self.checkpoint(row)?);
        }
        Ok(checkpoints)
    }

    fn checkpoint(&self, row: &Row) -> Read<CheckpointInfo> {
        let source: String = row.get(4)?;
        Ok(CheckpointInfo {
            seq: unsigned(row.get(0)?),
            frame: row.get(1)?,
            step: unsigned(row.get(2)?),
            run_id: row.get(3)?,
            source: self.source(&source)?,
            fields: self.json(&row.get::<_, String>(5)?, "a checkpoint's fields")?,
            schedule: self.json::<Json>(&row.get::<_, String>(6)?, "the schedule")?,
            at: row.get(7)?,
        })
    }

    /// What made a checkpoint, by its word.
    pub(super) fn source(&self, word: &str) -> Read<Source> {
        match word {
            "input" => Ok(Source::Input),
            "step" => Ok(Source::Step),
            "update" => Ok(Source::Update),
            _ => Err(self.corrupt("a checkpoint", "has an unknown source")),
        }
    }

    /// JSON that was written; `what` it is of, for the message.
    pub(super) fn json<T: DeserializeOwned>(&self, text: &str, what: &str) -> Read<T> {
        serde_json::from_str(text)
            .map_err(|error| self.corrupt(what, &format!("isn't what was written: {error}")))
    }

    pub(super) fn corrupt(&self, what: &str, reason: &str) -> Unreadable {
        Unreadable::Other(self.failure.corrupt(self.thread_id, what, reason))
    }
}

/// A number as SQLite keeps it; above its range, the highest.
pub(super) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A number that was written as unsigned.
pub(super) fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}
