//! What a resume reads of a thread, or would have read at one of its checkpoints.
//!
//! Invariant: it doesn't grow with the thread's history (`tests/store`, `load_is_flat`): every
//! statement seeks in an index and stops after what is live.

use std::collections::BTreeMap;

use rusqlite::{CachedStatement, OptionalExtension, Params, Row, params};

use super::read::{Read, Reader, signed, unsigned};
use crate::run::store::{EffectRecord, Effects, FrameImage, ThreadImage, ThreadStatus};

impl Reader<'_> {
    /// What a resume needs.
    pub(super) fn image(&self) -> Read<ThreadImage> {
        match self.last()? {
            Some(last) => self.image_up_to(last, Effects::All),
            None => self.image_up_to((0, None), Effects::All),
        }
    }

    /// The thread as it was right after checkpoint `seq`.
    pub(super) fn image_at(&self, seq: u64, wanted: Effects) -> Read<ThreadImage> {
        let until = self.checkpoint_at(seq)?;
        self.image_up_to(until, wanted)
    }

    /// `until` is a checkpoint and the latest of the root up to there.
    fn image_up_to(&self, until: (i64, Option<i64>), wanted: Effects) -> Read<ThreadImage> {
        let (seq, root) = until;
        let status: String = self
            .db
            .prepare_cached("SELECT status FROM threads WHERE id = ?1")?
            .query_row([self.thread], |row| row.get(0))?;
        let status: ThreadStatus = self.json(&status, "the status")?;
        let mut frames = Vec::new();
        if let Some(root) = root {
            frames.push(self.frame(root)?);
        }
        let root_step = frames.first().map_or(0, |root| root.step);
        for seq in self.nested(root_step, seq)? {
            frames.push(self.frame(seq)?);
        }
        let (effects, counts) = (
            self.effects_with(root_step, seq, wanted)?,
            self.counts(root_step, seq, wanted)?,
        );
        Ok(ThreadImage {
            status,
            last_seq: unsigned(seq),
            frames,
            effects,
            counts,
        })
    }

    /// Latest checkpoint of each nested frame of a step of the root, up to a `seq`, ascending. It jumps from
    /// frame to frame, however many checkpoints each has.
    fn nested(&self, root_step: u64, until: i64) -> Read<Vec<i64>> {
        let mut statement = self.db.prepare_cached(
            "SELECT frame FROM checkpoints \
             WHERE thread = ?1 AND root_step = ?2 AND frame <> '' AND frame > ?3 \
             ORDER BY frame, seq LIMIT 1",
        )?;
        let mut latest = self.db.prepare_cached(
            "SELECT seq FROM checkpoints \
             WHERE thread = ?1 AND root_step = ?2 AND frame <> '' AND frame = ?3 AND seq <= ?4 \
             ORDER BY seq DESC LIMIT 1",
        )?;
        let root_step = signed(root_step);
        let mut seqs = Vec::new();
        let mut frame = String::new();
        loop {
            let next = params![self.thread, root_step, frame];
            let Some(found) = statement.query_row(next, |row| row.get(0)).optional()? else {
                break;
            };
            frame = found;
            let this = params![self.thread, root_step, frame, until];
            seqs.extend(
                latest
                    .query_row(this, |row| row.get::<_, i64>(0))
                    .optional()?,
            );
        }
        seqs.sort_unstable();
        Ok(seqs)
    }

    /// A frame as of its checkpoint `seq`.
    fn frame(&self, seq: i64) -> Read<FrameImage> {
        let mut statement = self.db.prepare_cached(
            "SELECT frame, step, run_id, schedule FROM checkpoints \
             WHERE thread = ?1 AND seq = ?2",
        )?;
        let (frame, step, run_id, schedule): (String, i64, String, String) = statement
            .query_row([self.thread, seq], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
            })?;
        Ok(FrameImage {
            seq: unsigned(seq),
            step: unsigned(step),
            run_id,
            schedule: self.json(&schedule, "the schedule")?,
            fields: self.fields(&frame, seq)?,
            frame,
        })
    }

    /// The step that came next for a frame at its checkpoint.
    pub(super) fn step_of(&self, seq: i64) -> Read<u64> {
        let step = self
            .db
            .prepare_cached("SELECT step FROM checkpoints WHERE thread = ?1 AND seq = ?2")?
            .query_row([self.thread, seq], |row| row.get(0))?;
        Ok(unsigned(step))
    }

    /// Effects of a step of the root and later ones that go with a checkpoint, in the order appended.
    fn effects_with(&self, root_step: u64, seq: i64, wanted: Effects) -> Read<Vec<EffectRecord>> {
        let (all, until) = wanted.later();
        let statement = self.db.prepare_cached(
            "SELECT task, effect, kind, subject, outcome, root_step FROM effects \
             WHERE thread = ?1 AND root_step >= ?2 \
               AND (?4 OR behind < ?5 OR (root_step = ?2 AND behind < ?3)) ORDER BY id",
        )?;
        let with = params![self.thread, signed(root_step), seq, all, signed(until)];
        self.effects(statement, with)
    }

    fn effects(
        &self,
        mut statement: CachedStatement<'_>,
        of: impl Params,
    ) -> Read<Vec<EffectRecord>> {
        let mut rows = statement.query(of)?;
        let mut effects = Vec::new();
        while let Some(row) = rows.next()? {
            effects.push(self.effect(row)?);
        }
        Ok(effects)
    }

    /// An effect whose columns come first in a row.
    pub(super) fn effect(&self, row: &Row) -> Read<EffectRecord> {
        Ok(EffectRecord {
            task: row.get(0)?,
            id: row.get(1)?,
            kind: row.get(2)?,
            subject: row.get(3)?,
            outcome: self.json(&row.get::<_, String>(4)?, "an effect")?,
            root_step: unsigned(row.get(5)?),
        })
    }

    /// What is counted with a checkpoint of a step of the root: without what does not go along.
    pub(super) fn counts(&self, root_step: u64, seq: i64, wanted: Effects) -> Read<Counts> {
        let (all, until) = wanted.later();
        if all {
            let statement = self.db.prepare_cached(
                "SELECT kind, subject, count FROM effect_counts WHERE thread = ?1",
            )?;
            return counted(statement, [self.thread]);
        }
        let statement = self.db.prepare_cached(
            "SELECT kind, subject, sum(n) FROM ( \
               SELECT kind, subject, count AS n FROM effect_counts WHERE thread = ?1 \
               UNION ALL \
               SELECT kind, subject, -1 FROM effects WHERE thread = ?1 AND root_step >= ?2 \
                 AND NOT coalesce(behind < ?4 OR (root_step = ?2 AND behind < ?3), 0)) \
             GROUP BY kind, subject HAVING sum(n) > 0",
        )?;
        let with = params![self.thread, signed(root_step), seq, signed(until)];
        counted(statement, with)
    }
}

/// How many effects there were by kind and subject.
type Counts = BTreeMap<(String, String), u64>;

fn counted(mut statement: CachedStatement<'_>, of: impl Params) -> Read<Counts> {
    let counts = statement.query_map(of, |row| {
        Ok(((row.get(0)?, row.get(1)?), unsigned(row.get(2)?)))
    })?;
    Ok(counts.collect::<rusqlite::Result<_>>()?)
}
