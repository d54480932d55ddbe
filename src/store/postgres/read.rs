//! Reads. What takes several statements runs in one transaction, so that it sees the thread between two appends.

use std::collections::BTreeMap;

use async_trait::async_trait;
use futures_util::future::join;
use serde::de::DeserializeOwned;
use tokio_postgres::Row;
use uuid::Uuid;

use super::error::{Failure, Stop};
use super::name::{key, original};
use super::session::{Session, Work};
use crate::run::store::{CheckpointInfo, FieldImage, Source, ThreadInfo};
use crate::store::change;
use crate::store::fold::Fold;
use crate::value::Value;

/// Begins a transaction that sees one moment.
pub(super) const BEGIN: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

const THREADS: &str = "SELECT t.thread_id, t.created_at, t.status, c.seq FROM threads t \
    LEFT JOIN LATERAL (SELECT seq FROM checkpoints WHERE thread = t.id \
        ORDER BY seq DESC LIMIT 1) c ON true \
    WHERE $1 OR t.key = $2 ORDER BY t.used DESC";

const HISTORY: &str = "SELECT seq, frame, step, run_id, source, fields, schedule, at FROM checkpoints \
    WHERE thread = (SELECT id FROM threads WHERE key = $1) AND seq <= $2 ORDER BY seq DESC LIMIT $3";

const FIND: &str = "SELECT id FROM threads WHERE key = $1";

/// Of each field, from its latest whole value on.
const FIELDS: &str = "SELECT k.n, f.name, w.kind, w.value \
    FROM unnest($2::uuid[], $3::bigint[]) WITH ORDINALITY AS k (frame, seq, n) \
    CROSS JOIN LATERAL (SELECT id, name FROM fields \
        WHERE thread = $1 AND frame = k.frame OFFSET 0) f \
    CROSS JOIN LATERAL (SELECT coalesce((SELECT seq FROM writes \
        WHERE field = f.id AND seq <= k.seq AND kind <= 3 ORDER BY seq DESC LIMIT 1), 0) AS seq) whole \
    CROSS JOIN LATERAL (SELECT seq, part, kind, value FROM writes \
        WHERE field = f.id AND seq >= whole.seq AND seq <= k.seq OFFSET 0) w \
    ORDER BY k.n, f.id, w.seq DESC, w.part DESC";

/// What is read is of a thread, and messages name it.
#[derive(Clone, Copy)]
pub(super) struct Reading<'a> {
    pub(super) thread_id: &'a str,
    pub(super) failure: &'a Failure,
}

impl Reading<'_> {
    /// JSON that was written; `what` it is of, for the message.
    pub(super) fn json<T: DeserializeOwned>(&self, text: &str, what: &str) -> Result<T, Stop> {
        serde_json::from_str(text)
            .map_err(|error| self.corrupt(what, &format!("isn't what was written: {error}")))
    }

    /// A name in a column.
    pub(super) fn name(&self, row: &Row, column: usize) -> Result<String, Stop> {
        original(row.try_get(column)?)
            .ok_or_else(|| self.corrupt("a name", "isn't one that was written"))
    }

    pub(super) fn corrupt(&self, what: &str, reason: &str) -> Stop {
        self.failure.corrupt(self.thread_id, what, reason).into()
    }

    /// Fields of frames, each as of a checkpoint.
    pub(super) async fn fields(
        &self,
        session: &mut Session,
        thread: i64,
        frames: &[(Uuid, i64)],
    ) -> Result<Vec<BTreeMap<String, FieldImage>>, Stop> {
        let select = session.statement(FIELDS).await?;
        let (keys, seqs): (Vec<Uuid>, Vec<i64>) = frames.iter().copied().unzip();
        let rows = session
            .client
            .query(&select, &[&thread, &keys, &seqs])
            .await?;
        let mut folds: BTreeMap<(i64, String), (Fold, bool)> = BTreeMap::new();
        for row in rows {
            let name = self.name(&row, 1)?;
            let (frame, kind): (i64, i16) = (row.try_get(0)?, row.try_get(2)?);
            let (fold, whole) = folds.entry((frame, name.clone())).or_default();
            if *whole {
                continue;
            }
            let text: &str = row.try_get(3)?;
            let change = change::from_stored(i64::from(kind), text)
                .ok_or_else(|| self.corrupt(&format!("field `{name}`"), "holds no stored value"))?;
            *whole = fold.older(change);
        }
        let mut images = vec![BTreeMap::new(); frames.len()];
        for ((frame, name), (fold, _)) in folds {
            let image = fold
                .finish()
                .map_err(|reason| self.corrupt(&format!("field `{name}`"), reason))?;
            // `WITH ORDINALITY` counts from 1.
            let index = usize::try_from(frame - 1).unwrap_or_default();
            if let (Some(fields), Some(image)) = (images.get_mut(index), image) {
                fields.insert(name, image);
            }
        }
        Ok(images)
    }
}

/// Threads, the latest used first: all, or one.
pub(super) struct Threads<'a> {
    pub(super) one: Option<&'a str>,
    pub(super) failure: &'a Failure,
}

#[async_trait]
impl Work for Threads<'_> {
    type Out = Vec<ThreadInfo>;

    const REPEATABLE: bool = true;

    async fn run(&self, session: &mut Session) -> Result<Vec<ThreadInfo>, Stop> {
        let select = session.statement(THREADS).await?;
        let key = key(&[self.one.unwrap_or_default()]);
        let rows = session
            .client
            .query(&select, &[&self.one.is_none(), &key])
            .await?;
        let infos = rows.iter().map(|row| {
            let reading = Reading {
                thread_id: row.try_get(0)?,
                failure: self.failure,
            };
            let seq: Option<i64> = row.try_get(3)?;
            Ok(ThreadInfo {
                thread_id: reading.name(row, 0)?,
                status: reading.json(row.try_get(2)?, "the status")?,
                checkpoint: seq.map_or(0, unsigned),
                created_at: reading.name(row, 1)?,
            })
        });
        infos.collect()
    }
}

/// Checkpoints below `before`, newest first.
pub(super) struct History<'a> {
    pub(super) reading: Reading<'a>,
    pub(super) before: Option<u64>,
    pub(super) limit: usize,
}

#[async_trait]
impl Work for History<'_> {
    type Out = Vec<CheckpointInfo>;

    const REPEATABLE: bool = true;

    async fn run(&self, session: &mut Session) -> Result<Vec<CheckpointInfo>, Stop> {
        let newest = match self.before {
            Some(0) => return Ok(Vec::new()),
            Some(before) => signed(before - 1),
            None => i64::MAX,
        };
        let limit = i64::try_from(self.limit).unwrap_or(i64::MAX);
        let select = session.statement(HISTORY).await?;
        let thread = key(&[self.reading.thread_id]);
        let rows = session
            .client
            .query(&select, &[&thread, &newest, &limit])
            .await?;
        rows.iter().map(|row| self.checkpoint(row)).collect()
    }
}

impl History<'_> {
    fn checkpoint(&self, row: &Row) -> Result<CheckpointInfo, Stop> {
        let reading = self.reading;
        Ok(CheckpointInfo {
            seq: unsigned(row.try_get(0)?),
            frame: reading.name(row, 1)?,
            step: unsigned(row.try_get(2)?),
            run_id: reading.name(row, 3)?,
            source: source(&reading, row.try_get(4)?)?,
            fields: reading.json(row.try_get(5)?, "a checkpoint's fields")?,
            schedule: reading.json(row.try_get(6)?, "the schedule")?,
            at: reading.name(row, 7)?,
        })
    }
}

/// What made a checkpoint.
pub(super) fn source(reading: &Reading, text: &str) -> Result<Source, Stop> {
    match text {
        "input" => Ok(Source::Input),
        "step" => Ok(Source::Step),
        "update" => Ok(Source::Update),
        _ => Err(reading.corrupt("a checkpoint", "has an unknown source")),
    }
}

/// Fields of a frame after a checkpoint.
pub(super) struct State<'a> {
    pub(super) reading: Reading<'a>,
    pub(super) frame: &'a str,
    pub(super) seq: u64,
}

#[async_trait]
impl Work for State<'_> {
    type Out = BTreeMap<String, Value>;

    const REPEATABLE: bool = true;

    async fn run(&self, session: &mut Session) -> Result<BTreeMap<String, Value>, Stop> {
        let find = session.statement(FIND).await?;
        let thread = key(&[self.reading.thread_id]);
        let client = session.client.clone();
        let (begun, found) = join(
            client.batch_execute(BEGIN),
            client.query_opt(&find, &[&thread]),
        )
        .await;
        begun?;
        let mut fields = Vec::new();
        if let Some(row) = found? {
            let frames = [(key(&[self.frame]), signed(self.seq))];
            fields = self
                .reading
                .fields(session, row.try_get(0)?, &frames)
                .await?;
        }
        client.batch_execute("COMMIT").await?;
        let fields = fields.pop().unwrap_or_default();
        Ok(fields.into_iter().map(|(k, f)| (k, f.value)).collect())
    }
}

/// A number as it is kept; above its range, the highest.
pub(super) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A number that was written as unsigned.
pub(super) fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}
