//! Lets go of a thread's old history. What the rows took is used for new ones, once the server has cleared up behind them.

use std::collections::BTreeMap;

use async_trait::async_trait;
use uuid::Uuid;

use super::append::lock_thread;
use super::error::Stop;
use super::name::{key, original};
use super::read::{Reading, signed, unsigned};
use super::session::{Session, Work};
use crate::run::store::{Change, Compacted, Keep, Lease};
use crate::store::change;
use crate::store::row::json_text;
use crate::store::rules;

const CHECKPOINTS: &str = "SELECT seq, frame_key IS NULL, step, root_step FROM checkpoints WHERE thread = $1 ORDER BY seq";

/// Of each field with changes up to its frame's first checkpoint that is kept: how many, the least part of those of that
/// checkpoint, and the last of them.
const BASES: &str = "SELECT f.id, f.frame, f.name, f.first, s.n, s.own, l.seq, l.part, l.kind \
    FROM (SELECT id, k.frame, name, first \
        FROM (SELECT coalesce(frame_key, $3) AS frame, min(seq) AS first FROM checkpoints \
              WHERE thread = $1 AND seq >= $2 GROUP BY 1 OFFSET 0) k \
        CROSS JOIN LATERAL (SELECT id, name FROM fields \
            WHERE thread = $1 AND frame = k.frame OFFSET 0) f) f \
    CROSS JOIN LATERAL (SELECT count(*) AS n, min(part) FILTER (WHERE seq = f.first) AS own \
        FROM writes WHERE field = f.id AND seq <= f.first) s \
    CROSS JOIN LATERAL (SELECT seq, part, kind FROM writes \
        WHERE field = f.id AND seq <= f.first ORDER BY seq DESC, part DESC LIMIT 1) l";

const REMOVE: &str = "DELETE FROM writes WHERE ctid = ANY (ARRAY(SELECT w.ctid \
    FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::integer[]) AS k (field, first, seq, part) \
    CROSS JOIN LATERAL (SELECT ctid FROM writes WHERE field = k.field AND seq <= k.first \
        AND NOT (seq = k.seq AND part = k.part) OFFSET 0) w))";

const MOVE: &str = "UPDATE writes w SET seq = k.first, part = k.own \
    FROM (SELECT k.first, k.own, o.place \
        FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::integer[], $5::integer[]) \
            AS k (field, first, seq, part, own) \
        CROSS JOIN LATERAL (SELECT ctid AS place FROM writes \
            WHERE field = k.field AND seq = k.seq AND part = k.part LIMIT 1) o) k \
    WHERE w.ctid = k.place";

const ADD: &str = "INSERT INTO writes (field, seq, part, kind, value) \
    SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::integer[], $4::smallint[], $5::text[])";

/// Of frames without a checkpoint that is kept.
const GONE: &str = "SELECT id FROM fields WHERE thread = $1 AND frame IN \
    (SELECT frame FROM fields WHERE thread = $1 EXCEPT \
     SELECT coalesce(frame_key, $3) FROM checkpoints WHERE thread = $1 AND seq >= $2)";

/// Lets go of what `keep` doesn't keep, in one transaction.
pub(super) struct Compact<'a> {
    pub(super) reading: Reading<'a>,
    pub(super) lease: &'a Lease,
    pub(super) keep: Keep,
}

/// What a field's changes up to a checkpoint become.
struct Base {
    field: i64,
    frame: Uuid,
    name: String,
    /// The checkpoint.
    first: i64,
    /// How many changes there are.
    changes: i64,
    /// The position of a whole value among the writes of its checkpoint: where the field was written there first, else behind
    /// all others; equal parts are in the order of their fields.
    part: i32,
    /// The last of them: `seq`, part, kind.
    last: (i64, i32, i64),
}

#[async_trait]
impl Work for Compact<'_> {
    type Out = Compacted;

    async fn run(&self, session: &mut Session) -> Result<Compacted, Stop> {
        let client = session.client.clone();
        client
            .batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
            .await?;
        let done = match lock_thread(session, self.lease).await? {
            Some(thread) => self.compact(session, thread).await?,
            None => Compacted::default(),
        };
        client.batch_execute("COMMIT").await?;
        Ok(done)
    }
}

impl Compact<'_> {
    async fn compact(&self, session: &mut Session, thread: i64) -> Result<Compacted, Stop> {
        let client = session.client.clone();
        let mut done = Compacted::default();
        let (mut roots, mut nested) = (Vec::new(), Vec::new());
        for row in client.query(CHECKPOINTS, &[&thread]).await? {
            let seq = unsigned(row.try_get(0)?);
            match row.try_get(1)? {
                true => roots.push((seq, unsigned(row.try_get(2)?))),
                false => nested.push((seq, unsigned(row.try_get(3)?))),
            }
        }
        let Some(oldest) = rules::oldest_kept(&roots, &nested, self.keep) else {
            return Ok(done);
        };
        let first = signed(oldest);
        done.changes = self.put_together(session, thread, first).await?;
        let gone: Vec<i64> = {
            let rows = client.query(GONE, &[&thread, &first, &key(&[""])]).await?;
            let ids = rows.iter().map(|row| row.try_get(0));
            ids.collect::<Result<_, _>>()?
        };
        let delete = "DELETE FROM writes WHERE field = ANY($1)";
        done.changes += client.execute(delete, &[&gone]).await?;
        let delete = "DELETE FROM fields WHERE id = ANY($1)";
        client.execute(delete, &[&gone]).await?;
        let delete = "DELETE FROM checkpoints WHERE thread = $1 AND seq < $2";
        done.checkpoints = client.execute(delete, &[&thread, &first]).await?;
        let kept = roots.iter().filter(|(seq, _)| *seq >= oldest);
        if let Some(step) = kept.map(|(_, step)| signed(*step)).min() {
            let delete = "DELETE FROM effects WHERE thread = $1 AND root_step < $2";
            done.effects = client.execute(delete, &[&thread, &step]).await?;
        }
        Ok(done)
    }

    async fn bases(&self, session: &Session, thread: i64, oldest: i64) -> Result<Vec<Base>, Stop> {
        let client = &session.client;
        let rows = client
            .query(BASES, &[&thread, &oldest, &key(&[""])])
            .await?;
        let bases = rows.iter().map(|row| {
            let name = original(row.try_get(2)?);
            let kind: i16 = row.try_get(8)?;
            Ok(Base {
                field: row.try_get(0)?,
                frame: row.try_get(1)?,
                name: name.ok_or_else(|| self.reading.corrupt("a name", "isn't one"))?,
                first: row.try_get(3)?,
                changes: row.try_get(4)?,
                part: row.try_get::<_, Option<i32>>(5)?.unwrap_or(i32::MAX),
                last: (row.try_get(6)?, row.try_get(7)?, i64::from(kind)),
            })
        });
        bases.collect()
    }

    /// Makes one whole value of what each field was changed up to its frame's first checkpoint; says how many changes
    /// are gone.
    async fn put_together(
        &self,
        session: &mut Session,
        thread: i64,
        oldest: i64,
    ) -> Result<u64, Stop> {
        let mut bases = self.bases(session, thread, oldest).await?;
        bases.retain(|base| {
            let whole = change::is_put(base.last.2);
            !(whole && base.last.0 == base.first && base.changes == 1)
        });
        let added = self.whole_values(session, thread, &bases).await?;
        let client = &session.client;
        let fields: Vec<i64> = bases.iter().map(|base| base.field).collect();
        let firsts: Vec<i64> = bases.iter().map(|base| base.first).collect();
        // A whole value stays; there is no checkpoint -1.
        let stays = |base: &Base| match change::is_put(base.last.2) {
            true => (base.last.0, base.last.1),
            false => (-1, 0),
        };
        let (seqs, parts): (Vec<i64>, Vec<i32>) = bases.iter().map(stays).unzip();
        let owns: Vec<i32> = bases.iter().map(|base| base.part).collect();
        let gone = client
            .execute(REMOVE, &[&fields, &firsts, &seqs, &parts])
            .await?;
        client
            .execute(MOVE, &[&fields, &firsts, &seqs, &parts, &owns])
            .await?;
        let values: Vec<&str> = added.iter().map(|(.., value)| value.as_str()).collect();
        client
            .execute(
                ADD,
                &[
                    &added.iter().map(|row| row.0).collect::<Vec<_>>(),
                    &added.iter().map(|row| row.1).collect::<Vec<_>>(),
                    &added.iter().map(|row| row.2).collect::<Vec<_>>(),
                    &added.iter().map(|row| row.3).collect::<Vec<_>>(),
                    &values,
                ],
            )
            .await?;
        Ok(gone - added.len() as u64)
    }

    /// Rows of fields whose last change isn't their whole value.
    async fn whole_values(
        &self,
        session: &mut Session,
        thread: i64,
        bases: &[Base],
    ) -> Result<Vec<(i64, i64, i32, i16, String)>, Stop> {
        let adds = |base: &&Base| !change::is_put(base.last.2) && !change::is_clear(base.last.2);
        let frames: BTreeMap<(Uuid, i64), ()> = bases
            .iter()
            .filter(adds)
            .map(|base| ((base.frame, base.first), ()))
            .collect();
        let frames: Vec<(Uuid, i64)> = frames.into_keys().collect();
        let images = self.reading.fields(session, thread, &frames).await?;
        let mut rows = Vec::new();
        for base in bases.iter().filter(adds) {
            let frame = frames.binary_search(&(base.frame, base.first));
            let image = frame.ok().and_then(|at| images.get(at)?.get(&base.name));
            let Some(image) = image else { continue };
            let put = Change::Put(image.value.clone());
            let what = format!("field `{}`", base.name);
            let value = json_text(&change::to_json(&put), &what).map_err(|_| {
                let reason = "is nested deeper than it can have been written";
                self.reading.corrupt(&what, reason)
            })?;
            let kind = i16::try_from(change::kind(&put)).unwrap_or(i16::MAX);
            rows.push((base.field, base.first, base.part, kind, value));
        }
        Ok(rows)
    }
}
