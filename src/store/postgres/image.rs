//! What a resume needs of a thread, or would have needed at one of its checkpoints, in three round trips however long the thread is.

use std::collections::BTreeMap;

use async_trait::async_trait;
use futures_util::future::{join, join3};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use super::error::Stop;
use super::name::key;
use super::past::no_checkpoint;
use super::read::{BEGIN, Reading, signed, unsigned};
use super::session::{Session, Work};
use crate::run::store::{EffectRecord, Effects, FrameImage, ThreadImage, ThreadStatus};

/// At its latest checkpoint, or at a certain one.
const THREAD: &str = "SELECT t.id, t.status, c.seq, r.seq, r.step FROM threads t \
    LEFT JOIN LATERAL (SELECT seq, root_seq FROM checkpoints \
        WHERE thread = t.id AND seq <= $2 AND ($3 OR seq = $2) ORDER BY seq DESC LIMIT 1) c ON true \
    LEFT JOIN checkpoints r ON r.thread = t.id AND r.seq = c.root_seq \
    WHERE t.key = $1";

/// Latest checkpoint up to `$3` of each nested frame of a step of the root. It jumps from frame to frame, however many
/// checkpoints each has.
const NESTED: &str = "WITH RECURSIVE frames AS ( \
        (SELECT frame_key FROM checkpoints \
         WHERE thread = $1 AND root_step = $2 AND frame_key IS NOT NULL \
         ORDER BY frame_key LIMIT 1) \
      UNION ALL \
        SELECT next.frame_key FROM frames CROSS JOIN LATERAL \
        (SELECT frame_key FROM checkpoints \
         WHERE thread = $1 AND root_step = $2 AND frame_key > frames.frame_key \
         ORDER BY frame_key LIMIT 1) next) \
    SELECT latest.seq FROM frames CROSS JOIN LATERAL \
        (SELECT seq FROM checkpoints \
         WHERE thread = $1 AND root_step = $2 AND frame_key = frames.frame_key AND seq <= $3 \
         ORDER BY seq DESC LIMIT 1) latest \
    ORDER BY latest.seq";

const FRAMES: &str = "SELECT seq, frame, frame_key, step, run_id, schedule FROM checkpoints \
    WHERE thread = $1 AND seq = ANY($2)";

/// Of a step of the root and later ones those that go with a checkpoint.
const EFFECTS: &str = "SELECT task, effect, kind, subject, outcome, root_step FROM effects \
    WHERE thread = $1 AND root_step >= $2 \
      AND ($4 OR behind < $5 OR (root_step = $2 AND behind < $3)) ORDER BY id";

/// All, or without what does not go with a checkpoint of a step of the root.
const COUNTS: &str = "SELECT c.kind, c.subject, c.count - coalesce(later.n, 0) FROM effect_counts c \
    LEFT JOIN (SELECT kind, subject, count(*) AS n FROM effects \
        WHERE NOT $4 AND thread = $1 AND root_step >= $2 \
          AND NOT coalesce(behind < $5 OR (root_step = $2 AND behind < $3), false) \
        GROUP BY kind, subject) later ON later.kind = c.kind AND later.subject = c.subject \
    WHERE c.thread = $1 AND c.count > coalesce(later.n, 0)";

/// Reads a thread; `None` where it has no records.
pub(super) struct Load<'a> {
    pub(super) reading: Reading<'a>,
    /// The checkpoint as of which it is read; without one, the latest.
    pub(super) at: Option<u64>,
    pub(super) effects: Effects,
}

#[async_trait]
impl Work for Load<'_> {
    type Out = Option<ThreadImage>;

    const REPEATABLE: bool = true;

    async fn run(&self, session: &mut Session) -> Result<Option<ThreadImage>, Stop> {
        let find = session.statement(THREAD).await?;
        let client = session.client.clone();
        let thread = key(&[self.reading.thread_id]);
        let seq = self.at.map_or(i64::MAX, signed);
        let (begun, found) = join(
            client.batch_execute(BEGIN),
            client.query_opt(&find, &[&thread, &seq, &self.at.is_none()]),
        )
        .await;
        begun?;
        let image = match found? {
            Some(row) => Some(self.image(session, &row).await?),
            None => None,
        };
        client.batch_execute("COMMIT").await?;
        Ok(image)
    }
}

impl Load<'_> {
    async fn image(&self, session: &mut Session, row: &Row) -> Result<ThreadImage, Stop> {
        let reading = self.reading;
        let thread: i64 = row.try_get(0)?;
        let status: ThreadStatus = reading.json(row.try_get(1)?, "the status")?;
        let last: Option<i64> = row.try_get(2)?;
        if let (None, Some(seq)) = (last, self.at) {
            return Err(no_checkpoint(session, &reading, thread, seq).await?);
        }
        let last = last.unwrap_or(0);
        let root: Option<i64> = row.try_get(3)?;
        let step: i64 = row.try_get::<_, Option<i64>>(4)?.unwrap_or(0);
        let (all, until) = self.effects.later();
        let until = signed(until);
        let nested = session.statement(NESTED).await?;
        let effects = session.statement(EFFECTS).await?;
        let counts = session.statement(COUNTS).await?;
        let client = &session.client;
        let with: [&(dyn ToSql + Sync); 5] = [&thread, &step, &last, &all, &until];
        let (nested, effects, counts) = join3(
            client.query(&nested, &[&thread, &step, &last]),
            client.query(&effects, &with),
            client.query(&counts, &with),
        )
        .await;
        let mut seqs: Vec<i64> = root.into_iter().collect();
        for row in nested? {
            seqs.push(row.try_get(0)?);
        }
        let effects = effects?;
        let effects = effects.iter().map(|row| effect(&reading, row));
        let counts = counts?;
        let counts = counts.iter().map(|row| {
            let count = unsigned(row.try_get(2)?);
            Ok(((reading.name(row, 0)?, reading.name(row, 1)?), count))
        });
        Ok(ThreadImage {
            status,
            last_seq: unsigned(last),
            counts: counts.collect::<Result<BTreeMap<_, _>, Stop>>()?,
            effects: effects.collect::<Result<_, Stop>>()?,
            frames: self.frames(session, thread, &seqs).await?,
        })
    }

    /// Frames as of those checkpoints, in their order.
    async fn frames(
        &self,
        session: &mut Session,
        thread: i64,
        seqs: &[i64],
    ) -> Result<Vec<FrameImage>, Stop> {
        let select = session.statement(FRAMES).await?;
        let rows = session.client.query(&select, &[&thread, &seqs]).await?;
        let mut found: Vec<(usize, Uuid, &Row)> = Vec::with_capacity(rows.len());
        for row in &rows {
            let seq: i64 = row.try_get(0)?;
            let place = seqs.iter().position(|wanted| *wanted == seq);
            let frame: Option<Uuid> = row.try_get(2)?;
            found.push((
                place.unwrap_or(usize::MAX),
                frame.unwrap_or_else(|| key(&[""])),
                row,
            ));
        }
        found.sort_by_key(|(place, ..)| *place);
        let mut wanted = Vec::with_capacity(found.len());
        for (_, frame, row) in &found {
            wanted.push((*frame, row.try_get(0)?));
        }
        let fields = self.reading.fields(session, thread, &wanted).await?;
        let frames = found.iter().zip(fields).map(|((_, _, row), fields)| {
            Ok(FrameImage {
                frame: self.reading.name(row, 1)?,
                seq: unsigned(row.try_get(0)?),
                step: unsigned(row.try_get(3)?),
                run_id: self.reading.name(row, 4)?,
                schedule: self.reading.json(row.try_get(5)?, "the schedule")?,
                fields,
            })
        });
        frames.collect()
    }
}

/// An effect whose columns come first in a row.
pub(super) fn effect(reading: &Reading, row: &Row) -> Result<EffectRecord, Stop> {
    Ok(EffectRecord {
        task: reading.name(row, 0)?,
        id: reading.name(row, 1)?,
        kind: reading.name(row, 2)?,
        subject: reading.name(row, 3)?,
        outcome: reading.json(row.try_get(4)?, "an effect")?,
        root_step: unsigned(row.try_get(5)?),
    })
}
