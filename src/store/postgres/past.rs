//! What is read of a thread's past: all records in turn.

use async_trait::async_trait;
use futures_util::future::join;
use uuid::Uuid;

use super::error::Stop;
use super::image::effect;
use super::name::key;
use super::read::{BEGIN, Reading, signed, source, unsigned};
use super::session::{Session, Work};
use crate::run::store::{Checkpoint, FieldWrite, ListedEffect, StoreError};
use crate::store::change;

const EFFECTS: &str = "SELECT task, effect, kind, subject, outcome, root_step, id, behind FROM effects \
    WHERE thread = (SELECT id FROM threads WHERE key = $1) AND id > $2 ORDER BY id LIMIT $3";

const CHECKPOINTS: &str = "SELECT c.seq, c.frame, c.step, c.root_step, c.run_id, c.source, c.schedule, c.at, \
        c.frame_key, c.thread \
    FROM checkpoints c WHERE c.thread = (SELECT id FROM threads WHERE key = $1) AND c.seq > $2 \
    ORDER BY c.seq LIMIT $3";

const WRITES: &str = "SELECT k.n, f.name, w.kind, w.value \
    FROM unnest($2::uuid[], $3::bigint[]) WITH ORDINALITY AS k (frame, seq, n) \
    CROSS JOIN LATERAL (SELECT id, name FROM fields \
        WHERE thread = $1 AND frame = k.frame OFFSET 0) f \
    CROSS JOIN LATERAL (SELECT part, kind, value FROM writes \
        WHERE field = f.id AND seq = k.seq OFFSET 0) w \
    ORDER BY k.n, w.part, f.name COLLATE \"C\"";

const NEAREST: &str = "SELECT (SELECT max(seq) FROM checkpoints WHERE thread = $1 AND seq < $2), \
    (SELECT min(seq) FROM checkpoints WHERE thread = $1 AND seq > $2)";

/// The error of who asks for a checkpoint that isn't there.
pub(super) async fn no_checkpoint(
    session: &mut Session,
    reading: &Reading<'_>,
    thread: i64,
    seq: u64,
) -> Result<Stop, Stop> {
    let nearest = session.statement(NEAREST).await?;
    let row = session
        .client
        .query_one(&nearest, &[&thread, &signed(seq)])
        .await?;
    Ok(StoreError::NoCheckpoint {
        thread_id: reading.thread_id.to_owned(),
        seq,
        before: row.try_get::<_, Option<i64>>(0)?.map(unsigned),
        after: row.try_get::<_, Option<i64>>(1)?.map(unsigned),
    }
    .into())
}

/// A page of records: those behind `after`, at most `limit`.
#[derive(Clone, Copy)]
pub(super) struct Page<'a> {
    pub(super) reading: Reading<'a>,
    pub(super) after: Option<u64>,
    pub(super) limit: usize,
}

impl Page<'_> {
    fn limit(&self) -> i64 {
        i64::try_from(self.limit).unwrap_or(i64::MAX)
    }

    fn after(&self) -> i64 {
        self.after.map_or(-1, signed)
    }
}

/// Effects in the order appended.
pub(super) struct ListEffects<'a>(pub(super) Page<'a>);

#[async_trait]
impl Work for ListEffects<'_> {
    type Out = Vec<ListedEffect>;

    const REPEATABLE: bool = true;

    async fn run(&self, session: &mut Session) -> Result<Vec<ListedEffect>, Stop> {
        let page = self.0;
        let select = session.statement(EFFECTS).await?;
        let thread = key(&[page.reading.thread_id]);
        let rows = session
            .client
            .query(&select, &[&thread, &page.after(), &page.limit()])
            .await?;
        let effects = rows.iter().map(|row| {
            Ok(ListedEffect {
                position: unsigned(row.try_get(6)?),
                behind: Some(unsigned(row.try_get(7)?)),
                effect: effect(&page.reading, row)?,
            })
        });
        effects.collect()
    }
}

/// Checkpoints with their writes, oldest first.
pub(super) struct ListCheckpoints<'a>(pub(super) Page<'a>);

#[async_trait]
impl Work for ListCheckpoints<'_> {
    type Out = Vec<Checkpoint>;

    const REPEATABLE: bool = true;

    async fn run(&self, session: &mut Session) -> Result<Vec<Checkpoint>, Stop> {
        let Page { reading, .. } = self.0;
        let select = session.statement(CHECKPOINTS).await?;
        let find = session.statement(WRITES).await?;
        let client = session.client.clone();
        let thread = key(&[reading.thread_id]);
        let (after, limit) = (self.0.after(), self.0.limit());
        let (begun, rows) = join(
            client.batch_execute(BEGIN),
            client.query(&select, &[&thread, &after, &limit]),
        )
        .await;
        begun?;
        let rows = rows?;
        let mut checkpoints = Vec::with_capacity(rows.len());
        let (mut frames, mut seqs, mut thread) = (Vec::new(), Vec::new(), 0_i64);
        for row in &rows {
            let seq: i64 = row.try_get(0)?;
            let frame: Option<Uuid> = row.try_get(8)?;
            frames.push(frame.unwrap_or_else(|| key(&[""])));
            seqs.push(seq);
            thread = row.try_get(9)?;
            checkpoints.push(Checkpoint {
                seq: unsigned(seq),
                frame: reading.name(row, 1)?,
                step: unsigned(row.try_get(2)?),
                root_step: unsigned(row.try_get(3)?),
                run_id: reading.name(row, 4)?,
                source: source(&reading, row.try_get(5)?)?,
                writes: Vec::new(),
                schedule: reading.json(row.try_get(6)?, "the schedule")?,
                at: reading.name(row, 7)?,
            });
        }
        for row in client.query(&find, &[&thread, &frames, &seqs]).await? {
            let field = reading.name(&row, 1)?;
            let kind: i16 = row.try_get(2)?;
            let change =
                change::from_stored(i64::from(kind), row.try_get(3)?).ok_or_else(|| {
                    reading.corrupt(&format!("field `{field}`"), "holds no stored value")
                })?;
            // `WITH ORDINALITY` counts from 1.
            let index = usize::try_from(row.try_get::<_, i64>(0)? - 1).unwrap_or_default();
            if let Some(checkpoint) = checkpoints.get_mut(index) {
                checkpoint.writes.push(FieldWrite { field, change });
            }
        }
        client.batch_execute("COMMIT").await?;
        Ok(checkpoints)
    }
}
