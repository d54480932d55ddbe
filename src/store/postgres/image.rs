//! What a resume needs of a thread, in three round trips however long the thread is.

use std::collections::BTreeMap;

use async_trait::async_trait;
use futures_util::future::{join, join3};
use tokio_postgres::Row;
use uuid::Uuid;

use super::error::Stop;
use super::name::key;
use super::read::{BEGIN, Reading, unsigned};
use super::session::{Session, Work};
use crate::run::store::{EffectRecord, FrameImage, ThreadImage, ThreadStatus};

const THREAD: &str = "SELECT t.id, t.status, c.seq, r.seq, r.step FROM threads t \
    LEFT JOIN LATERAL (SELECT seq, root_seq FROM checkpoints WHERE thread = t.id \
        ORDER BY seq DESC LIMIT 1) c ON true \
    LEFT JOIN checkpoints r ON r.thread = t.id AND r.seq = c.root_seq \
    WHERE t.key = $1";

/// Latest checkpoint of each nested frame of a step of the root. It jumps from frame to frame, however many
/// checkpoints each has.
const NESTED: &str = "WITH RECURSIVE live AS ( \
        (SELECT frame_key, seq FROM checkpoints \
         WHERE thread = $1 AND root_step = $2 AND frame_key IS NOT NULL \
         ORDER BY frame_key DESC, seq DESC LIMIT 1) \
      UNION ALL \
        SELECT next.frame_key, next.seq FROM live CROSS JOIN LATERAL \
        (SELECT frame_key, seq FROM checkpoints \
         WHERE thread = $1 AND root_step = $2 AND frame_key IS NOT NULL AND frame_key < live.frame_key \
         ORDER BY frame_key DESC, seq DESC LIMIT 1) next) \
    SELECT seq FROM live ORDER BY seq";

const FRAMES: &str = "SELECT seq, frame, frame_key, step, run_id, schedule FROM checkpoints \
    WHERE thread = $1 AND seq = ANY($2)";

const EFFECTS: &str = "SELECT task, effect, kind, subject, outcome FROM effects \
    WHERE thread = $1 AND root_step = $2 ORDER BY id";

const COUNTS: &str = "SELECT kind, subject, count FROM effect_counts WHERE thread = $1";

/// Reads a thread; `None` where it has no records.
pub(super) struct Load<'a>(pub(super) Reading<'a>);

#[async_trait]
impl Work for Load<'_> {
    type Out = Option<ThreadImage>;

    const REPEATABLE: bool = true;

    async fn run(&self, session: &mut Session) -> Result<Option<ThreadImage>, Stop> {
        let find = session.statement(THREAD).await?;
        let client = session.client.clone();
        let (begun, found) = join(
            client.batch_execute(BEGIN),
            client.query_opt(&find, &[&key(&[self.0.thread_id])]),
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
        let thread: i64 = row.try_get(0)?;
        let status: ThreadStatus = self.0.json(row.try_get(1)?, "the status")?;
        let last: Option<i64> = row.try_get(2)?;
        let root: Option<i64> = row.try_get(3)?;
        let step: i64 = row.try_get::<_, Option<i64>>(4)?.unwrap_or(0);
        let nested = session.statement(NESTED).await?;
        let effects = session.statement(EFFECTS).await?;
        let counts = session.statement(COUNTS).await?;
        let client = &session.client;
        let (nested, effects, counts) = join3(
            client.query(&nested, &[&thread, &step]),
            client.query(&effects, &[&thread, &step]),
            client.query(&counts, &[&thread]),
        )
        .await;
        let mut seqs: Vec<i64> = root.into_iter().collect();
        for row in nested? {
            seqs.push(row.try_get(0)?);
        }
        let effects = effects?
            .iter()
            .map(|row| self.effect(row, step))
            .collect::<Result<_, Stop>>()?;
        let counts = counts?;
        let counts = counts.iter().map(|row| {
            let count = unsigned(row.try_get(2)?);
            Ok(((self.0.name(row, 0)?, self.0.name(row, 1)?), count))
        });
        Ok(ThreadImage {
            status,
            last_seq: last.map_or(0, unsigned),
            counts: counts.collect::<Result<BTreeMap<_, _>, Stop>>()?,
            effects,
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
        let fields = self.0.fields(session, thread, &wanted).await?;
        let frames = found.iter().zip(fields).map(|((_, _, row), fields)| {
            Ok(FrameImage {
                frame: self.0.name(row, 1)?,
                seq: unsigned(row.try_get(0)?),
                step: unsigned(row.try_get(3)?),
                run_id: self.0.name(row, 4)?,
                schedule: self.0.json(row.try_get(5)?, "the schedule")?,
                fields,
            })
        });
        frames.collect()
    }

    fn effect(&self, row: &Row, step: i64) -> Result<EffectRecord, Stop> {
        Ok(EffectRecord {
            task: self.0.name(row, 0)?,
            id: self.0.name(row, 1)?,
            root_step: unsigned(step),
            kind: self.0.name(row, 2)?,
            subject: self.0.name(row, 3)?,
            outcome: self.0.json(row.try_get(4)?, "an effect")?,
        })
    }
}
