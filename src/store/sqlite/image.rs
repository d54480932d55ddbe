//! What a resume reads of a thread.
//!
//! Invariant: it doesn't grow with the thread's history (`tests/store`, `load_is_flat`): every
//! statement seeks in an index and stops after what is live.

use std::collections::BTreeMap;

use rusqlite::{OptionalExtension, params};

use super::read::{Read, Reader, signed, unsigned};
use crate::run::store::{EffectRecord, FrameImage, ThreadImage, ThreadStatus};

impl Reader<'_> {
    /// What a resume needs.
    pub(super) fn image(&self) -> Read<ThreadImage> {
        let status: String = self
            .db
            .prepare_cached("SELECT status FROM threads WHERE id = ?1")?
            .query_row([self.thread], |row| row.get(0))?;
        let status: ThreadStatus = self.json(&status, "the status")?;
        let last = self.last()?;
        let mut frames = Vec::new();
        if let Some((_, Some(root))) = last {
            frames.push(self.frame(root)?);
        }
        let root_step = frames.first().map_or(0, |root| root.step);
        for seq in self.nested(root_step)? {
            frames.push(self.frame(seq)?);
        }
        Ok(ThreadImage {
            status,
            last_seq: last.map_or(0, |(seq, _)| unsigned(seq)),
            frames,
            effects: self.effects(root_step)?,
            counts: self.counts()?,
        })
    }

    /// Latest checkpoint of each nested frame of a step of the root, ascending. It jumps from
    /// frame to frame, however many checkpoints each has.
    fn nested(&self, root_step: u64) -> Read<Vec<i64>> {
        let mut statement = self.db.prepare_cached(
            "SELECT frame, seq FROM checkpoints \
             WHERE thread = ?1 AND root_step = ?2 AND frame <> '' AND frame > ?3 \
             ORDER BY frame, seq LIMIT 1",
        )?;
        let mut latest = self.db.prepare_cached(
            "SELECT seq FROM checkpoints \
             WHERE thread = ?1 AND root_step = ?2 AND frame <> '' AND frame = ?3 \
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
            let this = params![self.thread, root_step, frame];
            seqs.push(latest.query_row(this, |row| row.get(0))?);
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

    /// Effects of a step of the root, in the order appended.
    fn effects(&self, root_step: u64) -> Read<Vec<EffectRecord>> {
        let mut statement = self.db.prepare_cached(
            "SELECT task, effect, kind, subject, outcome FROM effects \
             WHERE thread = ?1 AND root_step = ?2 ORDER BY id",
        )?;
        let mut rows = statement.query(params![self.thread, signed(root_step)])?;
        let mut effects = Vec::new();
        while let Some(row) = rows.next()? {
            effects.push(EffectRecord {
                task: row.get(0)?,
                id: row.get(1)?,
                root_step,
                kind: row.get(2)?,
                subject: row.get(3)?,
                outcome: self.json(&row.get::<_, String>(4)?, "an effect")?,
            });
        }
        Ok(effects)
    }

    fn counts(&self) -> Read<BTreeMap<(String, String), u64>> {
        let mut statement = self
            .db
            .prepare_cached("SELECT kind, subject, count FROM effect_counts WHERE thread = ?1")?;
        let counts = statement.query_map([self.thread], |row| {
            Ok(((row.get(0)?, row.get(1)?), unsigned(row.get(2)?)))
        })?;
        Ok(counts.collect::<rusqlite::Result<_>>()?)
    }
}
